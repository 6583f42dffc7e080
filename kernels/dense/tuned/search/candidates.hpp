// SPDX-License-Identifier: Apache-2.0
// Policies for one kernel, ranked by a count of operations and bytes so that few have to be timed.
#pragma once

#include <vector>

#include "kernels/dense/tuned/plan/needs.hpp"

namespace sfft::detail::tuned {

/// Threads of a transform that leave few idle, ascending; each holds at most `max_registers` points, or one
/// butterfly.
std::vector<int> thread_counts(const IntList& radices, int max_registers);
/// Lengths of FFTs by which lines of `points` can be transformed: their own if there are radices for it, else
/// those of convolutions.
std::vector<int> fft_lengths(int points, bool twiddled);
/// Candidates, best first, at most `most`.
std::vector<KernelPolicy> candidates(const LineNeed& need, bool single, const Limits& limits,
                                     std::size_t max);

}  // namespace sfft::detail::tuned
