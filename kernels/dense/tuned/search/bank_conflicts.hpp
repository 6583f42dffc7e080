// SPDX-License-Identifier: Apache-2.0
// Counts the bank conflicts of a kernel's exchanges through shared memory.
#pragma once

#include "kernels/dense/tuned/policy/kernel_policy.hpp"

namespace sfft::detail::tuned {

/// Times that a group of threads takes for an access, over those it would take without conflicts, on average;
/// of whole complex values of float, in lines of one dimension whose transforms lie one after the other. 1:
/// no bank is met twice.
double bank_conflicts(const KernelPolicy& kernel);
/// Chooses pad_interval and pad with the fewest conflicts, and of these the least memory.
void pad_for_banks(KernelPolicy& kernel);

}  // namespace sfft::detail::tuned
