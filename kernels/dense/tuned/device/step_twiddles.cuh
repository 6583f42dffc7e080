// SPDX-License-Identifier: Apache-2.0
// Twiddle factors between the steps of a transform.
#pragma once

#include "kernels/dense/tuned/device/tile.cuh"

namespace sfft::device {

template <class Real>
__device__ __forceinline__ Complex<Real> times(const Complex<Real>& a, const Complex<Real>& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class Real>
__device__ __forceinline__ Complex<Real> conjugate(const Complex<Real>& z) {
  return {z.re, -z.im};
}

template <class K>
class StepTwiddles {
  using Line = device::Line<K>;
  using Real = typename Line::Real;
  using Value = Complex<Real>;
  using Last = Pass<Line, Line::kPasses - 1>;

 public:
  /// exp(−2πi exponent/modulus), where 0 <= exponent < modulus.
  static __device__ __forceinline__ Value root(const StepTables& tables, unsigned long long exponent) {
    const auto* coarse = static_cast<const Value*>(tables.coarse);
    const auto* fine = static_cast<const Value*>(tables.fine);
    constexpr int kBits = K::step.twiddle.fine_bits();
    constexpr unsigned kMask = (1u << kBits) - 1;
    const auto index = static_cast<unsigned>(exponent);
    return times(coarse[index >> kBits], fine[index & kMask]);
  }

  /// Multiplies output j of a line by w^(v j). A thread's outputs are M apart, so the factors are that of its
  /// first output times powers of w^(v M). With two dimensions, all outputs of a row have the same factor.
  static __device__ __forceinline__ void apply(const Tile<K>& memory, const StepTables& tables,
                                               const Seat& own, Real* re, Real* im) {
    const auto v = static_cast<unsigned long long>(memory.twiddle_index(memory.readable(own.line)));
    Value power[Last::R];
    if constexpr (!Last::kOfRows) {
#pragma unroll
      for (int k = 1; k < Last::R; ++k) {
        if (Power<Line, Last::R>::part(k) == 0)
          power[k] = root(tables, v * static_cast<unsigned>(k * Last::M));
      }
#pragma unroll
      for (int k = 2; k < Last::R; ++k) {
        const int part = Power<Line, Last::R>::part(k);
        if (part != 0) power[k] = times(power[part], power[k - part]);
      }
    }
#pragma unroll
    for (int b = 0; b < Last::kRounds; ++b) {
      if (!Last::has(own.thread, b)) break;
      const int j = Last::first(own.thread, b);
      const Value first = root(tables, v * static_cast<unsigned>(Last::kOfRows ? j / Last::kRow : j));
#pragma unroll
      for (int k = 0; k < Last::R; ++k) {
        const Value w = k == 0 || Last::kOfRows ? first : times(first, power[k]);
        detail::multiply(re[b * Last::R + k], im[b * Last::R + k], w.re, w.im);
      }
    }
  }
};

}  // namespace sfft::device
