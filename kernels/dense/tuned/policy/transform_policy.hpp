// SPDX-License-Identifier: Apache-2.0
// Everything that the search decides about a transform: knobs of the whole, and of each of its kernels.
#pragma once

#include <optional>
#include <vector>

#include "kernels/dense/tuned/policy/kernel_policy.hpp"

namespace sfft::detail::tuned {

struct TransformPolicy {
  /// Not 0: the last two steps alternate over this many groups at a time (frames, planes, parts of long
  /// lines), so that what is between them stays in the L2 cache.
  int alternating_groups = 0;
  int streams = 1;  ///< that alternating steps run on
  /// Alternating steps hand over in a ring buffer; otherwise in place, where the first of them reads.
  bool ring_buffer = true;
  int min_blocks_per_multiprocessor = 1;  ///< for which the compiler saves registers
  /// Factors of a long line, slowest input digit first, or of a volume's columns, in two steps; empty: each
  /// line is one step.
  std::vector<int> factors;
  int outputs_per_group = 16;  ///< neighbouring outputs that a group of a line of three factors computes
  std::vector<KernelPolicy> kernels;  ///< of the forward transform's steps, in their order
};

/// A problem's policy and, for real signals, another one for 8-bit samples if that is faster: loading them
/// takes a quarter of the time.
struct PlanPolicy {
  TransformPolicy own;
  std::optional<TransformPolicy> bytes;
};

bool operator==(const KernelPolicy& a, const KernelPolicy& b);
bool operator==(const TransformPolicy& a, const TransformPolicy& b);

}  // namespace sfft::detail::tuned
