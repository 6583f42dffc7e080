// SPDX-License-Identifier: Apache-2.0
// Policies for lines as products on tensor cores (device/product_lines.cuh), and their costs.
#pragma once

#include <vector>

#include "kernels/dense/tuned/plan/needs.hpp"

namespace sfft::detail::tuned {

/// One policy for each number of lines per warp, with as many warps as fit.
std::vector<KernelPolicy> products(const LineNeed& need, const Limits& limits);

/// Microseconds for 2^25 points on an H200, comparable with narrow_cost().
double product_cost(const KernelPolicy& kernel);

}  // namespace sfft::detail::tuned
