// SPDX-License-Identifier: Apache-2.0
// Everything that the search decides about a transform: the knobs of the whole and of each of its kernels.
#pragma once

#include <optional>
#include <vector>

#include "kernels/dense/tuned/policy/kernel_policy.hpp"

namespace sfft::detail::tuned {

struct TransformPolicy {
  /// If not 0, the last two steps alternate over this many groups at a time (frames, planes, parts of long
  /// lines), so that the data between them stay in the L2 cache.
  int alternating_groups = 0;
  int streams = 1;  ///< number of streams on which alternating steps run
  /// Alternating steps hand data over in a ring buffer. Otherwise they do so in place, where the first of
  /// them reads.
  bool ring_buffer = true;
  int min_blocks_per_multiprocessor = 1;  ///< the compiler limits registers for this many
  /// The factors of a long line, slowest input digit first, or of a volume's columns in two steps. Empty
  /// means that each line is one step.
  std::vector<int> factors;
  int outputs_per_group = 16;  ///< neighbouring outputs that a group computes, for a line of three factors
  std::vector<KernelPolicy> kernels;  ///< one per step of the forward transform, in order
};

/// A problem's policy and, for real signals, a second one for 8-bit samples if that is faster: loading them
/// takes a quarter of the time.
struct PlanPolicy {
  TransformPolicy own;
  std::optional<TransformPolicy> bytes;
};

bool operator==(const KernelPolicy& a, const KernelPolicy& b);
bool operator==(const TransformPolicy& a, const TransformPolicy& b);

}  // namespace sfft::detail::tuned
