// SPDX-License-Identifier: Apache-2.0
// Describes the layouts of a problem's signals and spectra to kernels.
#pragma once

#include "kernels/cuda/stages/pack.hpp"
#include "kernels/dense/problem/problem.hpp"

namespace sfft::detail {

/// The layout of the elements on one side of a copy: the problem's strides, or row-major rows of `row_points`
/// (at least the problem's row length).
enum class Side { strided, packed };

/// The copy of the problem's signals from one layout to the other.
cuda::CopyGrid signal_grid(const DenseProblem& problem, Side from, Side to, std::int64_t row_points);

/// Enqueues the replacement of half spectra by those of real signals (launch_hermitian_columns()), in place.
template <class Real>
void make_hermitian(const DenseProblem& problem, std::complex<Real>* spectra, cuda::Stream stream);

}  // namespace sfft::detail
