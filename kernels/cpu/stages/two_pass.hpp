// SPDX-License-Identifier: Apache-2.0
// Work of the two passes of a long FFT besides their small FFTs: loading columns, and twiddle factors
// between the passes.
#pragma once

#include <cstdint>

#include "kernels/base/math/elements.hpp"

namespace sfft::detail::cpu {

/// The number of columns, or rows, that are transformed together.
constexpr std::int64_t kTwoPassLanes = 8;

/// Factors whose products are the roots of eight rows of eight columns. A row of roots is eight real parts,
/// then eight imaginary ones.
template <class Real>
struct TurnRoots {
  const Real* near;  ///< eight rows
  const Real *middle, *far;
};

template <class Real>
struct TwoPassKernels {
  /// Loads rows of eight complex columns into re[8 r + c] and im[8 r + c], from element r * stride + c; or
  /// rows of sixteen real columns, the first eight as real parts and the others as imaginary parts. Indexed
  /// by the element type.
  void (*load[kElementTypes])(const void* from, std::int64_t stride, std::int64_t rows, Real* re, Real* im);
  /// The spectra of real signals a and b of n points, from the spectrum of a + i b. Writes rows 0 … n/2 of
  /// eight columns.
  void (*separate)(const Real* re, const Real* im, std::int64_t n, Real* a_re, Real* a_im, Real* b_re,
                   Real* b_im);
  /// Multiplies row r of eight by near[r] × middle × far and transposes them: to_re[8 c + r].
  void (*turn)(const Real* re, const Real* im, const TurnRoots<Real>& roots, Real* to_re, Real* to_im);
  /// Stores lanes first … 7 of `rows` rows of eight, interleaved and scaled: row r at to + 2 r stride.
  void (*store)(const Real* re, const Real* im, std::int64_t rows, int first, Real scale, std::int64_t stride,
                Real* to);
};

template <class Real>
const TwoPassKernels<Real>& two_pass_kernels() noexcept;
template <>
const TwoPassKernels<float>& two_pass_kernels<float>() noexcept;
template <>
const TwoPassKernels<double>& two_pass_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
