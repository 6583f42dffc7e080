// SPDX-License-Identifier: Apache-2.0
// A problem's layouts as grids to copy.
#pragma once

#include "kernels/cuda/stages/pack.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"

namespace sfft::detail {

/// How elements lie that are read or written: apart by the problem's strides, or row-major with rows of
/// `row_points` (at least the problem's).
enum class Side { strided, packed };

/// Signals of the problem, from one side to the other.
cuda::CopyGrid signal_grid(const DenseProblem& problem, Side from, Side to, std::int64_t row_points);

}  // namespace sfft::detail
