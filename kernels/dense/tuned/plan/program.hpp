// SPDX-License-Identifier: Apache-2.0
// A transform as the tuned engine runs it: a sequence of kernels, each one a step through global memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/dense/tuned/plan/step.hpp"
#include "sfft/types.hpp"

namespace sfft::detail::tuned {

struct Kernel {
  Step step;
  ElementType element = ElementType::f32;  ///< type of real samples
  int min_blocks_per_multiprocessor = 1;   ///< launch bound for the compiler
  std::int64_t groups = 1;                 ///< groups of one launch: transforms, planes, …

  int threads() const;
  std::size_t sample_bytes() const;  ///< size of a real sample that is read
  std::size_t shared_bytes(bool single) const;
  /// Whether blocks are persistent and load their next tile to shared memory while they transform the current
  /// one. The policy must say so, and neighbouring lines must begin with pairs of real samples in whole words
  /// of 16 bytes.
  bool double_buffers() const;
  bool stays() const;  ///< blocks are persistent: each processes many tiles
  /// Whether blocks prefetch their input to the L2 cache while the previous kernel ends. This is for
  /// contiguous complex lines in one step, in calls that follow each other in a stream.
  bool prefetches_early() const;
  /// Whether blocks prefetch the input of a later tile once they have loaded the current one, so that memory
  /// stays busy while they compute. The input must be complex numbers or pairs that are neighbours in memory.
  bool prefetches() const;
  bool delays() const;  ///< the first blocks start one after the other
  /// The step as it is compiled. Knobs that become launch arguments keep only whether they are used, and
  /// knobs that do not apply are cleared.
  Step compiled_step() const;
};

/// Kernels in the order of execution. If `alternating`, the two kernels from `alternating_from` on alternate
/// over groups, `alternating_groups` at a time, on `streams` streams.
struct Program {
  std::vector<Kernel> kernels;
  bool alternating = false;
  std::size_t alternating_from = 0;
  std::int64_t alternating_groups = 0;
  int streams = 1;
  std::int64_t scratch_values = 0;               ///< number of complex values
  dense::Storage between = dense::Storage::f32;  ///< format of scratch values; f32: the plan's precision
  bool one_by_one = false;                       ///< runs once per transform of the batch

  static constexpr std::size_t kAlternatingKernels = 2;
  std::size_t scratch_bytes(bool single) const;
  /// The power of two by which the steps' exponents multiply the results in total.
  int exponent() const;
  /// Whether this is a volume in two steps. The groups of the first step are planes.
  bool volume_in_two() const { return kernels.size() == 2 && kernels[0].step.rows > 0; }
};

}  // namespace sfft::detail::tuned
