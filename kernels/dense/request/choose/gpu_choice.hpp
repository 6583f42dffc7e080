// SPDX-License-Identifier: Apache-2.0
// Chooses GPU engines for transforms inside the library.
#pragma once

#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"

namespace sfft::detail {

/// Engines for the library's internal forward transforms of `problem`, in this and other batch sizes: the
/// engine that wisdom names, or cuFFT. `batch` says whether wisdom about another batch size counts.
template <class Real>
cuda::DenseEngines<Real> remembered_engines(const DenseProblem& problem,
                                            Wisdom::Batch batch = Wisdom::Batch::nearest);

}  // namespace sfft::detail
