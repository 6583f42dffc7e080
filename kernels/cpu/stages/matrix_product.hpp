// SPDX-License-Identifier: Apache-2.0
// Products of a small matrix: with a vector, for transforms with so few points that overheads would cost more
// than the sums, and with the blocks of a long signal.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

/// Matrices are padded to a width that is a multiple of kMatrixGrain and to a multiple of kMatrixRows rows.
constexpr std::int64_t kMatrixGrain = 16, kMatrixRows = 4;
/// Columns of the matrices for blocks, of which a width is a multiple: one cache line.
template <class Real>
constexpr std::int64_t kBlockGrain = 64 / static_cast<std::int64_t>(sizeof(Real));

template <class Real>
struct MatrixKernels {
  /// to[j] = scale·Σ_i x[i]·matrix[i·width + j], j < width. `rows` and `width` are multiples of kMatrixRows
  /// and kMatrixGrain.
  void (*product)(const Real* x, std::int64_t rows, const Real* matrix, std::int64_t width, Real scale,
                  Real* to);
  /// to[b·width + j] = Σ_i x[b·rows + i]·matrix(i, j) for b < blocks and j < width. matrix(i, j) is at
  /// [(j / grain·rows + i)·grain + j mod grain], where grain is kBlockGrain.
  void (*blocks)(const Real* x, std::int64_t blocks, std::int64_t rows, const Real* matrix,
                 std::int64_t width, Real* to);
};

template <class Real>
const MatrixKernels<Real>& matrix_kernels() noexcept;
template <>
const MatrixKernels<float>& matrix_kernels<float>() noexcept;
template <>
const MatrixKernels<double>& matrix_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
