// SPDX-License-Identifier: Apache-2.0
// The conversions of stored values for one instruction set. f16 uses the processor's instructions if it has
// them, with the results of kernels/base/storage/half.hpp. The other formats are plain loops that the
// compiler vectorises.
#include "kernels/cpu/stages/stored.hpp"

#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <cstdint>
#include <type_traits>

#include "kernels/base/storage/block16.hpp"
#include "kernels/base/storage/half.hpp"

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

namespace {

using block16::kLargest;

/// The type of a number's bits. Without the sign, they increase with the magnitude.
template <class Part>
struct Bits {
  using type = unsigned short;
};
template <>
struct Bits<float> {
  using type = unsigned;
};
template <class Part>
constexpr unsigned kInfinity = 0x7f80;
template <>
constexpr unsigned kInfinity<F16> = 0x7c00;
template <>
constexpr unsigned kInfinity<float> = 0x7f800000;

SFFT_INLINE float from_bits(unsigned short bits, F16) {
  return to_float(F16{bits});
}
SFFT_INLINE float from_bits(unsigned short bits, Bf16) {
  return to_float(Bf16{bits});
}
SFFT_INLINE float from_bits(unsigned bits, float) {
  return half::from_bits(bits);
}

template <class Part>
float largest(const StoredArray<const void>& stored, std::int64_t count, bool& finite) {
  using Word = typename Bits<Part>::type;
  typedef Word __attribute__((may_alias)) Aliased;
  constexpr Word kSign = static_cast<Word>(Word(1) << (8 * sizeof(Word) - 1));
  const Aliased* __restrict words = static_cast<const Aliased*>(stored.values);
  constexpr Word kBeyond = static_cast<Word>(kInfinity<Part>);
  Word max = 0, all = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Word size = static_cast<Word>(words[i] & static_cast<Word>(~kSign));
    all = size > all ? size : all;
  }
  if (all < kBeyond) {
    max = all;
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const Word size = static_cast<Word>(words[i] & static_cast<Word>(~kSign));
      if (size < kBeyond && size > max) max = size;
    }
  }
  finite = all < kInfinity<Part>;
  return from_bits(max, Part{});
}

constexpr std::int64_t kAtOnce = 1024;

template <class Part>
void read(const StoredArray<const void>& stored, std::int64_t count, float first, float second,
          float* __restrict to) {
  const Part* __restrict from = static_cast<const Part*>(stored.values);
  for (; count > 0; count -= kAtOnce, from += kAtOnce, to += kAtOnce) {
    const std::int64_t size = count < kAtOnce ? count : kAtOnce;
    widen(from, size, to);
    for (std::int64_t i = 0; i < size; ++i) to[i] = to[i] * first * second;
  }
}

/// Sums of squares, in single precision over at most kAtOnce values.
class Squares {
 public:
  SFFT_INLINE void add(const float* __restrict values, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) lanes_[lane] += values[i + lane] * values[i + lane];
    }
    for (int lane = 0; i < count; ++i, ++lane) lanes_[lane] += values[i] * values[i];
  }
  SFFT_INLINE void move_to(double& sum) {
    double all[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      all[lane] = static_cast<double>(lanes_[lane]);
      lanes_[lane] = 0;
    }
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) all[lane] += all[lane + half];
    }
    sum += all[0];
  }

 private:
  static constexpr int kLanes = 32;
  float lanes_[kLanes] = {};
};

template <class Part>
void write(const float* __restrict from, std::int64_t count, float first, float second, float unit,
           const StoredArray<void>& stored, double& error, double& norm) {
  Part* __restrict to = static_cast<Part*>(stored.values);
  float values[kAtOnce], errors[kAtOnce];
  Squares of_errors, of_values;
  for (; count > 0; count -= kAtOnce, from += kAtOnce, to += kAtOnce) {
    const std::int64_t size = count < kAtOnce ? count : kAtOnce;
    for (std::int64_t i = 0; i < size; ++i) values[i] = from[i] * first * second;
    narrow(values, size, to);
    widen(to, size, errors);
    for (std::int64_t i = 0; i < size; ++i) {
      const float off = (errors[i] - values[i]) * unit, own = values[i] * unit;
      const bool ordinary = values[i] <= kLargest && values[i] >= -kLargest;
      errors[i] = ordinary ? off : 0.0f;
      values[i] = ordinary ? own : 0.0f;
    }
    of_errors.add(errors, size);
    of_values.add(values, size);
    of_errors.move_to(error);
    of_values.move_to(norm);
  }
}

using block16::kMaxInteger;
using block16::Powers;

/// Calls action(size, at) for every block. `size` is kBlockValues, as a compile-time constant, or what is
/// left.
template <class Action>
SFFT_INLINE void for_blocks(std::int64_t count, const Action& action) {
  constexpr std::int64_t kBlock = dense::kBlockValues;
  std::int64_t at = 0;
  for (; at + kBlock <= count; at += kBlock) action(std::integral_constant<std::int64_t, kBlock>(), at);
  if (at < count) action(count - at, at);
}

/// The largest magnitude of integers, some of which do not stand for numbers.
int largest_number(const short* values, std::int64_t size) {
  int max = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const int own = values[i] < 0 ? -values[i] : values[i];
    if (own <= kMaxInteger && own > max) max = own;
  }
  return max;
}

