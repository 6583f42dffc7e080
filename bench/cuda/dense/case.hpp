// SPDX-License-Identifier: Apache-2.0
// The problems that bench_cuda_dense measures, and the targets that the library must meet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/cuda/peers.hpp"
#include "sfft/types.hpp"

namespace sfft::bench {

struct DenseCase {
  std::string group;
  std::string name;  ///< "2D R2C 1920x1080, batch 32": width first, as is usual for frames
  PeerProblem problem;
  ElementType input = ElementType::c64;  ///< for the library; peers get the same values in the plan's type
  std::optional<double> target;          ///< minimum ratio of the faster peer's time to the library's
  std::optional<double> target_passes;   ///< maximum number of passes over the data
  bool selected = false;                 ///< a selective plan is also timed

  /// The minimum number of times that a GPU must read and write the data. Lines up to 2^14 fit in a block's
  /// shared memory.
  int min_passes() const;
  std::size_t input_bytes() const;  ///< bytes of the library's input
  std::size_t min_bytes() const;    ///< bytes read and written in min_passes() passes
  /// 5 N log2 N for the whole batch, or half of it for real transforms.
  double operations() const;
  std::string shape() const;  ///< "1080x1920"
};

/// All problems, in the order of the tables.
std::vector<DenseCase> dense_cases();
/// Draws `count` problems: one to three dimensions, real and complex, float and double, lengths from 8 to
/// 2^25, batches to 2^18, at most 2^26 points. The k-th problem of a seed does not depend on `count`.
std::vector<DenseCase> drawn_cases(std::uint64_t seed, int count);
/// Returns a batch of complex lines of one length, 256 MiB in total.
DenseCase batched_lines(const std::string& group, std::int64_t n, bool double_precision = false);

}  // namespace sfft::bench
