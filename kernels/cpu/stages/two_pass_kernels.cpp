// SPDX-License-Identifier: Apache-2.0
// Plain loops over eight lanes that the compiler vectorises; with eight lanes per vector the transposition is
// three perfect shuffles.
#include "kernels/cpu/stages/two_pass.hpp"

#include <type_traits>

#include "kernels/cpu/small_fft/small_fft_narrow.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

constexpr int kLanes = kTwoPassLanes;
template <class Real>
using V = typename VectorOf<Real, kLanes>::Type;

/// Prefetches, because hardware does not follow rows that are far apart.
template <int kWrite, class T>
SFFT_BUTTERFLY void prefetch_row(const T* x, std::int64_t stride, std::int64_t rows_left) {
  constexpr std::int64_t kAhead = 16, kLine = 64 / static_cast<std::int64_t>(sizeof(T));
  if (rows_left <= kAhead) return;
  for (std::int64_t at = 0; at < 2 * kLanes; at += kLine)
    __builtin_prefetch(x + kAhead * stride + at, kWrite);
}

template <class Real, class T>
void load_complex(const void* from, std::int64_t stride, std::int64_t rows, Real* __restrict re,
                  Real* __restrict im) {
  const T* x = static_cast<const T*>(from);
  for (std::int64_t r = 0; r < rows; ++r, x += 2 * stride, re += kLanes, im += kLanes) {
    prefetch_row<0>(x, 2 * stride, rows - r);
    if constexpr (std::is_same_v<T, float>) {
      // Eight complex floats take two loads and two shuffles if a vector is long enough.
      const auto pairs = load_vector<typename VectorOf<T, 2 * kLanes>::Type>(x);
      store_vector(re, __builtin_convertvector(
                           __builtin_shufflevector(pairs, pairs, 0, 2, 4, 6, 8, 10, 12, 14), V<Real>));
      store_vector(im, __builtin_convertvector(
                           __builtin_shufflevector(pairs, pairs, 1, 3, 5, 7, 9, 11, 13, 15), V<Real>));
    } else {
      for (int c = 0; c < kLanes; ++c) {
        re[c] = static_cast<Real>(x[2 * c]);
        im[c] = static_cast<Real>(x[2 * c + 1]);
      }
    }
  }
}

template <class Real, class T>
void load_real(const void* from, std::int64_t stride, std::int64_t rows, Real* __restrict re,
               Real* __restrict im) {
  const T* x = static_cast<const T*>(from);
  for (std::int64_t r = 0; r < rows; ++r, x += stride, re += kLanes, im += kLanes) {
    prefetch_row<0>(x, stride, rows - r);
    for (int c = 0; c < kLanes; ++c) re[c] = static_cast<Real>(x[c]);
    for (int c = 0; c < kLanes; ++c) im[c] = static_cast<Real>(x[kLanes + c]);
  }
}

template <class Real>
void separate(const Real* __restrict re, const Real* __restrict im, std::int64_t n, Real* __restrict a_re,
              Real* __restrict a_im, Real* __restrict b_re, Real* __restrict b_im) {
  constexpr Real kHalf = 0.5;
  for (std::int64_t f = 0; f <= n / 2; ++f) {
    const std::int64_t mirrored = f == 0 ? 0 : n - f;
    const auto low_re = load_vector<V<Real>>(re + f * kLanes), low_im = load_vector<V<Real>>(im + f * kLanes);
    const auto high_re = load_vector<V<Real>>(re + mirrored * kLanes),
               high_im = load_vector<V<Real>>(im + mirrored * kLanes);
    store_vector(a_re + f * kLanes, kHalf * (low_re + high_re));
    store_vector(a_im + f * kLanes, kHalf * (low_im - high_im));
    store_vector(b_re + f * kLanes, kHalf * (low_im + high_im));
    store_vector(b_im + f * kLanes, kHalf * (high_re - low_re));
  }
}

/// to[8 c + r] = rows[r][c].
template <class Real>
SFFT_BUTTERFLY void store_transposed(V<Real>* rows, Real* to) {
  if constexpr (Simd<Real>::kLanes >= kLanes) {
    scatter_shuffled<Real, kLanes, kLanes, 1>(rows, to);
  } else {
    for (int r = 0; r < kLanes; ++r) {
      for (int c = 0; c < kLanes; ++c) to[c * kLanes + r] = rows[r][c];
    }
  }
}

template <class Real>
void turn(const Real* re, const Real* im, const TurnRoots<Real>& roots, Real* to_re, Real* to_im) {
  auto far_re = load_vector<V<Real>>(roots.far), far_im = load_vector<V<Real>>(roots.far + kLanes);
  multiply(far_re, far_im, load_vector<V<Real>>(roots.middle), load_vector<V<Real>>(roots.middle + kLanes));
  V<Real> out_re[kLanes], out_im[kLanes];
  SFFT_UNROLL
  for (int r = 0; r < kLanes; ++r) {
    auto root_re = load_vector<V<Real>>(roots.near + 2 * r * kLanes),
         root_im = load_vector<V<Real>>(roots.near + (2 * r + 1) * kLanes);
    multiply(root_re, root_im, far_re, far_im);
    auto x = load_vector<V<Real>>(re + r * kLanes), y = load_vector<V<Real>>(im + r * kLanes);
    multiply(x, y, root_re, root_im);
    out_re[r] = x;
    out_im[r] = y;
  }
  store_transposed<Real>(out_re, to_re);
  store_transposed<Real>(out_im, to_im);
}

template <class Real>
void store(const Real* __restrict re, const Real* __restrict im, std::int64_t rows, int first, Real scale,
           std::int64_t stride, Real* __restrict to) {
  for (std::int64_t r = 0; r < rows; ++r, re += kLanes, im += kLanes, to += 2 * stride) {
    prefetch_row<1>(to, 2 * stride, rows - r);
    if (first == 0) {
      for (int c = 0; c < kLanes; ++c) {
        to[2 * c] = scale * re[c];
        to[2 * c + 1] = scale * im[c];
      }
    } else {
      for (int c = first; c < kLanes; ++c) {
        to[2 * c] = scale * re[c];
        to[2 * c + 1] = scale * im[c];
      }
    }
  }
}

template <class Real>
constexpr TwoPassKernels<Real> kTable{
    {load_real<Real, std::uint8_t>, load_real<Real, std::uint16_t>, load_real<Real, float>,
     load_real<Real, double>, load_complex<Real, float>, load_complex<Real, double>,
     load_real<Real, std::int8_t>, load_real<Real, std::int16_t>, load_real<Real, std::int32_t>,
     load_complex<Real, std::int8_t>, load_complex<Real, std::int16_t>, load_complex<Real, OffsetByte>},
    separate<Real>,
    turn<Real>,
    store<Real>};

}  // namespace

const TwoPassKernels<float>& two_pass_table_float() noexcept {
  return kTable<float>;
}
const TwoPassKernels<double>& two_pass_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
