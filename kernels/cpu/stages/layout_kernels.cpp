// SPDX-License-Identifier: Apache-2.0
// The layout changes of the dense engine for one instruction set: plain loops that the compiler vectorises.
#include "kernels/cpu/stages/layout.hpp"

#include <cstdint>
#include <type_traits>

#include "kernels/cpu/small_fft/small_fft_transpose.hpp"
#include "kernels/cpu/stages/layout_real.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

/// W parts as numbers. Bytes are widened in steps, for which GCC 12 has instructions.
template <class Real, int W, class Part>
SFFT_BUTTERFLY typename VectorOf<Real, W>::Type load_parts(const Part* from) {
  if constexpr (std::is_same_v<Part, OffsetByte>) {
    return load_parts<Real, W>(&from->byte) - static_cast<Real>(127.5);
  } else {
    const auto parts = load_vector<typename VectorOf<Part, W>::Type>(from);
    using V = typename VectorOf<Real, W>::Type;
    using Short = typename VectorOf<std::int16_t, W>::Type;
    using Integer = typename VectorOf<std::int32_t, W>::Type;
    if constexpr (sizeof(Part) == 1) {
      return __builtin_convertvector(__builtin_convertvector(__builtin_convertvector(parts, Short), Integer),
                                     V);
    } else if constexpr (sizeof(Part) == 2) {
      return __builtin_convertvector(__builtin_convertvector(parts, Integer), V);
    } else {
      return __builtin_convertvector(parts, V);
    }
  }
}

/// Works by tiles of W rows and W/2 columns, or smaller ones. The last tiles overlap their neighbours.
template <class Real, class Part, int W>
void load_transposed_by(const Part* __restrict from, std::int64_t pitch, std::int64_t rows,
                        std::int64_t columns, std::int64_t split_pitch, Real* __restrict re,
                        Real* __restrict im) {
  if constexpr (W == 1) {
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t r = 0; r < rows; ++r) {
        re[c * split_pitch + r] = static_cast<Real>(from[2 * (r * pitch + c)]);
        im[c * split_pitch + r] = static_cast<Real>(from[2 * (r * pitch + c) + 1]);
      }
    }
  } else {
    constexpr int H = W / 2;
    if (rows < W || columns < H)
      return load_transposed_by<Real, Part, H>(from, pitch, rows, columns, split_pitch, re, im);
    using V = typename VectorOf<Real, W>::Type;
    for (std::int64_t down = 0; down < rows; down += W) {
      const std::int64_t r = down + W <= rows ? down : rows - W;
      for (std::int64_t across = 0; across < columns; across += H) {
        const std::int64_t c = across + H <= columns ? across : columns - H;
        V low[H], high[H];
        SFFT_UNROLL
        for (int i = 0; i < H; ++i) {
          low[i] = load_parts<Real, W>(from + 2 * ((r + i) * pitch + c));
          high[i] = load_parts<Real, W>(from + 2 * ((r + H + i) * pitch + c));
        }
        transpose_chunks<W, 2>(low);
        transpose_chunks<W, 2>(high);
        SFFT_UNROLL
        for (int i = 0; i < H; ++i) {
          V x, y;
          split_both<W>(low[i], high[i], x, y);
          store_vector(re + (c + i) * split_pitch + r, x);
          store_vector(im + (c + i) * split_pitch + r, y);
        }
      }
    }
  }
}

