// SPDX-License-Identifier: Apache-2.0
// Stockham passes whose runs are at most half a vector: a vector holds several values of p, and shuffles put
// their results in place. Kernel sources only.
#pragma once

#include <cstdint>

#include "kernels/cpu/small_fft/small_fft_pass.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

template <int... kIndex>
struct Indices {};
template <int kCount, int... kIndex>
struct CountTo : CountTo<kCount - 1, kCount - 1, kIndex...> {};
template <int... kIndex>
struct CountTo<0, kIndex...> {
  using Type = Indices<kIndex...>;
};

/// Alternating chunks of S reals from a and b, from the lower (kHigh = 0) or upper half of each.
template <int W, int S, int kHigh, class V, int... I>
SFFT_BUTTERFLY V interleave(const V& a, const V& b, Indices<I...>) {
  return __builtin_shufflevector(a, b, ((I / S % 2) * W + kHigh * (W / 2) + I / (2 * S) * S + I % S)...);
}

/// Every second real of a and b, from kFirst on.
template <int W, int kFirst, class V, int... I>
SFFT_BUTTERFLY V every_second(const V& a, const V& b, Indices<I...>) {
  return __builtin_shufflevector(a, b, (2 * I + kFirst)...);
}

/// The lower (kHigh = 0) or upper halves of a and b.
template <int W, int kHigh, class V, int... I>
SFFT_BUTTERFLY V halves(const V& a, const V& b, Indices<I...>) {
  return __builtin_shufflevector(a, b, (I / (W / 2) * W + kHigh * (W / 2) + I % (W / 2))...);
}

/// Like interleave() and every_second(), but within each half of the vectors.
template <int W, int S, int kHigh, class V, int... I>
SFFT_BUTTERFLY V interleave_halves(const V& a, const V& b, Indices<I...>) {
  constexpr int H = W / 2;
  return __builtin_shufflevector(
      a, b, (I % H / S % 2 * W + I / H * H + kHigh * (H / 2) + I % H / (2 * S) * S + I % S)...);
}
template <int W, int kFirst, class V, int... I>
SFFT_BUTTERFLY V every_second_of_halves(const V& a, const V& b, Indices<I...>) {
  constexpr int H = W / 2;
  return __builtin_shufflevector(a, b, (I % H / (H / 2) * W + I / H * H + 2 * (I % (H / 2)) + kFirst)...);
}

/// Whether to shuffle within halves first: an AVX2 shuffle that crosses halves can do little else.
template <class V>
constexpr bool kInHalves = sizeof(V) == 32 && SFFT_VECTOR_BYTES == 32;

/// Interleaves a and b by chunks of S reals into (low, high).
template <int W, int S, class V>
SFFT_BUTTERFLY void interleave_both(const V& a, const V& b, V& low, V& high) {
  using Lanes = typename CountTo<W>::Type;
  if constexpr (kInHalves<V> && 2 * S < W) {
    const V x = interleave_halves<W, S, 0>(a, b, Lanes()), y = interleave_halves<W, S, 1>(a, b, Lanes());
    low = halves<W, 0>(x, y, Lanes());
    high = halves<W, 1>(x, y, Lanes());
  } else {
    const V x = interleave<W, S, 0>(a, b, Lanes());
    high = interleave<W, S, 1>(a, b, Lanes());
    low = x;
  }
}

/// Splits the complex values of (a, b).
template <int W, class V>
SFFT_BUTTERFLY void split_both(const V& a, const V& b, V& re, V& im) {
  using Lanes = typename CountTo<W>::Type;
  if constexpr (kInHalves<V>) {
    const V x = halves<W, 0>(a, b, Lanes()), y = halves<W, 1>(a, b, Lanes());
    re = every_second_of_halves<W, 0>(x, y, Lanes());
    im = every_second_of_halves<W, 1>(x, y, Lanes());
  } else {
    re = every_second<W, 0>(a, b, Lanes());
    im = every_second<W, 1>(a, b, Lanes());
  }
}

/// Loads W complex values into split form; store_joined() stores them from split form.
template <int W, class V, class Real>
SFFT_BUTTERFLY void load_split(const Real* from, V& re, V& im) {
  split_both<W>(load_vector<V>(from), load_vector<V>(from + W), re, im);
}
template <int W, class V, class Real>
SFFT_BUTTERFLY void store_joined(const V& re, const V& im, Real* to) {
  V low, high;
  interleave_both<W, 1>(re, im, low, high);
  store_vector(to, low);
  store_vector(to + W, high);
}

/// The reals of a from kFirst on, as many as there are indices, with wrap-around.
template <int W, int kFirst, class V, int... I>
SFFT_BUTTERFLY auto window(const V& a, Indices<I...>) {
  return __builtin_shufflevector(a, a, ((kFirst + I) % W)...);
}

constexpr bool power_of_two(int value) {
  return (value & (value - 1)) == 0;
}

