// SPDX-License-Identifier: Apache-2.0
// Transposes matrices of reals by shuffles. Kernel sources only.
#pragma once

#include <cstdint>

#include "kernels/cpu/small_fft/small_fft_kernels.hpp"
#include "kernels/cpu/small_fft/small_fft_narrow.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

/// Exchanges chunk p of vector j and chunk j of vector p, for W/S vectors of W/S chunks of S reals.
template <int W, int S, class V>
SFFT_BUTTERFLY void transpose_chunks(V* v) {
  constexpr int P = W / S;
  V b[P];
  SFFT_UNROLL
  for (int stage = 1; stage < P; stage *= 2) {
    SFFT_UNROLL
    for (int i = 0; i < P / 2; ++i) interleave_both<W, S>(v[i], v[i + P / 2], b[2 * i], b[2 * i + 1]);
    SFFT_UNROLL
    for (int i = 0; i < P; ++i) v[i] = b[i];
  }
}

/// The source vector and lane of lane i of result `out` in a group of W rows of B reals. kDown: results are
/// columns, sources are the group as stored; otherwise the reverse.
template <int W, int B, bool kDown>
constexpr int source_vector(int out, int i) {
  return kDown ? (i * B + out) / W : (out * W + i) % B;
}
template <int W, int B, bool kDown>
constexpr int source_lane(int out, int i) {
  return kDown ? (i * B + out) % W : (out * W + i) / B;
}

/// Collects result kOut from the vectors v, one source after another.
template <int W, int B, bool kDown, int kOut, int kSource, class V, int... I>
SFFT_BUTTERFLY V collect(const V& so_far, const V* v, Indices<I...> lanes) {
  if constexpr (kSource == B) {
    return so_far;
  } else {
    const V next = __builtin_shufflevector(
        so_far, v[kSource],
        (source_vector<W, B, kDown>(kOut, I) == kSource ? W + source_lane<W, B, kDown>(kOut, I)
         : kSource == 1                                 ? source_lane<W, B, kDown>(kOut, I)
                                                        : I)...);
    return collect<W, B, kDown, kOut, kSource + 1>(next, v, lanes);
  }
}

/// Stores the B results of one group of W rows of B reals, `pitch` reals apart.
template <class Real, int W, int B, bool kDown, int kOut = 0, class V>
SFFT_BUTTERFLY void store_collected(const V* v, Real* to, std::int64_t pitch) {
  if constexpr (kOut < B) {
    store_vector(to + kOut * pitch, collect<W, B, kDown, kOut, 1>(v[0], v, typename CountTo<W>::Type()));
    store_collected<Real, W, B, kDown, kOut + 1>(v, to, pitch);
  }
}

/// kDown: from `length` rows of B reals to B rows; otherwise the reverse. `length` is at least a vector; the
/// last group overlaps the one before.
template <class Real, int B, bool kDown>
void transpose_narrow(const Real* __restrict x, std::int64_t length, Real* __restrict y) {
  constexpr int W = Simd<Real>::kLanes;
  using V = typename Simd<Real>::Vector;
  for (std::int64_t run = 0; run < length; run += W) {
    const std::int64_t at = run + W <= length ? run : length - W;
    V v[B];
    SFFT_UNROLL
    for (int b = 0; b < B; ++b) v[b] = load_vector<V>(kDown ? x + at * B + b * W : x + b * length + at);
    store_collected<Real, W, B, kDown>(v, kDown ? y + at : y + at * B, kDown ? length : W);
  }
}

/// Transposes matrices with one dimension in 2 … kMaxNarrow and the other at least a vector. Returns false
/// for others.
template <class Real, int B = 2>
bool try_narrow(const Real* x, std::int64_t rows, std::int64_t columns, Real* y) {
  if constexpr (B > kMaxNarrow) {
    return false;
  } else {
    constexpr std::int64_t W = Simd<Real>::kLanes;
    if (columns == B && rows >= W) {
      transpose_narrow<Real, B, true>(x, rows, y);
    } else if (rows == B && columns >= W) {
      transpose_narrow<Real, B, false>(x, columns, y);
    } else {
      return try_narrow<Real, B + 1>(x, rows, columns, y);
    }
    return true;
  }
}

/// Transposes by tiles of W × W, or smaller ones for shorter dimensions. The last tiles overlap.
template <class Real, int W>
void transpose_tiles(const Real* __restrict x, std::int64_t rows, std::int64_t columns, Real* __restrict y) {
  if constexpr (W < 4) {
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t r = 0; r < rows; ++r) y[c * rows + r] = x[r * columns + c];
  } else {
    if (rows < W || columns < W) return transpose_tiles<Real, W / 2>(x, rows, columns, y);
    using V = typename VectorOf<Real, W>::Type;
    for (std::int64_t down = 0; down < rows; down += W) {
      const std::int64_t r = down + W <= rows ? down : rows - W;
      for (std::int64_t across = 0; across < columns; across += W) {
        const std::int64_t c = across + W <= columns ? across : columns - W;
        V v[W];
        SFFT_UNROLL
        for (int i = 0; i < W; ++i) v[i] = load_vector<V>(x + (r + i) * columns + c);
        transpose_chunks<W, 1>(v);
        SFFT_UNROLL
        for (int i = 0; i < W; ++i) store_vector(y + (c + i) * rows + r, v[i]);
      }
    }
  }
}

template <class Real>
void transpose(const Real* __restrict x, std::int64_t rows, std::int64_t columns, Real* __restrict y) {
  if (!try_narrow(x, rows, columns, y)) transpose_tiles<Real, Simd<Real>::kLanes>(x, rows, columns, y);
}

}  // namespace sfft::detail::cpu::SFFT_ISA
