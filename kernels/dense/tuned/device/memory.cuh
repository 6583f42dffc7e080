// SPDX-License-Identifier: Apache-2.0
// Access to global memory: loads and stores with cache hints, asynchronous copies, and prefetches.
#pragma once

#include "kernels/base/storage/block16.hpp"
#include "kernels/dense/tuned/plan/step.hpp"

namespace sfft::device {

using namespace detail::tuned;  // NOLINT: these names are the vocabulary of steps and policies

/// How an access uses the caches. The values are those of Loads, and `once` for data that the caches evict
/// first.
enum class Access { cached, bypass_l1, prefetch_l2, once };

constexpr Access access_of(Loads loads, bool once) {
  if (loads == Loads::bypass_l1) return Access::bypass_l1;
  if (loads == Loads::prefetch_l2) return Access::prefetch_l2;
  return once ? Access::once : Access::cached;
}

// Loads with qualifiers are volatile assembly, because none of them may move before the wait for the previous
// kernel.
#define SFFT_LOAD(QUALIFIED)                                                                          \
  if constexpr (sizeof(T) == 1) {                                                                     \
    asm volatile(QUALIFIED ".u8 %0, [%1];" : "=r"(u.word[0]) : "l"(from));                            \
  } else if constexpr (sizeof(T) == 2) {                                                              \
    asm volatile(QUALIFIED ".u16 %0, [%1];" : "=r"(u.word[0]) : "l"(from));                           \
  } else if constexpr (sizeof(T) == 4) {                                                              \
    asm volatile(QUALIFIED ".u32 %0, [%1];" : "=r"(u.word[0]) : "l"(from));                           \
  } else if constexpr (sizeof(T) == 8) {                                                              \
    asm volatile(QUALIFIED ".v2.u32 {%0, %1}, [%2];" : "=r"(u.word[0]), "=r"(u.word[1]) : "l"(from)); \
  } else {                                                                                            \
    asm volatile(QUALIFIED ".v4.u32 {%0, %1, %2, %3}, [%4];"                                          \
                 : "=r"(u.word[0]), "=r"(u.word[1]), "=r"(u.word[2]), "=r"(u.word[3])                 \
                 : "l"(from));                                                                        \
  }

/// Two 16-bit floating-point numbers that move as one word.
template <class Part>
struct alignas(4) HalfPair {
  Part x, y;
};

/// Loads and stores of data that the caches evict first.
template <class T>
__device__ __forceinline__ T load_once(const T* from) {
  return __ldcs(from);
}
template <class T>
__device__ __forceinline__ void store_once(T* to, const T& value) {
  __stcs(to, value);
}
template <class T, class Word>
union AsWord {
  Word word;
  T value;
};
template <class T, class Word>
__device__ __forceinline__ T load_word_once(const T* from) {
  AsWord<T, Word> u;
  u.word = __ldcs(reinterpret_cast<const Word*>(from));
  return u.value;
}
template <class T, class Word>
__device__ __forceinline__ void store_word_once(T* to, const T& value) {
  AsWord<T, Word> u;
  u.value = value;
  __stcs(reinterpret_cast<Word*>(to), u.word);
}
#define SFFT_ONCE(T, Word)                                                \
  template <>                                                             \
  __device__ __forceinline__ T load_once<T>(const T* from) {              \
    return load_word_once<T, Word>(from);                                 \
  }                                                                       \
  template <>                                                             \
  __device__ __forceinline__ void store_once<T>(T * to, const T& value) { \
    store_word_once<T, Word>(to, value);                                  \
  }
SFFT_ONCE(detail::F16, unsigned short)
SFFT_ONCE(detail::Bf16, unsigned short)
SFFT_ONCE(HalfPair<detail::F16>, unsigned)
SFFT_ONCE(HalfPair<detail::Bf16>, unsigned)
#undef SFFT_ONCE

/// T has 1, 2, 4, 8 or 16 bytes.
template <Access kAccess, class T>
__device__ __forceinline__ T load_as(const T* from) {
  union {
    unsigned word[(sizeof(T) + 3) / 4];
    T value;
  } u;
  if constexpr (kAccess == Access::bypass_l1) {
    SFFT_LOAD("ld.global.L1::no_allocate")
  } else if constexpr (kAccess == Access::prefetch_l2) {
#if __CUDA_ARCH__ >= 800
    SFFT_LOAD("ld.global.L2::256B")
#else
    SFFT_LOAD("ld.global.L2::128B")
#endif
  } else if constexpr (kAccess == Access::once) {
    u.value = load_once(from);
  } else {
    u.value = *from;
  }
  return u.value;
}
#undef SFFT_LOAD

template <Access kAccess, class T>
__device__ __forceinline__ void store_as(T* to, const T& value) {
  if constexpr (kAccess == Access::once) {
    store_once(to, value);
  } else {
    *to = value;
  }
}

template <class T>
struct Pair;
template <>
struct Pair<unsigned char> {
  using type = uchar2;
};
template <>
struct Pair<unsigned short> {
  using type = ushort2;
};
template <>
struct Pair<float> {
  using type = float2;
};
template <>
struct Pair<double> {
  using type = double2;
};

template <>
struct Pair<detail::F16> {
  using type = HalfPair<detail::F16>;
};
template <>
struct Pair<detail::Bf16> {
  using type = HalfPair<detail::Bf16>;
};

/// The type of a real or imaginary part in memory.
template <class Real, dense::Storage>
struct PartOf {
  using type = Real;
};
template <class Real>
struct PartOf<Real, dense::Storage::f16> {
  using type = detail::F16;
};
template <class Real>
struct PartOf<Real, dense::Storage::bf16> {
  using type = detail::Bf16;
};

/// Integers of block16 move in words of two.
template <class Real>
struct PartOf<Real, dense::Storage::block16> {
  using type = detail::F16;
};

/// 2^exponent, from −128 to 127.
__device__ __forceinline__ float power_of_block(int exponent) {
  constexpr int kMinNormal = -126;
  constexpr unsigned kBelow = 0x00400000;
  return detail::half::from_bits(exponent >= kMinNormal ? static_cast<unsigned>(exponent + 127) << 23
                                                        : kBelow >> (kMinNormal - 1 - exponent));
}
/// The integer in the low 16 bits of `word`. number_of_block() multiplies it by its block's power of two, or
/// by a factor that makes the product infinite or NaN.
__device__ __forceinline__ float integer_of_block(unsigned word) {
  constexpr unsigned kBias = 0x8000, kUnit = 0x4b000000;  // 2^23; its unit in the last place is 1
  constexpr float kZero = 8388608.0f + 32768.0f;
  return detail::half::from_bits(((word & 0xffffu) ^ kBias) | kUnit) - kZero;
}
__device__ __forceinline__ float number_of_block(unsigned word, float power) {
  constexpr auto kMax = static_cast<float>(detail::block16::kMaxInteger);
  constexpr unsigned kInfinity = 0x7f800000, kNan = 0x7fffffff;
  const float integer = integer_of_block(word);
  float factor = integer > kMax || integer < -kMax ? detail::half::from_bits(kInfinity) : power;
  factor = integer < -kMax - 1 ? detail::half::from_bits(kNan) : factor;
  return integer * factor;
}

/// Returns the same value, hidden from the compiler, which then recomputes what depends on it instead of
/// keeping it in registers.
__device__ __forceinline__ unsigned forgotten(unsigned value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// Packs two low halves: that of `low`, and above it that of `high`.
__device__ __forceinline__ unsigned low_halves(unsigned low, unsigned high) {
#ifdef __CUDA_ARCH__
  return __byte_perm(low, high, 0x5410);
#else
  return (low & 0xffffu) | high << 16;
#endif
}
/// Packs the low half of `low`, and above it the high half of `high`.
__device__ __forceinline__ unsigned low_half(unsigned low, unsigned high) {
#ifdef __CUDA_ARCH__
  return __byte_perm(low, high, 0x7610);
#else
  return (low & 0xffffu) | (high & 0xffff0000u);
#endif
}
/// Packs two high halves: that of `low`, and above it that of `high`.
__device__ __forceinline__ unsigned high_half(unsigned low, unsigned high) {
#ifdef __CUDA_ARCH__
  return __byte_perm(low, high, 0x7632);
#else
  return low >> 16 | (high & 0xffff0000u);
#endif
}

/// Reads pairs of block16 integers quickly, which is valid while they stand for finite numbers and their
/// exponents are not among the largest. It records whether this was so.
class OrdinaryBlocks {
 public:
  __device__ __forceinline__ void load(unsigned word, int exponent, float& low, float& high) {
    // Here u = integer + 2^15, and u/4 + 2^21 is assembled from bits. The factor 2^(exponent + 2) is never
    // subnormal.
    constexpr unsigned kBias = 0x80008000;
    constexpr float kZero = 2097152.0f + 8192.0f;
    const unsigned bits = (static_cast<unsigned>(exponent) << 23) + (129u << 23);
    largest_ = bits > largest_ ? bits : largest_;
    smallest_ = smaller(word, smallest_);
    const float power = detail::half::from_bits(bits), zero = -kZero * power;
    const unsigned biased = word ^ kBias;
    low = detail::half::from_bits(low_half(biased, unit_)) * power + zero;
    high = detail::half::from_bits(high_half(biased, unit_)) * power + zero;
  }
  __device__ __forceinline__ bool all() const {
    constexpr unsigned kMaxExponent = 104;  // zero is finite
    return largest_ <= (kMaxExponent + 129) << 23 && (smallest_ & 0xffffu) > 2 && smallest_ >> 16 > 2;
  }

 private:
  static constexpr unsigned kUnit = 0x4a000000;  ///< 2^21; its unit in the last place is 1/4

  /// For both halves, the smaller of `before` and integer + 2^15 + 1. The latter is 0, 1 or 2 for codes that
  /// are not finite numbers.
  static __device__ __forceinline__ unsigned smaller(unsigned word, unsigned before) {
    constexpr unsigned kAdded = 0x80018001;
#if __CUDA_ARCH__ >= 900
    return __viaddmin_u16x2(word, kAdded, before);
#else
    const unsigned low = (word + kAdded) & 0xffffu, high = ((word >> 16) + (kAdded >> 16)) & 0xffffu,
                   low_before = before & 0xffffu, high_before = before >> 16;
    return (low < low_before ? low : low_before) | (high < high_before ? high : high_before) << 16;
#endif
  }

  unsigned largest_ = 0, smallest_ = 0xffffffff;
  unsigned unit_ = forgotten(kUnit);  ///< kept in a register
};

/// Converts a part, or a sample of any type, to the type of the computation.
template <class Real, class T>
__device__ __forceinline__ Real number(T value) {
  return static_cast<Real>(value);
}
template <class Real>
__device__ __forceinline__ Real number(detail::F16 value) {
  return to_float(value);
}
template <class Real>
__device__ __forceinline__ Real number(detail::Bf16 value) {
  return to_float(value);
}
/// Converts a computed number to a stored part.
template <class Part, class Real>
__device__ __forceinline__ Part part(Real value) {
  if constexpr (sizeof(Part) == 2) {
    return detail::Stored<Part>::of(value);
  } else {
    return value;
  }
}

constexpr double power_of_two(int exponent) {
  double power = 1;
  for (; exponent > 0; --exponent) power *= 2;
  for (; exponent < 0; ++exponent) power /= 2;
  return power;
}

/// Starts an asynchronous copy of a 16-byte word to shared memory. await_copies() waits for the calling
/// thread's copies.
template <bool kPrefetch>
__device__ __forceinline__ void copy_async(uint4* to, const uint4* from) {
#if __CUDA_ARCH__ >= 800
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (kPrefetch) {
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
  }
#else
  *to = *from;
#endif
}
/// The same for a word of four bytes.
__device__ __forceinline__ void copy_async(unsigned* to, const unsigned* from) {
#if __CUDA_ARCH__ >= 800
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(from) : "memory");
#else
  *to = *from;
#endif
}
/// Makes one group of the copies so far. await_copies_but() waits for all groups except the latest ones.
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int kGroups>
__device__ __forceinline__ void await_copies_but() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
#endif
}
__device__ __forceinline__ void await_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

__device__ __forceinline__ void prefetch_l2(const char* line) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
#else
  (void)*static_cast<const volatile char*>(line);  // in emulation, this checks that the address is readable
#endif
}

}  // namespace sfft::device
