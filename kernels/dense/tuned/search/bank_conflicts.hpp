// SPDX-License-Identifier: Apache-2.0
// Counts the bank conflicts of a kernel's exchanges through shared memory.
#pragma once

#include "kernels/dense/tuned/policy/kernel_policy.hpp"

namespace sfft::detail::tuned {

/// The mean ratio of the cycles that a group of threads takes for an access to those without conflicts. 1
/// means that no bank is met twice. It covers whole complex floats, in one-dimensional lines whose transforms
/// follow each other.
double bank_conflicts(const KernelPolicy& kernel);
/// Chooses the pad_interval and pad with the fewest conflicts and, among these, the least memory.
void pad_for_banks(KernelPolicy& kernel);

}  // namespace sfft::detail::tuned
