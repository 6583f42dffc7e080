// SPDX-License-Identifier: Apache-2.0
// Fills the small FFT's kernel tables for one instruction set: vectors of every width, short runs and
// scalars.
#include "kernels/cpu/small_fft/small_fft_kernels.hpp"

#include <cstdint>
#include <utility>

#include "kernels/base/radix/radices.hpp"
#include "kernels/cpu/small_fft/small_fft_narrow.hpp"
#include "kernels/cpu/small_fft/small_fft_pass.hpp"
#include "kernels/cpu/small_fft/small_fft_transpose.hpp"

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

namespace {

/// Reals per vector at a level; a level with fewer than two is scalar.
template <class Real>
constexpr int level_reals(int level) {
  return level == kLevels - 1 || (Simd<Real>::kLanes >> level) < 2 ? 1 : Simd<Real>::kLanes >> level;
}

template <class Real, int kLevel, int R>
constexpr void add_wide(SmallFftKernels<Real>& table) {
  table.wide[kLevel][R] = wide_pass<Real, level_reals<Real>(kLevel), R, true>;
  table.last[kLevel][R] = wide_pass<Real, level_reals<Real>(kLevel), R, false>;
  if constexpr (kLevel == 0) {
    table.from_complex[R] = complex_pass<Real, R, true, false>;
    table.to_complex[R] = complex_pass<Real, R, false, true>;
    table.all_complex[R] = complex_pass<Real, R, true, true>;
  }
}

template <class Real, int R, int S>
constexpr void add_narrow(SmallFftKernels<Real>& table) {
  if constexpr (2 * S <= Simd<Real>::kLanes) {
    table.narrow[S][R] = narrow_pass<Real, R, S, false>;
    // Deinterleaving needs a number of registers that only AVX-512 has.
    if constexpr (S == 1 && SFFT_VECTOR_BYTES == 64)
      table.narrow_from_complex[R] = narrow_pass<Real, R, S, true>;
    table.narrow_group[S] = Simd<Real>::kLanes / S;
  }
}

/// All rows of the radix list that have kernels here.
template <class Real, int kLevel, std::size_t... I>
constexpr void add_wide_rows(SmallFftKernels<Real>& table, std::index_sequence<I...>) {
  const auto add = [&]<std::size_t J>() {
    if constexpr (kRadices[J].first_level_ns > 0) add_wide<Real, kLevel, kRadices[J].radix>(table);
  };
  (add.template operator()<I>(), ...);
}

template <class Real, int S, std::size_t... I>
constexpr void add_narrow_rows(SmallFftKernels<Real>& table, std::index_sequence<I...>) {
  const auto add = [&]<std::size_t J>() {
    if constexpr (kRadices[J].narrow) add_narrow<Real, kRadices[J].radix, S>(table);
  };
  (add.template operator()<I>(), ...);
}

template <class Real, int kLevel>
constexpr void add_level(SmallFftKernels<Real>& table) {
  table.level_reals[kLevel] = level_reals<Real>(kLevel);
  table.odd[kLevel] = odd_pass<Real, level_reals<Real>(kLevel), kMaxOddRadix>;
  add_wide_rows<Real, kLevel>(table, std::make_index_sequence<kRadixCount>());
}

template <class Real, int S>
constexpr void add_run(SmallFftKernels<Real>& table) {
  add_narrow_rows<Real, S>(table, std::make_index_sequence<kRadixCount>());
}

template <class Real>
void modulate(const Real* xr, const Real* xi, std::int64_t x_stride, Real* yr, Real* yi,
              std::int64_t y_stride, std::int64_t rows, std::int64_t columns, const Real* factor_re,
              const Real* factor_im) {
  using V = typename Simd<Real>::Vector;
  constexpr std::int64_t kReals = Simd<Real>::kLanes;
  std::int64_t r = 0;
  if (columns == 1 && x_stride == 1 && y_stride == 1) {
    for (; r + kReals <= rows; r += kReals) {
      V re = load_vector<V>(xr + r), im = load_vector<V>(xi + r);
      multiply(re, im, load_vector<V>(factor_re + r), load_vector<V>(factor_im + r));
      store_vector(yr + r, re);
      store_vector(yi + r, im);
    }
  }
  for (; r < rows; ++r) {
    const std::int64_t x = r * x_stride, y = r * y_stride;
    std::int64_t l = 0;
    for (; l + kReals <= columns; l += kReals) {
      V re = load_vector<V>(xr + x + l), im = load_vector<V>(xi + x + l);
      multiply(re, im, factor_re[r], factor_im[r]);
      store_vector(yr + y + l, re);
      store_vector(yi + y + l, im);
    }
    for (; l < columns; ++l) {
      Real re = xr[x + l], im = xi[x + l];
      multiply(re, im, factor_re[r], factor_im[r]);
      yr[y + l] = re;
      yi[y + l] = im;
    }
  }
}

template <class Real>
constexpr SmallFftKernels<Real> make_table() {
  SmallFftKernels<Real> table{};
  table.modulate = modulate<Real>;
  table.transpose = transpose<Real>;
  add_level<Real, 0>(table);
  add_level<Real, 1>(table);
  add_level<Real, 2>(table);
  add_level<Real, 3>(table);
  add_run<Real, 1>(table);
  add_run<Real, 2>(table);
  add_run<Real, 3>(table);
  add_run<Real, 4>(table);
  add_run<Real, 5>(table);
  add_run<Real, 6>(table);
  add_run<Real, 7>(table);
  add_run<Real, 8>(table);
  return table;
}

constexpr SmallFftKernels<float> kFloatTable = make_table<float>();
constexpr SmallFftKernels<double> kDoubleTable = make_table<double>();

}  // namespace

const SmallFftKernels<float>& small_fft_table_float() noexcept {
  return kFloatTable;
}
const SmallFftKernels<double>& small_fft_table_double() noexcept {
  return kDoubleTable;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
