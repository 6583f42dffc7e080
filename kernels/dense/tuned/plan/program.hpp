// SPDX-License-Identifier: Apache-2.0
// A transform as the tuned engine runs it: kernels in their order, each one step through global memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/base/types.hpp"
#include "kernels/dense/tuned/plan/step.hpp"

namespace sfft::detail::tuned {

struct Kernel {
  Step step;
  ElementType element = ElementType::f32;  ///< of real samples
  int min_blocks_per_multiprocessor = 1;   ///< for the compiler
  std::int64_t groups = 1;                 ///< that one launch works on: transforms, planes, …

  int threads() const;
  std::size_t sample_bytes() const;  ///< of a real sample that is read
  std::size_t shared_bytes(bool single) const;
  /// Blocks stay, and load their next tile to shared memory while they transform one: if the policy says so
  /// and neighbouring lines begin with pairs of real samples in whole words of 16 bytes.
  bool double_buffers() const;
  bool stays() const;  ///< blocks stay for many tiles
  /// Blocks prefetch their input to the L2 cache while the previous kernel ends: contiguous complex lines in
  /// one step, for calls that follow each other in a stream.
  bool prefetches_early() const;
  /// Once blocks have loaded their own tile, they prefetch the input of a later one, so that memory is kept
  /// busy while they compute: complex numbers or pairs that are neighbours in memory.
  bool prefetches() const;
  bool delays() const;  ///< the first blocks start one after the other
  /// The step as it is compiled: knobs that are launch arguments only say whether they are used, and knobs
  /// that do not apply are cleared.
  Step compiled_step() const;
};

/// Kernels in their order. If `alternating`, the two from `alternating_from` on alternate over groups,
/// `alternating_groups` at a time, on `streams` streams.
struct Program {
  std::vector<Kernel> kernels;
  bool alternating = false;
  std::size_t alternating_from = 0;
  std::int64_t alternating_groups = 0;
  int streams = 1;
  std::int64_t scratch_values = 0;               ///< complex
  dense::Storage between = dense::Storage::f32;  ///< of scratch values; f32: the plan's own precision
  bool one_by_one = false;                       ///< runs once for every transform of the batch

  static constexpr std::size_t kAlternatingKernels = 2;
  std::size_t scratch_bytes(bool single) const;
  /// How many times values are stored between steps, or rounded as those are.
  int handovers() const;
  /// All that the steps' exponents multiply results by, as a power of two.
  int exponent() const;
  /// A volume in two steps, the first of planes, which are its groups.
  bool volume_in_two() const { return kernels.size() == 2 && kernels[0].step.rows > 0; }
};

}  // namespace sfft::detail::tuned
