// SPDX-License-Identifier: Apache-2.0
// What bench_cuda_dense measures: the problems, with what the library is held to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/cuda/peers.hpp"
#include "sfft/types.hpp"

namespace sfft::bench {

struct DenseCase {
  std::string group;
  std::string name;  ///< "2D R2C 1920x1080, batch 32": width first, as frames are called
  PeerProblem problem;
  ElementType input = ElementType::c64;  ///< of the library; peers get the same values in the plan's type
  std::optional<double> target;          ///< the faster peer's time over the library's, at least
  std::optional<double> target_passes;   ///< at most
  bool selected = false;                 ///< a selective plan is timed, too

  /// Times that a GPU has to read and write the data at least: lines up to 2^14 fit a block's shared memory.
  int least_passes() const;
  std::size_t input_bytes() const;  ///< of the library's input
  std::size_t least_bytes() const;  ///< read and written in least_passes()
  /// 5 N log2 N, half of it for real transforms; of the whole batch.
  double operations() const;
  std::string shape() const;  ///< "1080x1920"
};

/// All of them, in the order of the tables.
std::vector<DenseCase> dense_cases();
/// Complex lines of one length, as many as make 256 MiB.
DenseCase batched_lines(const std::string& group, std::int64_t n, bool double_precision = false);

}  // namespace sfft::bench
