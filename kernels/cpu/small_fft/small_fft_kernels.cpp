// SPDX-License-Identifier: Apache-2.0
// Fills the small FFT's kernel tables for one instruction set: vectors of every width, short runs and
// scalars.
#include "kernels/cpu/small_fft/small_fft_kernels.hpp"

#include <utility>

#include "kernels/base/radices.hpp"
#include "kernels/cpu/small_fft/small_fft_complex.hpp"
#include "kernels/cpu/small_fft/small_fft_narrow.hpp"
#include "kernels/cpu/small_fft/small_fft_pass.hpp"
#include "kernels/cpu/small_fft/small_fft_transpose.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

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