/// Puts chunk p of vector j at y + (R p + j) S, for R and S powers of two, by log2 min(R, W/S) perfect
/// shuffles.
template <class Real, int W, int R, int S, class V>
SFFT_BUTTERFLY void scatter_shuffled(V* v, Real* y) {
  constexpr int P = W / S, K = R < P ? R : P;
  SFFT_UNROLL
  for (int block = 0; block < R; block += K) {
    V a[K], b[K];
    SFFT_UNROLL
    for (int i = 0; i < K; ++i) a[i] = v[block + i];
    SFFT_UNROLL
    for (int stage = 1; stage < K; stage *= 2) {
      SFFT_UNROLL
      for (int i = 0; i < K / 2; ++i) interleave_both<W, S>(a[i], a[i + K / 2], b[2 * i], b[2 * i + 1]);
      SFFT_UNROLL
      for (int i = 0; i < K; ++i) a[i] = b[i];
    }
    SFFT_UNROLL
    for (int i = 0; i < K; ++i) store_vector(y + (R < P ? i * W : (i * R + block) * S), a[i]);
  }
}

/// The same for any R and S; chunk p begins at real kFirst + p S. A store may spill into the chunk after it,
/// which is stored next. kExact: writes nothing past the last chunk.
template <class Real, int W, int R, int S, int kFirst, bool kExact, int kP = 0, class V>
SFFT_BUTTERFLY void scatter_chunks(const V* v, Real* y) {
  if constexpr (kP < W / S) {
    constexpr int kStore = S == 1 ? 1 : S == 2 ? 2 : S <= 4 ? 4 : 8;
    constexpr int kChunk = kFirst + kP * S;
    SFFT_UNROLL
    for (int j = 0; j < R; ++j) {
      Real* to = y + (R * kP + j) * S;
      if constexpr (S == 1) {
        *to = v[j][kChunk];
      } else if (kExact && kP == W / S - 1 && j == R - 1) {
        SFFT_UNROLL
        for (int i = 0; i < S; ++i) to[i] = v[j][kChunk + i];
      } else {
        store_vector(to, window<W, kChunk>(v[j], typename CountTo<kStore>::Type()));
      }
    }
    scatter_chunks<Real, W, R, S, kFirst, kExact, kP + 1>(v, y);
  }
}

/// Transforms one vector of (p, q) pairs that starts at xr and xi, or at the complex values xr if kComplex.
/// `roots` and (yr, yi) are those of its first p.
template <class Real, int R, int S, bool kFinal, bool kComplex>
SFFT_BUTTERFLY void narrow_group(const Real* xr, const Real* xi, Real* yr, Real* yi, std::int64_t step,
                                 const Real* roots) {
  constexpr int W = Simd<Real>::kLanes;
  using V = typename VectorOf<Real, W>::Type;
  V re[R], im[R];
  Butterfly<R>::template stream<Real, V>(
      [&](int k, V& x, V& y) SFFT_ALWAYS_INLINE {
        if constexpr (kComplex) {
          load_split<W>(xr + 2 * k * step, x, y);
        } else {
          x = load_vector<V>(xr + k * step);
          y = load_vector<V>(xi + k * step);
        }
      },
      [&](int j, V& x, V& y) SFFT_ALWAYS_INLINE {
        if (j > 0)
          multiply(x, y, load_vector<V>(roots + (2 * j - 2) * W), load_vector<V>(roots + (2 * j - 1) * W));
        re[j] = x;
        im[j] = y;
      });
  if constexpr (power_of_two(R) && power_of_two(S)) {
    scatter_shuffled<Real, W, R, S>(re, yr);
    scatter_shuffled<Real, W, R, S>(im, yi);
  } else {
    constexpr int kFirst = kFinal ? W % S : 0;
    scatter_chunks<Real, W, R, S, kFirst, kFinal>(re, yr);
    scatter_chunks<Real, W, R, S, kFirst, kFinal>(im, yi);
  }
}

template <class Real, int R, int S, bool kComplex>
void narrow_pass(const Real* __restrict xr, const Real* __restrict xi, Real* __restrict yr,
                 Real* __restrict yi, std::int64_t m, std::int64_t s, std::int64_t,
                 const Real* __restrict roots) {
  constexpr int W = Simd<Real>::kLanes, P = W / S, kX = kComplex ? 2 : 1;
  const std::int64_t step = m * s;
  std::int64_t p = 0;
  for (; p + P < m; p += P) {
    narrow_group<Real, R, S, false, kComplex>(xr + kX * p * S, xi + p * S, yr + p * R * S, yi + p * R * S,
                                              step, roots);
    roots += 2 * (R - 1) * W;
  }
  // The final vector ends where the arrays end, so it repeats part of the group before. Its chunks end where
  // it ends.
  const std::int64_t x = step - W, y = (m - P) * R * S;
  narrow_group<Real, R, S, true, kComplex>(xr + kX * x, xi + x, yr + y, yi + y, step, roots);
}

}  // namespace sfft::detail::cpu::SFFT_ISA
