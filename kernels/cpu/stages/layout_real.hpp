// SPDX-License-Identifier: Apache-2.0
// Spectra of real signals from complex spectra that hold two values or rows each, and back. Kernel
// sources only.
#pragma once

#include <cstdint>

#include "kernels/cpu/small_fft/small_fft_narrow.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

/// The reals of a in reverse order.
template <int W, class V, int... I>
SFFT_BUTTERFLY V backwards(const V& a, Indices<I...>) {
  return __builtin_shufflevector(a, a, (W - 1 - I)...);
}

/// Values k and half - k share sums and products. Works by vectors of W reals, or smaller ones if rows are
/// shorter; the last vector overlaps the one before.
template <class Real, int W>
void unpack_real_by(const Real* __restrict re, const Real* __restrict im, std::int64_t half,
                    const Real* __restrict roots_re, const Real* __restrict roots_im,
                    Real* __restrict spectrum) {
  if constexpr (W > 1) {
    if (half / 2 < W) return unpack_real_by<Real, W / 2>(re, im, half, roots_re, roots_im, spectrum);
  }
  spectrum[0] = re[0] + im[0];
  spectrum[1] = 0;
  spectrum[2 * half] = re[0] - im[0];
  spectrum[2 * half + 1] = 0;
  using V = typename VectorOf<Real, W>::Type;
  for (std::int64_t run = 1; run <= half / 2; run += W) {
    const std::int64_t k = run + W - 1 <= half / 2 ? run : half / 2 - W + 1, mirror = half - k - W + 1;
    const V low_re = load_vector<V>(re + k), low_im = load_vector<V>(im + k);
    V high_re = load_vector<V>(re + mirror), high_im = load_vector<V>(im + mirror);
    if constexpr (W > 1) {
      high_re = backwards<W>(high_re, typename CountTo<W>::Type());
      high_im = backwards<W>(high_im, typename CountTo<W>::Type());
    }
    const V even_re = low_re + high_re, even_im = low_im - high_im;
    V odd_re = low_im + high_im, odd_im = high_re - low_re;
    multiply(odd_re, odd_im, load_vector<V>(roots_re + k), load_vector<V>(roots_im + k));
    V mirror_re = Real(0.5) * (even_re - odd_re), mirror_im = Real(0.5) * (odd_im - even_im);
    const V here_re = Real(0.5) * (even_re + odd_re), here_im = Real(0.5) * (even_im + odd_im);
    if constexpr (W == 1) {
      spectrum[2 * mirror] = mirror_re;
      spectrum[2 * mirror + 1] = mirror_im;
      spectrum[2 * k] = here_re;
      spectrum[2 * k + 1] = here_im;
    } else {
      mirror_re = backwards<W>(mirror_re, typename CountTo<W>::Type());
      mirror_im = backwards<W>(mirror_im, typename CountTo<W>::Type());
      store_joined<W>(mirror_re, mirror_im, spectrum + 2 * mirror);
      store_joined<W>(here_re, here_im, spectrum + 2 * k);
    }
  }
}

template <class Real>
void pack_real(const Real* __restrict xr, const Real* __restrict xi, Real last, std::int64_t half,
               const Real* __restrict roots_re, const Real* __restrict roots_im, Real* __restrict re,
               Real* __restrict im) {
  re[0] = xr[0] + last;
  im[0] = xr[0] - last;
  for (std::int64_t k = 1; k < half; ++k) {
    const Real even_re = xr[k] + xr[half - k], even_im = xi[k] - xi[half - k];
    const Real odd_re = xr[k] - xr[half - k], odd_im = xi[k] + xi[half - k];
    re[k] = even_re - (roots_re[k] * odd_im - roots_im[k] * odd_re);
    im[k] = even_im + (roots_re[k] * odd_re + roots_im[k] * odd_im);
  }
}

