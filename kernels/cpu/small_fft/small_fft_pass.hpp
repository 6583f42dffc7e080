// SPDX-License-Identifier: Apache-2.0
// Stockham passes over vectors (see small_fft_kernels.hpp for the mathematics). Kernel sources only.
#pragma once

#include <cstdint>

#include "kernels/base/radix/butterfly.hpp"
#include "kernels/cpu/platform/simd.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

template <class Real, int kReals>
struct VectorOf {
  typedef Real Type __attribute__((vector_size(kReals * sizeof(Real))));
};
template <class Real>
struct VectorOf<Real, 1> {
  typedef Real Type;
};

template <class V, class Real>
SFFT_BUTTERFLY V load_vector(const Real* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof(V));
  return value;
}

template <class V, class Real>
SFFT_BUTTERFLY void store_vector(Real* to, const V& value) {
  __builtin_memcpy(to, &value, sizeof(V));
}

/// Works by vectors within one run of s; the last vector of a run overlaps the one before.
template <class Real, int kReals, int R, bool kTurned>
void wide_pass(const Real* __restrict xr, const Real* __restrict xi, Real* __restrict yr, Real* __restrict yi,
               std::int64_t m, std::int64_t s, std::int64_t, const Real* __restrict roots) {
  using V = typename VectorOf<Real, kReals>::Type;
  const std::int64_t step = m * s;
  for (std::int64_t p = 0; p < m; ++p) {
    for (std::int64_t run = 0; run < s; run += kReals) {
      const std::int64_t q = run + kReals <= s ? run : s - kReals;
      Butterfly<R>::template stream<Real, V>(
          [&](int k, V& re, V& im) SFFT_ALWAYS_INLINE {
            re = load_vector<V>(xr + q + k * step);
            im = load_vector<V>(xi + q + k * step);
          },
          [&](int j, V& re, V& im) SFFT_ALWAYS_INLINE {
            if (kTurned && j > 0) multiply(re, im, roots[2 * j - 2], roots[2 * j - 1]);
            store_vector(yr + q + j * s, re);
            store_vector(yi + q + j * s, im);
          });
    }
    xr += s;
    xi += s;
    yr += R * s;
    yi += R * s;
    if constexpr (kTurned) roots += 2 * (R - 1);  // the last pass has no roots: null
  }
}

/// Any odd radix up to kMaxOdd. Works by pairs, like Butterfly<R>, but its sums are loops.
template <class Real, int kReals, int kMaxOdd>
void odd_pass(const Real* __restrict xr, const Real* __restrict xi, Real* __restrict yr, Real* __restrict yi,
              std::int64_t m, std::int64_t s, std::int64_t radix, const Real* __restrict roots) {
  using V = typename VectorOf<Real, kReals>::Type;
  const std::int64_t step = m * s;
  const std::int64_t half = (radix - 1) / 2;
  const Real* cosine = roots;
  const Real* sine = roots + half + 1;
  const Real* turns = roots + 2 * (half + 1) - 2;
  V sum_re[kMaxOdd / 2 + 1], sum_im[kMaxOdd / 2 + 1], difference_re[kMaxOdd / 2 + 1],
      difference_im[kMaxOdd / 2 + 1];
  for (std::int64_t p = 0; p < m; ++p) {
    for (std::int64_t run = 0; run < s; run += kReals) {
      const std::int64_t q = run + kReals <= s ? run : s - kReals;
      const std::int64_t x = p * s + q;
      const std::int64_t y = p * radix * s + q;
      const V first_re = load_vector<V>(xr + x), first_im = load_vector<V>(xi + x);
      V total_re = first_re, total_im = first_im;
      for (std::int64_t k = 1; k <= half; ++k) {
        const V low_re = load_vector<V>(xr + x + k * step),
                high_re = load_vector<V>(xr + x + (radix - k) * step);
        const V low_im = load_vector<V>(xi + x + k * step),
                high_im = load_vector<V>(xi + x + (radix - k) * step);
        sum_re[k] = low_re + high_re;
        sum_im[k] = low_im + high_im;
        difference_re[k] = low_re - high_re;
        difference_im[k] = low_im - high_im;
        total_re += sum_re[k];
        total_im += sum_im[k];
      }
      store_vector(yr + y, total_re);
      store_vector(yi + y, total_im);
      for (std::int64_t j = 1; j <= half; ++j) {
        V even_re = first_re, even_im = first_im, odd_re = V{}, odd_im = V{};
        std::int64_t angle = 0;
        for (std::int64_t k = 1; k <= half; ++k) {
          angle = angle + j < radix ? angle + j : angle + j - radix;
          const bool low = angle <= half;
          const Real c = cosine[low ? angle : radix - angle];
          const Real t = low ? sine[angle] : -sine[radix - angle];
          even_re += sum_re[k] * c;
          even_im += sum_im[k] * c;
          odd_re += difference_re[k] * t;
          odd_im += difference_im[k] * t;
        }
        V low_re = even_re + odd_im, low_im = even_im - odd_re;
        V high_re = even_re - odd_im, high_im = even_im + odd_re;
        multiply(low_re, low_im, turns[2 * j], turns[2 * j + 1]);
        multiply(high_re, high_im, turns[2 * (radix - j)], turns[2 * (radix - j) + 1]);
        store_vector(yr + y + j * s, low_re);
        store_vector(yi + y + j * s, low_im);
        store_vector(yr + y + (radix - j) * s, high_re);
        store_vector(yi + y + (radix - j) * s, high_im);
      }
    }
    turns += 2 * (radix - 1);
  }
}

}  // namespace sfft::detail::cpu::SFFT_ISA
