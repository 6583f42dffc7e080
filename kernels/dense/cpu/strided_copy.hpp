// SPDX-License-Identifier: Apache-2.0
// Copies strided signals to contiguous ones and back, in host memory.
#pragma once

#include "kernels/dense/problem/problem.hpp"

namespace sfft::detail {

/// Copy signal `index` of the problem. `packed` holds its elements of `type` in row-major order.
void gather_signal(const DenseProblem& problem, std::int64_t index, const void* signals, ElementType type,
                   void* packed);
void scatter_signal(const DenseProblem& problem, std::int64_t index, const void* packed, ElementType type,
                    void* signals);

}  // namespace sfft::detail
