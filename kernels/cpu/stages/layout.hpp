// SPDX-License-Identifier: Apache-2.0
// Converts between the layouts of signals (elements of any type, interleaved complex) and the split layout of
// the small FFT.
#pragma once

#include <cstdint>

#include "kernels/base/math/elements.hpp"

namespace sfft::detail::cpu {

template <class Real>
struct LayoutKernels {
  /// re[t] = from[2t], im[t] = from[2t + 1] for t < count: complex values, or a real signal's two halves by
  /// parity. Indexed by part_of(type).
  void (*deinterleave[kPartTypes])(const void* from, std::int64_t count, Real* re, Real* im);
  /// re[t] = from[t], im[t] = 0. Null for OffsetBytes, which only complex elements have.
  void (*widen[kPartTypes])(const void* from, std::int64_t count, Real* re, Real* im);
  /// to[2t] = scale re[t], to[2t + 1] = scale im[t].
  void (*interleave)(const Real* re, const Real* im, std::int64_t count, Real scale, Real* to);
  /// The same for rows of `columns` complex values whose starts are `pitch` values apart; split rows have no
  /// gaps.
  void (*load_rows)(const Real* from, std::int64_t pitch, std::int64_t rows, std::int64_t columns, Real* re,
                    Real* im);
  void (*store_rows)(const Real* re, const Real* im, std::int64_t rows, std::int64_t columns,
                     std::int64_t pitch, Real* to);
  /// The same, transposed: value c of row r at [c split_pitch + r] of re and im. Loaded from pairs of parts
  /// of any type, indexed like `deinterleave`; stored times `scale`.
  void (*load_transposed[kPartTypes])(const void* from, std::int64_t pitch, std::int64_t rows,
                                      std::int64_t columns, std::int64_t split_pitch, Real* re, Real* im);
  void (*store_transposed)(const Real* re, const Real* im, std::int64_t rows, std::int64_t columns,
                           std::int64_t split_pitch, Real scale, std::int64_t pitch, Real* to);
  /// Multiplies value c of each row r < rows by far[c]·near[r·columns + c]; all are in split layout.
  void (*turn_rows)(Real* re, Real* im, std::int64_t rows, std::int64_t columns, const Real* near_re,
                    const Real* near_im, const Real* far_re, const Real* far_im);
  /// The half spectrum X[0 … h], interleaved, of a real signal of 2h points, from Z, the FFT of h pairs x[2t]
  /// + i x[2t + 1]: X[k] = (Z[k] + conj Z[h−k])/2 + w^k (Z[k] − conj Z[h−k])/2i, w = exp(−πi/h). roots_re,
  /// roots_im: w^k for k < h.
  void (*unpack_real)(const Real* re, const Real* im, std::int64_t half, const Real* roots_re,
                      const Real* roots_im, Real* spectrum);
  /// The reverse, with results twice as large: Z'[k] = X[k] + conj X[h−k] + i w^−k (X[k] − conj X[h−k]), from
  /// split X[0 … h−1] and `last`, the real part of X[h]. The imaginary parts of X[0] and X[h] are ignored.
  void (*pack_real)(const Real* spectrum_re, const Real* spectrum_im, Real last, std::int64_t half,
                    const Real* roots_re, const Real* roots_im, Real* re, Real* im);
  /// The same for `lanes` interleaved spectra in split layout: value k of spectrum l is at [k lanes + l].
  void (*unpack_real_lanes)(const Real* re, const Real* im, std::int64_t half, std::int64_t lanes,
                            const Real* roots_re, const Real* roots_im, Real* to_re, Real* to_im);
  void (*pack_real_lanes)(const Real* spectra_re, const Real* spectra_im, std::int64_t half,
                          std::int64_t lanes, const Real* roots_re, const Real* roots_im, Real* re, Real* im);
  /// Half spectra of pairs of real columns of n points, from the spectra of `lanes` complex columns. Complex
  /// column l is real column l plus i times real column l + second. Value f of half spectrum q is at [f pitch
  /// + q].
  void (*separate)(const Real* re, const Real* im, std::int64_t n, std::int64_t lanes, std::int64_t pitch,
                   std::int64_t second, Real* to_re, Real* to_im);
  /// The reverse, times `scale`. The imaginary parts of X[0] and X[n/2] are ignored.
  void (*unite)(const Real* re, const Real* im, std::int64_t n, std::int64_t lanes, std::int64_t pitch,
                std::int64_t second, Real scale, Real* to_re, Real* to_im);
  /// Adds Σ from[t] and Σ from[t]² to *sum and *squares. For integers up to 16 bits there is no rounding
  /// while the sum of squares is below 2^53. Indexed like `widen`.
  void (*add_moments[kPartTypes])(const void* from, std::int64_t count, double* sum, double* squares);
};

template <class Real>
const LayoutKernels<Real>& layout_kernels() noexcept;
template <>
const LayoutKernels<float>& layout_kernels<float>() noexcept;
template <>
const LayoutKernels<double>& layout_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
