// SPDX-License-Identifier: Apache-2.0
// Conversions of arrays of stored values. f16 uses the processor's instructions if it has them, with the
// results of kernels/base/half.hpp. The other formats are plain loops that the compiler vectorises.
#pragma once

#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <cstdint>

#include "kernels/base/half.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

template <class Part>
SFFT_INLINE void widen(const Part* __restrict from, std::int64_t count, float* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = to_float(from[i]);
}
template <class Part>
SFFT_INLINE void narrow(const float* __restrict from, std::int64_t count, Part* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = Stored<Part>::of(from[i]);
}

#if defined(__AVX512F__) || defined(__F16C__) || defined(__aarch64__)

// The processors' conversions to f16 keep the fractions of NaNs. narrow_vector() replaces each NaN by
// half::kNan.
#if defined(__AVX512F__)

constexpr std::int64_t kHalvesAtOnce = 16;
SFFT_INLINE void widen_vector(const F16* from, float* to) {
  _mm512_storeu_ps(to,
                   _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
}
SFFT_INLINE void narrow_vector(const float* from, F16* to) {
  const __m512 values = _mm512_loadu_ps(from);
  const __m256i halves = _mm512_maskz_cvtps_ph(0xffff, values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __mmask16 nans = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_mask_mov_epi16(halves, nans, _mm256_set1_epi16(half::kNan)));
}

#elif defined(__F16C__)

constexpr std::int64_t kHalvesAtOnce = 8;
SFFT_INLINE void widen_vector(const F16* from, float* to) {
  _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
SFFT_INLINE void narrow_vector(const float* from, F16* to) {
  const __m256 values = _mm256_loadu_ps(from);
  const __m128i halves = _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m256i nans = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
  const __m128i mask = _mm_packs_epi32(_mm256_castsi256_si128(nans), _mm256_extracti128_si256(nans, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_blendv_epi8(halves, _mm_set1_epi16(half::kNan), mask));
}

#else

constexpr std::int64_t kHalvesAtOnce = 8;
SFFT_INLINE void widen_vector(const F16* from, float* to) {
  const float16x8_t halves = vreinterpretq_f16_u16(vld1q_u16(reinterpret_cast<const std::uint16_t*>(from)));
  vst1q_f32(to, vcvt_f32_f16(vget_low_f16(halves)));
  vst1q_f32(to + 4, vcvt_high_f32_f16(halves));
}
SFFT_INLINE void narrow_vector(const float* from, F16* to) {
  const float32x4_t low = vld1q_f32(from), high = vld1q_f32(from + 4);
  const uint16x8_t halves = vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(low), high));
  const uint16x8_t numbers = vcombine_u16(vmovn_u32(vceqq_f32(low, low)), vmovn_u32(vceqq_f32(high, high)));
  vst1q_u16(reinterpret_cast<std::uint16_t*>(to), vbslq_u16(numbers, halves, vdupq_n_u16(half::kNan)));
}

#endif

SFFT_INLINE void widen(const F16* __restrict from, std::int64_t count, float* __restrict to) {
  std::int64_t i = 0;
  for (; i + kHalvesAtOnce <= count; i += kHalvesAtOnce) widen_vector(from + i, to + i);
  for (; i < count; ++i) to[i] = to_float(from[i]);
}
SFFT_INLINE void narrow(const float* __restrict from, std::int64_t count, F16* __restrict to) {
  std::int64_t i = 0;
  for (; i + kHalvesAtOnce <= count; i += kHalvesAtOnce) narrow_vector(from + i, to + i);
  for (; i < count; ++i) to[i] = to_f16(from[i]);
}

#endif

}  // namespace sfft::detail::cpu::SFFT_ISA
