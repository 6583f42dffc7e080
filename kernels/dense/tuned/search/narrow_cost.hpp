// SPDX-License-Identifier: Apache-2.0
// What a kernel costs whose values lie in memory in 16 bits. With half the bytes, instructions and exchanges
// take as long as memory does, so that the fewest of them win, not the fewest registers.
#pragma once

#include <cstddef>

#include "kernels/dense/tuned/plan/needs.hpp"

namespace sfft::detail::tuned {

/// Microseconds of 2^25 points on an H200: within 10 % of 339 kernels that were measured there.
/// `shared_bytes`: of a block. `conflicts`: bank_conflicts(), or 1 where they are not known.
double narrow_cost(const LineNeed& need, const KernelPolicy& kernel, std::size_t shared_bytes,
                   const Limits& limits, double conflicts);

}  // namespace sfft::detail::tuned
