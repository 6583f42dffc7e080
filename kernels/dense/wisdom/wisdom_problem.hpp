// SPDX-License-Identifier: Apache-2.0
// Names problems for wisdom.
#pragma once

#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"

namespace sfft::detail {

/// For example "f32 c2c 1080x1920", or "f64 r2c 12x35 strided 64,1,1024" with the batch's stride last.
template <class Real>
WisdomProblem wisdom_problem(const DenseProblem& problem);

}  // namespace sfft::detail
