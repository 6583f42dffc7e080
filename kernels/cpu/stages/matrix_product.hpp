// SPDX-License-Identifier: Apache-2.0
// Products of small matrices and vectors: transforms with so few points that overheads would cost more than
// the sums, filters of long signals, and products of spectra.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

/// Matrices are padded to a width that is a multiple of kMatrixGrain and to a multiple of kMatrixRows rows.
constexpr std::int64_t kMatrixGrain = 16, kMatrixRows = 4;
constexpr std::int64_t kFilterGrain = 16;  ///< of the lengths of filters

template <class Real>
struct MatrixKernels {
  /// to[j] = scale·Σ_i x[i]·matrix[i·width + j], j < width. `rows` and `width` are multiples of kMatrixRows
  /// and kMatrixGrain.
  void (*product)(const Real* x, std::int64_t rows, const Real* matrix, std::int64_t width, Real scale,
                  Real* to);
  /// to[2m + r] = Σ_i x[m·stride + i]·filters[r·length + i] for m < values and r < 2: the values of two
  /// filters at every stride-th place. `length` is a multiple of kFilterGrain.
  void (*decimate)(const Real* x, std::int64_t values, std::int64_t stride, const Real* filters,
                   std::int64_t length, Real* to);
  /// values[i] *= factors[i] for `count` complex values, interleaved.
  void (*multiply)(const Real* factors, std::int64_t count, Real* values);
};

template <class Real>
const MatrixKernels<Real>& matrix_kernels() noexcept;
template <>
const MatrixKernels<float>& matrix_kernels<float>() noexcept;
template <>
const MatrixKernels<double>& matrix_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