template <class Real, int W>
void store_transposed_by(const Real* __restrict re, const Real* __restrict im, std::int64_t rows,
                         std::int64_t columns, std::int64_t split_pitch, Real scale, std::int64_t pitch,
                         Real* __restrict to) {
  if constexpr (W == 1) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        to[2 * (r * pitch + c)] = scale * re[c * split_pitch + r];
        to[2 * (r * pitch + c) + 1] = scale * im[c * split_pitch + r];
      }
    }
  } else {
    constexpr int H = W / 2;
    if (rows < W || columns < H)
      return store_transposed_by<Real, H>(re, im, rows, columns, split_pitch, scale, pitch, to);
    using V = typename VectorOf<Real, W>::Type;
    for (std::int64_t down = 0; down < rows; down += W) {
      const std::int64_t r = down + W <= rows ? down : rows - W;
      for (std::int64_t across = 0; across < columns; across += H) {
        const std::int64_t c = across + H <= columns ? across : columns - H;
        V low[H], high[H];
        SFFT_UNROLL
        for (int i = 0; i < H; ++i) {
          const V x = scale * load_vector<V>(re + (c + i) * split_pitch + r);
          const V y = scale * load_vector<V>(im + (c + i) * split_pitch + r);
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

namespace {

template <class Real, class T>
void deinterleave(const void* from, std::int64_t count, Real* __restrict re, Real* __restrict im) {
  const T* __restrict x = static_cast<const T*>(from);
  for (std::int64_t t = 0; t < count; ++t) {
    re[t] = static_cast<Real>(x[2 * t]);
    im[t] = static_cast<Real>(x[2 * t + 1]);
  }
}

template <class Real, class T>
void widen(const void* from, std::int64_t count, Real* __restrict re, Real* __restrict im) {
  const T* __restrict x = static_cast<const T*>(from);
  for (std::int64_t t = 0; t < count; ++t) {
    re[t] = static_cast<Real>(x[t]);
    im[t] = 0;
  }
}

template <class Real, class Part>
void load_transposed(const void* from, std::int64_t pitch, std::int64_t rows, std::int64_t columns,
                     std::int64_t split_pitch, Real* re, Real* im) {
  // Sixteen bytes at a time take four times the code of eight.
  constexpr int kLanes = Simd<Real>::kLanes, kMax = sizeof(Part) == 1 && kLanes > 8 ? 8 : kLanes;
  load_transposed_by<Real, Part, kMax>(static_cast<const Part*>(from), pitch, rows, columns, split_pitch, re,
                                       im);
}

template <class Real>
void interleave(const Real* __restrict re, const Real* __restrict im, std::int64_t count, Real scale,
                Real* __restrict to) {
  for (std::int64_t t = 0; t < count; ++t) {
    to[2 * t] = scale * re[t];
    to[2 * t + 1] = scale * im[t];
  }
}

template <class Real>
void turn_rows(Real* __restrict re, Real* __restrict im, std::int64_t rows, std::int64_t columns,
               const Real* __restrict near_re, const Real* __restrict near_im, const Real* __restrict far_re,
               const Real* __restrict far_im) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t row = r * columns;
    for (std::int64_t c = 0; c < columns; ++c) {
      const Real c_re = far_re[c] * near_re[row + c] - far_im[c] * near_im[row + c],
                 c_im = far_re[c] * near_im[row + c] + far_im[c] * near_re[row + c];
      const Real x = re[row + c], y = im[row + c];
      re[row + c] = x * c_re - y * c_im;
      im[row + c] = x * c_im + y * c_re;
    }
  }
}

/// Prefetch distance in rows: hardware prefetchers do not follow rows that are far apart.
template <int kWrite, class Real>
SFFT_BUTTERFLY void prefetch_row(const Real* row, std::int64_t columns, std::int64_t pitch,
                                 std::int64_t rows_left) {
  constexpr std::int64_t kAhead = 16, kLine = 64 / static_cast<std::int64_t>(sizeof(Real));
  if (rows_left <= kAhead) return;
  for (std::int64_t at = 0; at < 2 * columns; at += kLine)
    __builtin_prefetch(row + 2 * kAhead * pitch + at, kWrite);
}

/// Works by vectors of W reals, or smaller ones if rows are shorter. The last vector of a row overlaps the
/// one before.
template <class Real, int W>
void load_rows_by(const Real* __restrict from, std::int64_t pitch, std::int64_t rows, std::int64_t columns,
                  Real* __restrict re, Real* __restrict im) {
  if constexpr (W >= 4) {
    if (columns < W) return load_rows_by<Real, W / 2>(from, pitch, rows, columns, re, im);
  }
  for (std::int64_t r = 0; r < rows; ++r, from += 2 * pitch, re += columns, im += columns) {
    prefetch_row<0>(from, columns, pitch, rows - r);
    if constexpr (W >= 4) {
      using V = typename VectorOf<Real, W>::Type;
      for (std::int64_t run = 0; run < columns; run += W) {
        const std::int64_t c = run + W <= columns ? run : columns - W;
        V x, y;
        load_split<W>(from + 2 * c, x, y);
        store_vector(re + c, x);
        store_vector(im + c, y);
      }
    } else {
      for (std::int64_t c = 0; c < columns; ++c) {
        re[c] = from[2 * c];
        im[c] = from[2 * c + 1];
      }
    }
  }
}

template <class Real, int W>
void store_rows_by(const Real* __restrict re, const Real* __restrict im, std::int64_t rows,
                   std::int64_t columns, std::int64_t pitch, Real* __restrict to) {
  if constexpr (W >= 4) {
    if (columns < W) return store_rows_by<Real, W / 2>(re, im, rows, columns, pitch, to);
  }
  for (std::int64_t r = 0; r < rows; ++r, to += 2 * pitch, re += columns, im += columns) {
    prefetch_row<1>(to, columns, pitch, rows - r);
    if constexpr (W >= 4) {
      using V = typename VectorOf<Real, W>::Type;
      for (std::int64_t run = 0; run < columns; run += W) {
        const std::int64_t c = run + W <= columns ? run : columns - W;
        store_joined<W>(load_vector<V>(re + c), load_vector<V>(im + c), to + 2 * c);
      }
    } else {
      for (std::int64_t c = 0; c < columns; ++c) {
        to[2 * c] = re[c];
        to[2 * c + 1] = im[c];
      }
    }
  }
}

/// Adds sums and squares of bytes: a vector instruction adds 16-bit products to 32-bit sums.
template <class Byte>
void add_moments_of_bytes(const Byte* x, std::int64_t count, double* sum, double* squares) {
  constexpr std::int64_t kBlock = std::int64_t{1} << 15;  // 255² times this fits in 32 bits
  for (std::int64_t start = 0; start < count; start += kBlock) {
    const std::int64_t end = start + kBlock < count ? start + kBlock : count;
    std::int32_t values = 0, powers = 0;
    for (std::int64_t t = start; t < end; ++t) {
      const auto value = static_cast<std::int16_t>(x[t]);
      values += value;
      powers += std::int32_t{value} * std::int32_t{value};
    }
    *sum += values;
    *squares += powers;
  }
}

/// Works in blocks whose sums fit the accumulators. Several accumulators keep additions from waiting
/// for each other.
template <class T>
void add_moments(const void* from, std::int64_t count, double* sum, double* squares) {
  using Sum = std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, double>;
  constexpr std::int64_t kLanes = 16, kBlock = std::int64_t{1} << 15;
  const T* x = static_cast<const T*>(from);
  if constexpr (sizeof(T) == 1) return add_moments_of_bytes(x, count, sum, squares);
  while (count > 0) {
    const std::int64_t block = count < kBlock ? count : kBlock;
    Sum sums[kLanes] = {}, powers[kLanes] = {};
    const std::int64_t whole = block / kLanes * kLanes;
    for (std::int64_t t = 0; t < whole; t += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        const auto value = static_cast<Sum>(x[t + lane]);
        sums[lane] += value;
        powers[lane] += value * value;
      }
    }
    for (std::int64_t t = whole; t < block; ++t) {
      const auto value = static_cast<Sum>(x[t]);
      sums[0] += value;
      powers[0] += value * value;
    }
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      *sum += static_cast<double>(sums[lane]);
      *squares += static_cast<double>(powers[lane]);
    }
    x += block;
    count -= block;
  }
}

template <class Real>
constexpr LayoutKernels<Real> kTable{
    {deinterleave<Real, std::uint8_t>, deinterleave<Real, std::uint16_t>, deinterleave<Real, float>,
     deinterleave<Real, double>, deinterleave<Real, std::int8_t>, deinterleave<Real, std::int16_t>,
     deinterleave<Real, std::int32_t>, deinterleave<Real, OffsetByte>},
    {widen<Real, std::uint8_t>, widen<Real, std::uint16_t>, widen<Real, float>, widen<Real, double>,
     widen<Real, std::int8_t>, widen<Real, std::int16_t>, widen<Real, std::int32_t>, nullptr},
    interleave<Real>,
    load_rows_by<Real, Simd<Real>::kLanes>,
    store_rows_by<Real, Simd<Real>::kLanes>,
    {load_transposed<Real, std::uint8_t>, load_transposed<Real, std::uint16_t>, load_transposed<Real, float>,
     load_transposed<Real, double>, load_transposed<Real, std::int8_t>, load_transposed<Real, std::int16_t>,
     load_transposed<Real, std::int32_t>, load_transposed<Real, OffsetByte>},
    store_transposed_by<Real, Simd<Real>::kLanes>,
    turn_rows<Real>,
    unpack_real_by<Real, Simd<Real>::kLanes>,
    pack_real<Real>,
    unpack_real_lanes_by<Real, Simd<Real>::kLanes>,
    pack_real_lanes_by<Real, Simd<Real>::kLanes>,
    separate<Real>,
    unite<Real>,
    {add_moments<std::uint8_t>, add_moments<std::uint16_t>, add_moments<float>, add_moments<double>,
     add_moments<std::int8_t>, add_moments<std::int16_t>, add_moments<std::int32_t>, nullptr}};

}  // namespace

const LayoutKernels<float>& layout_table_float() noexcept {
  return kTable<float>;
}
const LayoutKernels<double>& layout_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
