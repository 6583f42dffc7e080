// SPDX-License-Identifier: Apache-2.0
// Stockham passes that begin or end in rows of interleaved complex values. Kernel sources only.
#pragma once

#include <cstdint>

#include "kernels/cpu/small_fft/small_fft_kernels.hpp"
#include "kernels/cpu/small_fft/small_fft_narrow.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

/// Prefetches one vector of complex values from each of R rows.
template <int kWrite, int R, class Real>
SFFT_BUTTERFLY void prefetch_rows(const Real* first, std::int64_t step) {
  constexpr int kLine = 64 / static_cast<int>(sizeof(Real));
  SFFT_UNROLL
  for (int k = 0; k < R; ++k) {
    for (int at = 0; at < 2 * Simd<Real>::kLanes; at += kLine)
      __builtin_prefetch(first + k * step + at, kWrite);
  }
}

/// Uses full vectors only; the last vector of a run overlaps the one before.
template <class Real, int R, bool kFrom, bool kTo>
void complex_pass(const ComplexPass<Real>& pass) {
  constexpr int W = Simd<Real>::kLanes;
  constexpr bool kTurned = kFrom && !kTo;
  constexpr int kX = kFrom ? 2 : 1, kY = kTo ? 2 : 1;  // reals per value
  using V = typename Simd<Real>::Vector;
  const Real* roots = pass.roots;
  const std::int64_t x_step = kX * pass.x_step, y_step = kY * pass.y_step;
  for (std::int64_t p = 0; p < pass.m; ++p) {
    // Interleaved values have no separate imaginary array.
    const Real* const xr = pass.xr + kX * p * pass.x_row;
    const Real* const xi = kFrom ? nullptr : pass.xi + p * pass.x_row;
    Real* const yr = pass.yr + kY * p * pass.y_row;
    Real* const yi = kTo ? nullptr : pass.yi + p * pass.y_row;
    Real* const first = p == 0 ? pass.y_first : yr;
    const std::int64_t ahead = p + pass.ahead < pass.m ? 2 * pass.ahead : 0;
    for (std::int64_t run = 0; run < pass.s; run += W) {
      const std::int64_t q = run + W <= pass.s ? run : pass.s - W;
      if (ahead > 0) {
        if constexpr (kFrom) prefetch_rows<0, R>(xr + ahead * pass.x_row + 2 * q, x_step);
        if constexpr (kTo) prefetch_rows<1, R>(yr + ahead * pass.y_row + 2 * q, y_step);
      }
      Butterfly<R>::template stream<Real, V>(
          [&](int k, V& re, V& im) SFFT_ALWAYS_INLINE {
            if constexpr (kFrom) {
              load_split<W>(xr + 2 * q + k * x_step, re, im);
            } else {
              re = load_vector<V>(xr + q + k * x_step);
              im = load_vector<V>(xi + q + k * x_step);
            }
          },
          [&](int j, V& re, V& im) SFFT_ALWAYS_INLINE {
            if constexpr (kTurned) {
              if (j > 0) multiply(re, im, roots[2 * j - 2], roots[2 * j - 1]);
            }
            if constexpr (kTo) {
              Real* const to = (j == 0 ? first : yr + j * y_step) + 2 * q;
              store_joined<W>(V(re * pass.scale), V(im * pass.scale), to);
            } else {
              store_vector(yr + q + j * y_step, re);
              store_vector(yi + q + j * y_step, im);
            }
          });
    }
    if constexpr (kTurned) roots += 2 * (R - 1);
  }
}

}  // namespace sfft::detail::cpu::SFFT_ISA
