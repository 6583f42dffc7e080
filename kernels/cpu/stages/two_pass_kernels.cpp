// SPDX-License-Identifier: Apache-2.0
// Plain loops over eight lanes that the compiler turns into vectors; the transposition is three perfect
// shuffles where a vector has eight lanes.
#include "kernels/cpu/small_fft/small_fft_narrow.hpp"
#include "kernels/cpu/stages/two_pass.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

constexpr int kLanes = kTwoPassLanes;
using V = VectorOf<double, kLanes>::Type;

template <class T>
void load_complex(const void* from, std::int64_t stride, std::int64_t rows, double* __restrict re,
                  double* __restrict im) {
  const T* x = static_cast<const T*>(from);
  for (std::int64_t r = 0; r < rows; ++r, x += 2 * stride, re += kLanes, im += kLanes) {
    for (int c = 0; c < kLanes; ++c) {
      re[c] = static_cast<double>(x[2 * c]);
      im[c] = static_cast<double>(x[2 * c + 1]);
    }
  }
}

/// Eight complex floats are two loads and two shuffles where a vector holds them.
template <>
void load_complex<float>(const void* from, std::int64_t stride, std::int64_t rows, double* __restrict re,
                         double* __restrict im) {
  using Pairs = VectorOf<float, 2 * kLanes>::Type;
  const float* x = static_cast<const float*>(from);
  for (std::int64_t r = 0; r < rows; ++r, x += 2 * stride, re += kLanes, im += kLanes) {
    const Pairs pairs = load_vector<Pairs>(x);
    store_vector(
        re, __builtin_convertvector(__builtin_shufflevector(pairs, pairs, 0, 2, 4, 6, 8, 10, 12, 14), V));
    store_vector(
        im, __builtin_convertvector(__builtin_shufflevector(pairs, pairs, 1, 3, 5, 7, 9, 11, 13, 15), V));
  }
}

template <class T>
void load_real(const void* from, std::int64_t stride, std::int64_t rows, double* __restrict re,
               double* __restrict im) {
  const T* x = static_cast<const T*>(from);
  for (std::int64_t r = 0; r < rows; ++r, x += stride, re += kLanes, im += kLanes) {
    for (int c = 0; c < kLanes; ++c) re[c] = static_cast<double>(x[c]);
    for (int c = 0; c < kLanes; ++c) im[c] = static_cast<double>(x[kLanes + c]);
  }
}

void separate(const double* __restrict re, const double* __restrict im, std::int64_t n,
              double* __restrict a_re, double* __restrict a_im, double* __restrict b_re,
              double* __restrict b_im) {
  for (std::int64_t f = 0; f <= n / 2; ++f) {
    const std::int64_t mirrored = f == 0 ? 0 : n - f;
    const V low_re = load_vector<V>(re + f * kLanes), low_im = load_vector<V>(im + f * kLanes);
    const V high_re = load_vector<V>(re + mirrored * kLanes),
            high_im = load_vector<V>(im + mirrored * kLanes);
    store_vector(a_re + f * kLanes, 0.5 * (low_re + high_re));
    store_vector(a_im + f * kLanes, 0.5 * (low_im - high_im));
    store_vector(b_re + f * kLanes, 0.5 * (low_im + high_im));
    store_vector(b_im + f * kLanes, 0.5 * (high_re - low_re));
  }
}

/// to[8 c + r] = rows[r][c].
SFFT_BUTTERFLY void store_transposed(V* rows, double* to) {
  if constexpr (Simd<double>::kLanes == kLanes) {
    scatter_shuffled<double, kLanes, kLanes, 1>(rows, to);
  } else {
    for (int r = 0; r < kLanes; ++r) {
      for (int c = 0; c < kLanes; ++c) to[c * kLanes + r] = rows[r][c];
    }
  }
}

void turn(const double* re, const double* im, const TurnRoots& roots, double* to_re, double* to_im) {
  V far_re = load_vector<V>(roots.far), far_im = load_vector<V>(roots.far + kLanes);
  multiply(far_re, far_im, load_vector<V>(roots.middle), load_vector<V>(roots.middle + kLanes));
  V out_re[kLanes], out_im[kLanes];
  SFFT_UNROLL
  for (int r = 0; r < kLanes; ++r) {
    V root_re = load_vector<V>(roots.near + 2 * r * kLanes),
      root_im = load_vector<V>(roots.near + (2 * r + 1) * kLanes);
    multiply(root_re, root_im, far_re, far_im);
    V x = load_vector<V>(re + r * kLanes), y = load_vector<V>(im + r * kLanes);
    multiply(x, y, root_re, root_im);
    out_re[r] = x;
    out_im[r] = y;
  }
  store_transposed(out_re, to_re);
  store_transposed(out_im, to_im);
}

constexpr TwoPassKernels kTable{{load_real<std::uint8_t>, load_real<std::uint16_t>, load_real<float>,
                                 load_real<double>, load_complex<float>, load_complex<double>},
                                separate,
                                turn};

}  // namespace

const TwoPassKernels& two_pass_table() noexcept {
  return kTable;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
