// SPDX-License-Identifier: Apache-2.0
// The dimensions of a problem that need a transform.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/dense/problem/gpu_engine.hpp"

namespace sfft::detail::tuned {

/// Dimensions longer than one point, slowest first. A last dimension of one point is kept if the problem is
/// real or has no other dimension.
struct Grid {
  std::vector<std::int64_t> extents, strides;
  std::int64_t batch_stride = 0;

  explicit Grid(const DenseProblem& problem) : batch_stride(problem.strides.batch) {
    for (int d = 0; d < problem.shape.rank(); ++d) {
      if (problem.shape[d] == 1 && d + 1 < problem.shape.rank()) continue;
      extents.push_back(problem.shape[d]);
      strides.push_back(problem.strides.dims[static_cast<std::size_t>(d)]);
    }
    if (!problem.real && extents.size() > 1 && extents.back() == 1) {
      extents.pop_back();
      strides.pop_back();
    }
  }
  std::size_t rank() const { return extents.size(); }
  std::int64_t row() const { return extents.back(); }
  std::int64_t height() const { return extents[rank() - 2]; }  ///< number of rows of a plane, if rank() > 1
};

/// The length of a row as its step sees it. Real samples are read in pairs if their number is even.
inline int row_length(const DenseProblem& problem, const Grid& grid) {
  return static_cast<int>(problem.real && grid.row() % 2 == 0 ? grid.row() / 2 : grid.row());
}

inline std::int64_t round_up(std::int64_t value, std::int64_t to) {
  return (value + to - 1) / to * to;
}

/// The number of complex values in 128 bytes: a cache line, or all banks of shared memory.
inline std::int64_t cache_line_values(bool single) {
  return single ? 16 : 8;
}

}  // namespace sfft::detail::tuned
