// SPDX-License-Identifier: Apache-2.0
// Sums of a stored spectrum over the logarithmic cells of its grid.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/spectrum/spectrum_extents.hpp"

namespace sfft::detail::cuda {

/// Sums the cells of one grid, for callers that provide the memory.
class CellSums {
 public:
  explicit CellSums(const SpectrumExtents& extents);

  int cells() const noexcept { return static_cast<int>(first_chunk_.size()) - 1; }
  std::int64_t chunks() const noexcept { return first_chunk_.back(); }  ///< doubles of scratch
  /// The first chunk of every cell, cells() + 1 entries; enqueue() needs them in device memory.
  const std::vector<std::int64_t>& first_chunk() const noexcept { return first_chunk_; }
  /// Like cell_sums(), with `partial` as scratch and the results in sums[0 … cells() − 1]; stream-ordered.
  void enqueue(const double* values, const double* power, const std::int64_t* first_chunk, double* partial,
               double* sums, Stream stream) const;

 private:
  SpectrumExtents extents_;
  std::vector<std::int64_t> first_chunk_;
};

/// Σ multiplicity × values over the elements of each cell whose `power` is not negative. Cells are products
/// of those in kernels/base/math/log_cells.hpp, row-major. Both arrays are in device memory, in the layout of
/// `extents`. Blocks. The order of each sum is fixed: the same values give the same bits.
std::vector<double> cell_sums(const double* values, const double* power, const SpectrumExtents& extents,
                              Stream stream);

}  // namespace sfft::detail::cuda
