// SPDX-License-Identifier: Apache-2.0
// DFTs of odd primes for machines with fused multiply-add: factors of sums move into the additions that
// follow (Linzer and Feig 1993).
#pragma once

#include "kernels/base/radix/butterfly_roots.hpp"

namespace sfft::detail {

/// The DFT of R values after multiplying the k-th by exp(-2 pi i k a/N), 0 <= a < N/R. A root is written as
/// cos (1 - i tan), so multiplying by it takes two operations; pairs x_k, x_{R-k} are scaled by one of their
/// cosines, the larger one.
template <int R, int N>
struct TurnedButterfly {
  template <class Real, class V>
  SFFT_BUTTERFLY static void apply(V* re, V* im, int a) {
    constexpr int kHalf = (R - 1) / 2;
    if (a != 0) {
      SFFT_UNROLL
      for (int k = 1; k < R; ++k) {
        const auto tangent = static_cast<Real>(sine(k * a) / cosine(k * a));
        const V x = re[k];
        re[k] = x + im[k] * tangent;
        im[k] = im[k] - x * tangent;
      }
    }
    V sum_re[kHalf], sum_im[kHalf], difference_re[kHalf], difference_im[kHalf];
    const V first_re = re[0], first_im = im[0];
    SFFT_UNROLL
    for (int k = 0; k < kHalf; ++k) {
      const V x = re[k + 1], y = im[k + 1], u = re[R - 1 - k], v = im[R - 1 - k];
      const double own = cosine((k + 1) * a), other = cosine((R - 1 - k) * a);
      const auto scale = static_cast<Real>(size(own) >= size(other) ? other / own : own / other);
      if (a == 0) {
        sum_re[k] = x + u;
        sum_im[k] = y + v;
        difference_re[k] = x - u;
        difference_im[k] = y - v;
      } else if (size(own) >= size(other)) {
        sum_re[k] = x + u * scale;
        sum_im[k] = y + v * scale;
        difference_re[k] = x - u * scale;
        difference_im[k] = y - v * scale;
      } else {
        sum_re[k] = x * scale + u;
        sum_im[k] = y * scale + v;
        difference_re[k] = x * scale - u;
        difference_im[k] = y * scale - v;
      }
      if (a == 0) {
        re[0] = re[0] + sum_re[k];
        im[0] = im[0] + sum_im[k];
      } else {
        re[0] = re[0] + sum_re[k] * static_cast<Real>(factor(k, a));
        im[0] = im[0] + sum_im[k] * static_cast<Real>(factor(k, a));
      }
    }
    SFFT_UNROLL
    for (int j = 1; j <= kHalf; ++j) {
      V even_re = first_re, even_im = first_im, odd_re = difference_re[0], odd_im = difference_im[0];
      const double scale = factor(0, a) * signed_sine(j);
      SFFT_UNROLL
      for (int k = 0; k < kHalf; ++k) {
        const int angle = j * (k + 1) % R;
        const auto of_cosine =
            static_cast<Real>(factor(k, a) * Roots<R>::cosine(angle <= kHalf ? angle : R - angle));
        even_re = even_re + sum_re[k] * of_cosine;
        even_im = even_im + sum_im[k] * of_cosine;
        if (k == 0) continue;
        const auto of_sine = static_cast<Real>(factor(k, a) * signed_sine(angle) / scale);
        odd_re = odd_re + difference_re[k] * of_sine;
        odd_im = odd_im + difference_im[k] * of_sine;
      }
      const auto own = static_cast<Real>(scale);
      re[j] = even_re + odd_im * own;
      im[j] = even_im - odd_re * own;
      re[R - j] = even_re - odd_im * own;
      im[R - j] = even_im + odd_re * own;
    }
  }

 private:
  SFFT_BUTTERFLY static constexpr double size(double x) { return x < 0 ? -x : x; }
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    return k == 0 ? 1 : Roots<N>::cosine(2 * k <= N ? k : N - k);
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    return k == 0 ? 0 : 2 * k <= N ? Roots<N>::sine(k) : -Roots<N>::sine(N - k);
  }
  SFFT_BUTTERFLY static constexpr double signed_sine(int k) {
    return 2 * k <= R ? Roots<R>::sine(k) : -Roots<R>::sine(R - k);
  }
  /// The factor by which the sum and difference of the pair x_{k+1}, x_{R-1-k} are too small.
  SFFT_BUTTERFLY static constexpr double factor(int k, int a) {
    const double own = cosine((k + 1) * a), other = cosine((R - 1 - k) * a);
    return size(own) >= size(other) ? own : other;
  }
};

}  // namespace sfft::detail
