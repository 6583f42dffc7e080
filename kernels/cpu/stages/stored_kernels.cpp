// SPDX-License-Identifier: Apache-2.0
// The conversions of stored values for one instruction set: plain loops that the compiler vectorises.
#include "kernels/cpu/stages/stored.hpp"

#include "kernels/base/half.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

/// The bits of a number without its sign grow with its magnitude.
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
float largest(const void* stored, std::int64_t count, bool& finite) {
  using Word = typename Bits<Part>::type;
  typedef Word __attribute__((may_alias)) Aliased;
  constexpr Word kSign = static_cast<Word>(Word(1) << (8 * sizeof(Word) - 1));
  const Aliased* __restrict words = static_cast<const Aliased*>(stored);
  constexpr Word kBeyond = static_cast<Word>(kInfinity<Part>);
  Word most = 0, all = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Word size = static_cast<Word>(words[i] & static_cast<Word>(~kSign));
    all = size > all ? size : all;
  }
  if (all < kBeyond) {
    most = all;
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const Word size = static_cast<Word>(words[i] & static_cast<Word>(~kSign));
      if (size < kBeyond && size > most) most = size;
    }
  }
  finite = all < kInfinity<Part>;
  return from_bits(most, Part{});
}

template <class Part>
void read(const void* stored, std::int64_t count, float first, float second, float* __restrict to) {
  const Part* __restrict from = static_cast<const Part*>(stored);
  for (std::int64_t i = 0; i < count; ++i) to[i] = to_float(from[i]) * first * second;
}

/// Adds the squares of count values, which are summed in single precision.
SFFT_INLINE void add_squares(const float* values, std::int64_t count, double& sum) {
  constexpr int kLanes = 32;
  float lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane] * values[i + lane];
  }
  for (; i < count; ++i) lanes[0] += values[i] * values[i];
  for (const float lane : lanes) sum += static_cast<double>(lane);
}

template <class Part>
void write(const float* __restrict from, std::int64_t count, float first, float second, float unit,
           void* stored, double& error, double& norm) {
  constexpr std::int64_t kAtOnce = 1024;
  constexpr float kLargest = 3.402823466e38f;
  Part* __restrict to = static_cast<Part*>(stored);
  float values[kAtOnce], errors[kAtOnce];
  for (; count > 0; count -= kAtOnce, from += kAtOnce, to += kAtOnce) {
    const std::int64_t size = count < kAtOnce ? count : kAtOnce;
    for (std::int64_t i = 0; i < size; ++i) values[i] = from[i] * first * second;
    for (std::int64_t i = 0; i < size; ++i) to[i] = Stored<Part>::of(values[i]);
    for (std::int64_t i = 0; i < size; ++i) {
      const float off = (to_float(to[i]) - values[i]) * unit, own = values[i] * unit;
      const bool ordinary = values[i] <= kLargest && values[i] >= -kLargest;
      errors[i] = ordinary ? off : 0.0f;
      values[i] = ordinary ? own : 0.0f;
    }
    add_squares(errors, size, error);
    add_squares(values, size, norm);
  }
}

template <class Part>
constexpr StoredKernels kOf{largest<Part>, read<Part>, write<Part>};
constexpr StoredKernels kTable[] = {kOf<float>, kOf<F16>, kOf<Bf16>};

}  // namespace

const StoredKernels* stored_table() noexcept {
  return kTable;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
