// SPDX-License-Identifier: Apache-2.0
// The product of a small matrix and a vector, for transforms of so few points
// that overheads exceed the sums.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

/// Rows of a matrix begin at multiples of this many values, and there are as many rows.
constexpr std::int64_t kMatrixGrain = 16, kMatrixRows = 4;

template <class Real>
struct MatrixKernels {
  /// to[j] = scale·Σ_i x[i]·matrix[i·width + j], j < width. `rows` and `width` are multiples of kMatrixRows
  /// and kMatrixGrain.
  void (*product)(const Real* x, std::int64_t rows, const Real* matrix, std::int64_t width, Real scale,
                  Real* to);
};

template <class Real>
const MatrixKernels<Real>& matrix_kernels() noexcept;
template <>
const MatrixKernels<float>& matrix_kernels<float>() noexcept;
template <>
const MatrixKernels<double>& matrix_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
