// SPDX-License-Identifier: Apache-2.0
// 16-bit floating-point numbers in memory, and their conversion to and from float. Rounding is to nearest,
// ties to even, also for subnormal numbers. NaN becomes the NaN 0x7fff. On GPUs, device instructions do the
// conversions.
//
// NVRTC also compiles this file, so it is C++17 without standard headers.
#pragma once

#include "kernels/base/math/portable.hpp"
#include "sfft/storage.hpp"

namespace sfft::detail {

struct alignas(2) F16 {
  unsigned short bits;
};
struct alignas(2) Bf16 {
  unsigned short bits;
};

namespace half {

union Word {
  float value;
  unsigned bits;
};

SFFT_INLINE unsigned bits_of(float value) {
  Word word;
  word.value = value;
  return word.bits;
}
SFFT_INLINE float from_bits(unsigned bits) {
  Word word;
  word.bits = bits;
  return word.value;
}

constexpr unsigned short kNan = 0x7fff;

}  // namespace half

/// The conversion is exact; a NaN loses its payload.
SFFT_INLINE float to_float(F16 x) {
#ifdef __CUDA_ARCH__
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
#else
  const unsigned sign = (x.bits & 0x8000u) << 16, rest = x.bits & 0x7fffu;
  // Subnormal numbers are multiples of 2^-24. For other numbers the exponent bias changes; the largest
  // exponent becomes that of infinity and NaN.
  const unsigned normal = (rest << 13) + (rest >= 0x7c00u ? 0x70000000u : 0x38000000u);
  const unsigned subnormal = half::bits_of(static_cast<float>(static_cast<int>(rest)) * 0x1p-24f);
  return half::from_bits(sign | (rest < 0x400u ? subnormal : normal));
#endif
}
SFFT_INLINE float to_float(Bf16 x) {
  return half::from_bits(static_cast<unsigned>(x.bits) << 16);
}
SFFT_INLINE float to_float(float x) {
  return x;
}

SFFT_INLINE F16 to_f16(float value) {
#ifdef __CUDA_ARCH__
  F16 rounded;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(rounded.bits) : "f"(value));
  return rounded;
#else
  const unsigned all = half::bits_of(value), sign = all >> 16 & 0x8000u, rest = all & 0x7fffffffu;
  // Values from 2^16 on become infinite; rounding up from below carries into the exponent of infinity.
  const unsigned below = rest < 0x47800000u ? rest : 0x47800000u;
  const unsigned normal = (below - 0x38000000u + 0xfffu + (below >> 13 & 1u)) >> 13;
  // The last place of 1/2 is the unit of subnormal numbers, so the addition rounds.
  const unsigned subnormal =
      half::bits_of(half::from_bits(rest < 0x38800000u ? rest : 0) + 0.5f) - 0x3f000000u;
  const unsigned finite = sign | (rest < 0x38800000u ? subnormal : normal);
  return {static_cast<unsigned short>(rest > 0x7f800000u ? half::kNan : finite)};
#endif
}
SFFT_INLINE Bf16 to_bf16(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  Bf16 rounded;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded.bits) : "f"(value));
  return rounded;
#else
  const unsigned all = half::bits_of(value), rounded = (all + 0x7fffu + (all >> 16 & 1u)) >> 16;
  return {static_cast<unsigned short>((all & 0x7fffffffu) > 0x7f800000u ? half::kNan : rounded)};
#endif
}

/// to_f16(), to_bf16() or the value itself, by type.
template <class Part>
struct Stored;
template <>
struct Stored<float> {
  static SFFT_INLINE float of(float value) { return value; }
};
template <>
struct Stored<F16> {
  static SFFT_INLINE F16 of(float value) { return to_f16(value); }
};
template <>
struct Stored<Bf16> {
  static SFFT_INLINE Bf16 of(float value) { return to_bf16(value); }
};

}  // namespace sfft::detail