float largest_of_blocks(const StoredArray<const void>& stored, std::int64_t count, bool& finite) {
  const auto* values = static_cast<const short*>(stored.values);
  const auto* exponents = static_cast<const signed char*>(stored.exponents);
  bool all_finite = true;
  float max = 0;
  for_blocks(count, [&](auto size, std::int64_t at) {
    short highest = 0, lowest = 0;
    for (std::int64_t i = at; i < at + size; ++i) {
      highest = values[i] > highest ? values[i] : highest;
      lowest = values[i] < lowest ? values[i] : lowest;
    }
    const bool numbers = highest <= kMaxInteger && lowest >= -kMaxInteger;
    const int own = numbers ? (highest > -lowest ? highest : -lowest) : largest_number(values + at, size);
    const Powers power(exponents[at / dense::kBlockValues]);
    const float value = static_cast<float>(own) * power.first * power.second;
    all_finite = all_finite && numbers && value <= kLargest;
    max = value > max && value <= kLargest ? value : max;
  });
  finite = all_finite;
  return max;
}

void read_blocks(const StoredArray<const void>& stored, std::int64_t count, float first, float second,
                 float* __restrict to) {
  const auto* __restrict values = static_cast<const short*>(stored.values);
  const auto* exponents = static_cast<const signed char*>(stored.exponents);
  for_blocks(count, [=](auto size, std::int64_t at) {
    const Powers power(exponents[at / dense::kBlockValues]);
    for (std::int64_t i = at; i < at + size; ++i) {
      const float value = static_cast<float>(values[i]) * power.first * first * power.second * second;
      to[i] = block16::number_of(values[i], value);
    }
  });
}

constexpr int kBeyond = static_cast<int>(kInfinity<float>);

/// The bits of the largest magnitude: kBeyond or more if a value is not finite.
template <class Size>
SFFT_INLINE int largest_bits(const float* values, Size size) {
  int all = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const int own = static_cast<int>(half::bits_of(values[i]) & 0x7fffffffu);
    all = own > all ? own : all;
  }
  return all;
}

template <class Size>
SFFT_INLINE float largest_finite(const float* values, Size size) {
  const int all = largest_bits(values, size);
  if (all < kBeyond) return half::from_bits(static_cast<unsigned>(all));
  int max = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const int own = static_cast<int>(half::bits_of(values[i]) & 0x7fffffffu);
    if (own < kBeyond && own > max) max = own;
  }
  return half::from_bits(static_cast<unsigned>(max));
}

void write_blocks(const float* __restrict from, std::int64_t count, float first, float second, float unit,
                  const StoredArray<void>& stored, double& error, double& norm) {
  auto* __restrict to = static_cast<short*>(stored.values);
  auto* exponents = static_cast<signed char*>(stored.exponents);
  Squares of_errors, of_values;
  for_blocks(count, [&](auto size, std::int64_t at) {
    float values[dense::kBlockValues], errors[dense::kBlockValues];
    for (std::int64_t i = 0; i < size; ++i) values[i] = from[at + i] * first * second;
    const int exponent = block16::exponent_of(largest_finite(values, size));
    exponents[at / dense::kBlockValues] = static_cast<signed char>(exponent);
    const Powers scale(-exponent), back(exponent);
    for (std::int64_t i = 0; i < size; ++i) {
      const float value = values[i];
      const float scaled = block16::scaled(value, scale), whole = block16::rounded(scaled);
      to[at + i] = block16::integer_of(value, whole);
      errors[i] = (whole - scaled) * back.first * unit * back.second;
      values[i] = block16::is_ordinary(value) ? value * unit : 0.0f;
    }
    of_errors.add(errors, size);
    of_values.add(values, size);
    if ((at + size) % kAtOnce != 0 && at + size != count) return;
    of_errors.move_to(error);
    of_values.move_to(norm);
  });
}

/// Computes the exponents of several blocks first, because the steps for one block depend on each other.
void pack_blocks(const float* __restrict from, std::int64_t count, const StoredArray<void>& stored) {
  constexpr std::integral_constant<std::int64_t, dense::kBlockValues> kBlock;
  constexpr std::int64_t kBlocks = 16;
  auto* __restrict to = static_cast<short*>(stored.values);
  auto* __restrict exponents = static_cast<signed char*>(stored.exponents);
  while (count > 0) {
    const std::int64_t whole = count / kBlock, blocks = whole < kBlocks ? whole : kBlocks;
    float max[kBlocks];
    bool finite = blocks > 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const int bits = largest_bits(from + b * kBlock, kBlock);
      finite = finite && bits < kBeyond;
      max[b] = half::from_bits(static_cast<unsigned>(bits));
    }
    const std::int64_t size = blocks > 0 ? blocks * kBlock : count;
    if (finite) {
      float first[kBlocks], second[kBlocks];
      for (std::int64_t b = 0; b < blocks; ++b) {
        const int exponent = block16::exponent_of(max[b]);
        exponents[b] = static_cast<signed char>(exponent);
        const Powers scale(-exponent);
        first[b] = scale.first;
        second[b] = scale.second;
      }
      for (std::int64_t b = 0; b < blocks; ++b) {
        const float one = first[b], other = second[b];
        for (std::int64_t i = b * kBlock; i < (b + 1) * kBlock; ++i)
          to[i] = static_cast<short>(static_cast<int>(block16::rounded(from[i] * one * other)));
      }
    } else {
      double error = 0, norm = 0;
      write_blocks(from, size, 1, 1, 1, {to, exponents}, error, norm);
    }
    from += size;
    to += size;
    exponents += blocks;
    count -= size;
  }
}

template <class Part>
void pack(const float* __restrict from, std::int64_t count, const StoredArray<void>& stored) {
  narrow(from, count, static_cast<Part*>(stored.values));
}

template <class Part>
constexpr StoredKernels kOf{largest<Part>, read<Part>, write<Part>, pack<Part>};
constexpr StoredKernels kTable[] = {
    kOf<float>, kOf<F16>, kOf<Bf16>, {largest_of_blocks, read_blocks, write_blocks, pack_blocks}};

}  // namespace

const StoredKernels* stored_table() noexcept {
  return kTable;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
