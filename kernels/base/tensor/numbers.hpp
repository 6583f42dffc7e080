// SPDX-License-Identifier: Apache-2.0
// Floats as sums of two fp16 numbers, and back: the arithmetic around the matrix products of tensor cores.
// CPU and GPU compute the same bits (Kang and Glaeser, split-half FFT, with power-of-two scales).
//
// A line is scaled by a power of two that puts its largest part into [2^13, 2^14). Every stage but the last
// divides by its radix, so no part exceeds 2^14.5 after any stage, and fp16 can hold it. Then x = hi + lo +
// error, where hi and lo are fp16 with one scale: a part above 1/2 loses less than 2^-22 of itself, and a
// smaller one less than 2^-24, which is 2^-37 of the line's largest part.
#pragma once

#include "kernels/base/storage/half.hpp"

#ifndef SFFT_UNROLL
#ifdef __CUDA_ARCH__
#define SFFT_UNROLL _Pragma("unroll")
#else
#define SFFT_UNROLL
#endif
#endif

namespace sfft::detail::tensor {

struct alignas(8) Point {
  float re, im;
};
struct alignas(16) PointPair {
  Point first, second;
};

/// Products and sums that compilers neither fuse nor split.
SFFT_INLINE float product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
SFFT_INLINE float fused(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}
SFFT_INLINE Point times(Point a, Point b) {
  return {fused(a.re, b.re, -product(a.im, b.im)), fused(a.re, b.im, product(a.im, b.re))};
}

/// The larger magnitude; NaN is ignored.
SFFT_INLINE float larger(float a, float b) {
#ifdef __CUDA_ARCH__
  return fmaxf(fabsf(a), fabsf(b));
#else
  return __builtin_fmaxf(__builtin_fabsf(a), __builtin_fabsf(b));
#endif
}

constexpr int kLargestExponent = 13;

/// The exponent that scales a line whose largest part has these bits. 0 for zeros; infinities count as the
/// largest finite number.
SFFT_INLINE int scale_exponent(unsigned largest_bits) {
  if (largest_bits == 0) return 0;
  int exponent = static_cast<int>(largest_bits >> 23);
  if (exponent == 255) exponent = 254;
  if (exponent == 0) {  // subnormal
    exponent = 1;
    while (largest_bits < 0x800000u) {
      largest_bits <<= 1;
      --exponent;
    }
  }
  return kLargestExponent + 127 - exponent;
}

/// 2^exponent for −126 … 127.
SFFT_INLINE float power_of_two(int exponent) {
  return half::from_bits(static_cast<unsigned>(exponent + 127) << 23);
}

/// 2^exponent · `factor` for −252 … 254, as two factors because one float cannot hold them all. The second
/// is usually 1.
struct Scale {
  float first, second;
};
SFFT_INLINE Scale scale_of(int exponent, float factor) {
  if (exponent >= -62 && exponent <= 62 && factor >= 0x1p-62f && factor <= 0x1p62f)
    return {product(power_of_two(exponent), factor), 1};
  const int half = exponent / 2;
  return {power_of_two(half), product(power_of_two(exponent - half), factor)};
}
template <int kCount>
SFFT_INLINE void scale_all(Point (&points)[kCount], float factor) {
  SFFT_UNROLL
  for (int i = 0; i < kCount; ++i) points[i] = {product(points[i].re, factor), product(points[i].im, factor)};
}
template <int kCount>
SFFT_INLINE void scale_all(Point (&points)[kCount], Scale scale) {
  scale_all(points, scale.first);
  if (scale.second != 1) scale_all(points, scale.second);
}

/// Two fp16 numbers in a register, the real part in the lower half.
struct SplitPoint {
  unsigned hi, lo;
};
SFFT_INLINE unsigned packed(float re, float im) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(im), "f"(re));
  return both;
#else
  return to_f16(re).bits | static_cast<unsigned>(to_f16(im).bits) << 16;
#endif
}
SFFT_INLINE float lower_half(unsigned both) {
  return to_float(F16{static_cast<unsigned short>(both & 0xffffu)});
}
SFFT_INLINE float upper_half(unsigned both) {
  return to_float(F16{static_cast<unsigned short>(both >> 16)});
}
/// The remainder is exact, because fp16 rounds to nearest.
SFFT_INLINE SplitPoint split(Point value) {
  const unsigned hi = packed(value.re, value.im);
  return {hi, packed(value.re - lower_half(hi), value.im - upper_half(hi))};
}

/// exp(2πi sign·exponent/2^log_order) for 0 <= exponent < 2^log_order, log_order 3 … 30, within 1e-7. The
/// angle is reduced to an eighth of a turn in integers.
SFFT_INLINE Point root_of(unsigned exponent, int log_order, float sign) {
  const unsigned eighth = exponent >> (log_order - 3), mask = (1u << (log_order - 3)) - 1;
  unsigned rest = exponent & mask;
  if ((eighth & 1u) != 0) rest = mask + 1 - rest;
  // Half turns, at most 1/4; the series of sin(πt) and cos(πt).
  const float t = product(static_cast<float>(rest), power_of_two(1 - log_order)), z = product(t, t);
  float s = fused(z, 8.2145887e-2f, -5.9926453e-1f);
  s = fused(z, s, 2.5501640f);
  s = fused(z, s, -5.1677128f);
  s = product(product(z, s), t);
  s = fused(t, 3.14159274f, fused(t, -8.7422777e-8f, s));
  float c = fused(z, -2.5806891e-2f, 2.3533063e-1f);
  c = fused(z, c, -1.3352628f);
  c = fused(z, c, 4.0587121f);
  c = fused(z, c, -4.9348022f);
  c = fused(z, c, 1.0f);
  const bool swap = ((eighth + 1) & 2u) != 0;  // eighths 1, 2, 5, 6
  const float x = swap ? s : c, y = swap ? c : s;
  return {((eighth + 2) & 4u) != 0 ? -x : x, product((eighth & 4u) != 0 ? -y : y, sign)};
}

}  // namespace sfft::detail::tensor
