// SPDX-License-Identifier: Apache-2.0
// Transposes rows of complex values to columns in split layout and back, in one pass through memory. Kernel
// sources only.
#pragma once

#include <cstdint>

#include "kernels/cpu/small_fft/small_fft_transpose.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

/// Works by tiles of W rows and W/2 columns, or smaller ones. The last tiles overlap their neighbours.
template <class Real, int W>
void load_transposed_by(const Real* __restrict from, std::int64_t pitch, std::int64_t rows,
                        std::int64_t columns, Real* __restrict re, Real* __restrict im) {
  if constexpr (W == 1) {
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t r = 0; r < rows; ++r) {
        re[c * rows + r] = from[2 * (r * pitch + c)];
        im[c * rows + r] = from[2 * (r * pitch + c) + 1];
      }
    }
  } else {
    constexpr int H = W / 2;
    if (rows < W || columns < H) return load_transposed_by<Real, H>(from, pitch, rows, columns, re, im);
    using V = typename VectorOf<Real, W>::Type;
    for (std::int64_t down = 0; down < rows; down += W) {
      const std::int64_t r = down + W <= rows ? down : rows - W;
      for (std::int64_t across = 0; across < columns; across += H) {
        const std::int64_t c = across + H <= columns ? across : columns - H;
        V low[H], high[H];
        SFFT_UNROLL
        for (int i = 0; i < H; ++i) {
          low[i] = load_vector<V>(from + 2 * ((r + i) * pitch + c));
          high[i] = load_vector<V>(from + 2 * ((r + H + i) * pitch + c));
        }
        transpose_chunks<W, 2>(low);
        transpose_chunks<W, 2>(high);
        SFFT_UNROLL
        for (int i = 0; i < H; ++i) {
          V x, y;
          split_both<W>(low[i], high[i], x, y);
          store_vector(re + (c + i) * rows + r, x);
          store_vector(im + (c + i) * rows + r, y);
        }
      }
    }
  }
}

template <class Real, int W>
void store_transposed_by(const Real* __restrict re, const Real* __restrict im, std::int64_t rows,
                         std::int64_t columns, Real scale, std::int64_t pitch, Real* __restrict to) {
  if constexpr (W == 1) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        to[2 * (r * pitch + c)] = scale * re[c * rows + r];
        to[2 * (r * pitch + c) + 1] = scale * im[c * rows + r];
      }
    }
  } else {
    constexpr int H = W / 2;
    if (rows < W || columns < H) return store_transposed_by<Real, H>(re, im, rows, columns, scale, pitch, to);
    using V = typename VectorOf<Real, W>::Type;
    for (std::int64_t down = 0; down < rows; down += W) {
      const std::int64_t r = down + W <= rows ? down : rows - W;
      for (std::int64_t across = 0; across < columns; across += H) {
        const std::int64_t c = across + H <= columns ? across : columns - H;
        V low[H], high[H];
        SFFT_UNROLL
        for (int i = 0; i < H; ++i) {
          const V x = scale * load_vector<V>(re + (c + i) * rows + r);
          const V y = scale * load_vector<V>(im + (c + i) * rows + r);
          interleave_both<W, 1>(x, y, low[i], high[i]);
        }
        transpose_chunks<W, 2>(low);
        transpose_chunks<W, 2>(high);
        SFFT_UNROLL
        for (int i = 0; i < H; ++i) {
          store_vector(to + 2 * ((r + i) * pitch + c), low[i]);
          store_vector(to + 2 * ((r + H + i) * pitch + c), high[i]);
        }
      }
    }
  }
}

}  // namespace sfft::detail::cpu::SFFT_ISA