/// Works by vectors of W reals, or smaller ones if there are fewer lanes. The last vector overlaps the one
/// before.
template <class Real, int W>
void unpack_real_lanes_by(const Real* __restrict re, const Real* __restrict im, std::int64_t half,
                          std::int64_t lanes, const Real* __restrict roots_re,
                          const Real* __restrict roots_im, Real* __restrict to_re, Real* __restrict to_im) {
  if constexpr (W > 1) {
    if (lanes < W)
      return unpack_real_lanes_by<Real, W / 2>(re, im, half, lanes, roots_re, roots_im, to_re, to_im);
  }
  using V = typename VectorOf<Real, W>::Type;
  for (std::int64_t run = 0; run < lanes; run += W) {
    const std::int64_t l = run + W <= lanes ? run : lanes - W, last = half * lanes + l;
    const V first_re = load_vector<V>(re + l), first_im = load_vector<V>(im + l);
    store_vector(to_re + l, first_re + first_im);
    store_vector(to_im + l, V{});
    store_vector(to_re + last, first_re - first_im);
    store_vector(to_im + last, V{});
    for (std::int64_t k = 1; 2 * k <= half; ++k) {
      const std::int64_t low = k * lanes + l, high = (half - k) * lanes + l;
      const V low_re = load_vector<V>(re + low), high_re = load_vector<V>(re + high);
      const V low_im = load_vector<V>(im + low), high_im = load_vector<V>(im + high);
      const V even_re = low_re + high_re, even_im = low_im - high_im;
      V odd_re = low_im + high_im, odd_im = high_re - low_re;
      multiply(odd_re, odd_im, roots_re[k], roots_im[k]);
      store_vector(to_re + high, Real(0.5) * (even_re - odd_re));
      store_vector(to_im + high, Real(0.5) * (odd_im - even_im));
      store_vector(to_re + low, Real(0.5) * (even_re + odd_re));
      store_vector(to_im + low, Real(0.5) * (even_im + odd_im));
    }
  }
}

template <class Real, int W>
void pack_real_lanes_by(const Real* __restrict xr, const Real* __restrict xi, std::int64_t half,
                        std::int64_t lanes, const Real* __restrict roots_re, const Real* __restrict roots_im,
                        Real* __restrict re, Real* __restrict im) {
  if constexpr (W > 1) {
    if (lanes < W) return pack_real_lanes_by<Real, W / 2>(xr, xi, half, lanes, roots_re, roots_im, re, im);
  }
  using V = typename VectorOf<Real, W>::Type;
  for (std::int64_t run = 0; run < lanes; run += W) {
    const std::int64_t l = run + W <= lanes ? run : lanes - W;
    const V first = load_vector<V>(xr + l), last = load_vector<V>(xr + half * lanes + l);
    store_vector(re + l, first + last);
    store_vector(im + l, first - last);
    for (std::int64_t k = 1; 2 * k <= half; ++k) {
      const std::int64_t low = k * lanes + l, high = (half - k) * lanes + l;
      const V low_re = load_vector<V>(xr + low), high_re = load_vector<V>(xr + high);
      const V low_im = load_vector<V>(xi + low), high_im = load_vector<V>(xi + high);
      const V even_re = low_re + high_re, even_im = low_im - high_im;
      V odd_re = low_re - high_re, odd_im = low_im + high_im;
      multiply(odd_re, odd_im, roots_re[k], -roots_im[k]);
      store_vector(re + high, even_re + odd_im);
      store_vector(im + high, odd_re - even_im);
      store_vector(re + low, even_re - odd_im);
      store_vector(im + low, even_im + odd_re);
    }
  }
}

template <class Real>
void separate(const Real* __restrict re, const Real* __restrict im, std::int64_t n, std::int64_t lanes,
              std::int64_t pitch, std::int64_t second, Real* __restrict to_re, Real* __restrict to_im) {
  constexpr Real kHalf = 0.5;
  for (std::int64_t f = 0; f <= n / 2; ++f) {
    const std::int64_t low = f * lanes, high = (f == 0 ? 0 : n - f) * lanes, to = f * pitch;
    for (std::int64_t l = 0; l < lanes; ++l) {
      to_re[to + l] = kHalf * (re[low + l] + re[high + l]);
      to_im[to + l] = kHalf * (im[low + l] - im[high + l]);
    }
    for (std::int64_t l = 0; l < lanes; ++l) {
      to_re[to + second + l] = kHalf * (im[low + l] + im[high + l]);
      to_im[to + second + l] = kHalf * (re[high + l] - re[low + l]);
    }
  }
}

template <class Real>
void unite(const Real* __restrict re, const Real* __restrict im, std::int64_t n, std::int64_t lanes,
           std::int64_t pitch, std::int64_t second, Real scale, Real* __restrict to_re,
           Real* __restrict to_im) {
  for (std::int64_t f = 0; f <= n / 2; ++f) {
    const std::int64_t from = f * pitch, low = f * lanes, high = (n - f) * lanes;
    const bool own_mirror = f == 0 || 2 * f == n;
    for (std::int64_t l = 0; l < lanes; ++l) {
      const Real a_re = scale * re[from + l], b_re = scale * re[from + second + l];
      const Real a_im = own_mirror ? 0 : scale * im[from + l];
      const Real b_im = own_mirror ? 0 : scale * im[from + second + l];
      to_re[low + l] = a_re - b_im;
      to_im[low + l] = a_im + b_re;
      if (own_mirror) continue;
      to_re[high + l] = a_re + b_im;
      to_im[high + l] = b_re - a_im;
    }
  }
}

}  // namespace sfft::detail::cpu::SFFT_ISA
