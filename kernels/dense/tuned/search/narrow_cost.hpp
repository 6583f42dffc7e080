// SPDX-License-Identifier: Apache-2.0
// The cost of a kernel whose values are stored in 16 bits. With half the bytes, instructions and exchanges
// take as long as memory does. The fewest of these win, not the fewest registers.
#pragma once

#include <cstddef>

#include "kernels/dense/tuned/plan/needs.hpp"

namespace sfft::detail::tuned {

/// Microseconds for 2^25 points on an H200, within 10 % for 339 kernels that were measured there.
/// `shared_bytes` is per block. `conflicts` is bank_conflicts(), or 1 if unknown.
double narrow_cost(const LineNeed& need, const KernelPolicy& kernel, std::size_t shared_bytes,
                   const Limits& limits, double conflicts);

}  // namespace sfft::detail::tuned
