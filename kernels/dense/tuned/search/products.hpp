// SPDX-License-Identifier: Apache-2.0
// Lines as products on tensor cores (device/product_lines.cuh): which policies there are for them, and what
// they cost.
#pragma once

#include <vector>

#include "kernels/dense/tuned/plan/needs.hpp"

namespace sfft::detail::tuned {

/// One for each number of lines of a warp, with as many warps as fit.
std::vector<KernelPolicy> products(const LineNeed& need, const Limits& limits);

/// Microseconds of 2^25 points on an H200, as those of narrow_cost().
double product_cost(const KernelPolicy& kernel);

}  // namespace sfft::detail::tuned
