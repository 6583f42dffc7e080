// SPDX-License-Identifier: Apache-2.0
// Policies for one kernel, ranked by a count of operations and bytes so that only a few need timing.
#pragma once

#include <vector>

#include "kernels/dense/tuned/plan/needs.hpp"

namespace sfft::detail::tuned {

/// The numbers of threads per transform that leave few idle, ascending. Each thread holds at most
/// `max_registers` points, or one butterfly.
std::vector<int> thread_counts(const IntList& radices, int max_registers);
/// The lengths of FFTs that can transform lines of `points`: the number of points itself if there are radices
/// for it, otherwise lengths for convolutions.
std::vector<int> fft_lengths(int points, bool twiddled);
/// At most `max` candidates, best first.
std::vector<KernelPolicy> candidates(const LineNeed& need, bool single, const Limits& limits,
                                     std::size_t max);

}  // namespace sfft::detail::tuned
