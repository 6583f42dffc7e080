// SPDX-License-Identifier: Apache-2.0
// Converts floats to block-scaled 16-bit integers (storage.hpp) and back, with the same bits on host and
// device.
#pragma once

#include "kernels/base/storage/half.hpp"

namespace sfft::detail::block16 {

/// Finite values reach ±32766.
constexpr int kTopBit = 14, kMaxInteger = 32766, kInfinite = 32767, kNan = -32768;
constexpr float kLargest = 3.402823466e38f;

/// 2^exponent, from −126 to 127.
SFFT_INLINE float power_of_two(int exponent) {
  return half::from_bits(static_cast<unsigned>(exponent + 127) << 23);
}
/// 2^exponent, from −252 to 254, as a product of two floats.
struct Powers {
  SFFT_INLINE explicit Powers(int exponent)
      : first(power_of_two(exponent / 2)), second(power_of_two(exponent - exponent / 2)) {}
  float first, second;
};

/// The exponent with which values up to `max` become integers up to kMaxInteger.
SFFT_INLINE int exponent_of(float max) {
  constexpr int kMin = -128;
  const int top = static_cast<int>(half::bits_of(max) >> 23) - 127 - kTopBit;
  const int exponent = top < kMin ? kMin : top;
  const Powers scale(-exponent);
  return max * scale.first * scale.second < static_cast<float>(kMaxInteger) + 0.5f ? exponent : exponent + 1;
}

SFFT_INLINE bool is_ordinary(float value) {
  return value <= kLargest && value >= -kLargest;
}
/// A finite value divided by 2^exponent, given the powers of −exponent; 0 for others.
SFFT_INLINE float scaled(float value, const Powers& powers) {
  return is_ordinary(value) ? value * powers.first * powers.second : 0.0f;
}
/// Rounds to nearest, ties to even; |scaled| < 2^22.
SFFT_INLINE float rounded(float scaled) {
  constexpr float kRounder = 12582912.0f;  // 1.5 · 2^23; its unit in the last place is 1
  return (scaled + kRounder) - kRounder;
}
/// The stored integer for a value that scales and rounds to `whole`.
SFFT_INLINE short integer_of(float value, float whole) {
  const int beyond = value > 0 ? kInfinite : (value < 0 ? -kInfinite : kNan);
  return static_cast<short>(is_ordinary(value) ? static_cast<int>(whole) : beyond);
}

/// The number that an integer stands for; `value` if it is finite.
SFFT_INLINE float number_of(int integer, float value) {
  constexpr unsigned kNanBits = 0x7fc00000, kInfinityBits = 0x7f800000, kSignBit = 0x80000000;
  const float beyond =
      half::from_bits(integer == kNan ? kNanBits : (integer > 0 ? kInfinityBits : kInfinityBits | kSignBit));
  return integer > kMaxInteger || integer < -kMaxInteger ? beyond : value;
}

}  // namespace sfft::detail::block16
