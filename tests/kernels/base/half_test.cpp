// SPDX-License-Identifier: Apache-2.0
// Tests the conversions of 16-bit floating-point numbers, for all 65536 patterns and for values between them.
// The reference decodes by the definition and rounds by comparing distances.
#include "kernels/base/storage/half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace sfft::test::half_test {
namespace {

using detail::Bf16;
using detail::F16;

/// A format by its definition: a sign bit, kExponentBits of exponent, and the fraction.
template <class Part>
struct Format;
template <>
struct Format<F16> {
  static constexpr int kExponentBits = 5;
  static F16 of(float value) { return detail::to_f16(value); }
};
template <>
struct Format<Bf16> {
  static constexpr int kExponentBits = 8;
  static Bf16 of(float value) { return detail::to_bf16(value); }
};

template <class Part>
double decoded(unsigned bits) {
  constexpr int kFractionBits = 15 - Format<Part>::kExponentBits,
                kBias = (1 << (Format<Part>::kExponentBits - 1)) - 1;
  const int fraction = static_cast<int>(bits & ((1u << kFractionBits) - 1)),
            exponent = static_cast<int>(bits >> kFractionBits) & ((1 << Format<Part>::kExponentBits) - 1);
  const double sign = (bits & 0x8000u) != 0 ? -1 : 1;
  if (exponent == 2 * kBias + 1)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - kBias - kFractionBits);
  return sign * std::ldexp(fraction + (1 << kFractionBits), exponent - kBias - kFractionBits);
}

/// The pattern nearest to a positive value; if two are equally near, the even one. Infinity counts as the
/// number that would follow the largest.
template <class Part>
unsigned nearest(double value) {
  static const std::vector<double> all = [] {
    std::vector<double> values;
    unsigned bits = 0;
    for (; std::isfinite(decoded<Part>(bits)); ++bits) values.push_back(decoded<Part>(bits));
    values.push_back(2 * values.back() - values[bits - 2]);
    return values;
  }();
  const auto above = std::lower_bound(all.begin(), all.end(), value);
  if (above == all.end()) return static_cast<unsigned>(all.size() - 1);
  const auto at = static_cast<unsigned>(above - all.begin());
  if (at == 0) return 0;
  const double up = *above - value, down = value - all[at - 1];
  if (up != down) return up < down ? at : at - 1;
  return at % 2 == 0 ? at : at - 1;
}

template <class Part>
void expect_nearest(float value) {
  const unsigned sign = std::signbit(value) ? 0x8000u : 0;
  EXPECT_EQ(Format<Part>::of(value).bits, sign | nearest<Part>(std::abs(static_cast<double>(value))))
      << value;
}

template <class Part>
class Half : public testing::Test {};
using Parts = testing::Types<F16, Bf16>;
TYPED_TEST_SUITE(Half, Parts);

TYPED_TEST(Half, EveryPatternIsItsValueAndComesBack) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float value = to_float(TypeParam{static_cast<unsigned short>(bits)});
    const double expected = decoded<TypeParam>(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_EQ(Format<TypeParam>::of(value).bits, 0x7fff) << bits;
      continue;
    }
    EXPECT_EQ(static_cast<double>(value), expected) << bits;
    EXPECT_EQ(std::signbit(value), bits >= 0x8000) << bits;
    EXPECT_EQ(Format<TypeParam>::of(value).bits, bits);
  }
}

TYPED_TEST(Half, WhatLiesBetweenNeighboursIsRoundedToTheNearer) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (unsigned bits = 0; std::isfinite(decoded<TypeParam>(bits)); ++bits) {
    const double low = decoded<TypeParam>(bits), high = decoded<TypeParam>(bits + 1);
    const double step = std::isfinite(high) ? high - low : low - decoded<TypeParam>(bits - 1);
    for (const double part : {0.25, 0.5, 0.75}) {
      const auto value = static_cast<float>(low + part * step);
      for (const float x : {value, std::nextafter(value, 0.0f), std::nextafter(value, kInfinity)}) {
        expect_nearest<TypeParam>(x);
        expect_nearest<TypeParam>(-x);
      }
    }
  }
}

TYPED_TEST(Half, FloatsOfEveryExponent) {
  std::mt19937 generator(3);
  for (unsigned exponent = 0; exponent < 255; ++exponent) {
    for (const unsigned fraction : {0u, 1u, 0x7fffffu, 0x1000u, 0x7fffu, 0x8000u, 0x8001u})
      expect_nearest<TypeParam>(std::bit_cast<float>(exponent << 23 | fraction));
    for (int i = 0; i < 200; ++i)
      expect_nearest<TypeParam>(std::bit_cast<float>(static_cast<unsigned>(generator()) % 2 << 31 |
                                                     exponent << 23 |
                                                     static_cast<unsigned>(generator()) % 0x800000u));
  }
}

TYPED_TEST(Half, InfinitiesAndEveryKindOfNan) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(decoded<TypeParam>(Format<TypeParam>::of(kInfinity).bits),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(decoded<TypeParam>(Format<TypeParam>::of(-kInfinity).bits),
            -std::numeric_limits<double>::infinity());
  for (const unsigned bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu})
    EXPECT_EQ(Format<TypeParam>::of(std::bit_cast<float>(bits)).bits, 0x7fff) << bits;
}

}  // namespace
}  // namespace sfft::test::half_test
