// SPDX-License-Identifier: Apache-2.0
// What the two passes of a long FFT do beside their small FFTs: loading columns, and turning by the phases
// between the passes.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

/// Columns, and rows, that are transformed side by side.
constexpr std::int64_t kTwoPassLanes = 8;

/// Factors of the roots of eight rows of eight columns. A row of roots is eight real parts, then eight
/// imaginary ones.
struct TurnRoots {
  const double* near;  ///< eight rows
  const double *middle, *far;
};

struct TwoPassKernels {
  /// Loads rows of eight complex columns, or of sixteen real ones, the first eight as real and the others as
  /// imaginary parts: re[8 r + c], im[8 r + c] from element r * stride + c. Indexed by the element type.
  void (*load[6])(const void* from, std::int64_t stride, std::int64_t rows, double* re, double* im);
  /// The spectra a and b of two real signals of n points, from z, that of a + i b: rows 0 … n/2 of eight
  /// columns.
  void (*separate)(const double* re, const double* im, std::int64_t n, double* a_re, double* a_im,
                   double* b_re, double* b_im);
  /// Multiplies row r of eight by near[r] × middle × far and transposes them: to_re[8 c + r].
  void (*turn)(const double* re, const double* im, const TurnRoots& roots, double* to_re, double* to_im);
};

const TwoPassKernels& two_pass_kernels() noexcept;

}  // namespace sfft::detail::cpu
