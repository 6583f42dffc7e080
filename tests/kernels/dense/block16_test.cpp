// SPDX-License-Identifier: Apache-2.0
// Tests the format block16 bit by bit: every integer with every exponent, and rounding against a reference
// that tries the exponents one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#include "tests/support/compact.hpp"

namespace sfft::test::block16_test {
namespace {

using dense::Storage;

/// The integers and exponents of a stored array.
struct Blocks {
  std::vector<std::int16_t> integers;
  std::vector<std::int8_t> exponents;

  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all(dense::compact_bytes(integers.size(), Storage::block16));
    std::memcpy(all.data(), integers.data(), 2 * integers.size());
    std::memcpy(all.data() + 2 * integers.size(), exponents.data(), exponents.size());
    return all;
  }
  static Blocks of(const CompactArray& array) {
    Blocks blocks{std::vector<std::int16_t>(array.values),
                  std::vector<std::int8_t>((array.values + 31) / 32)};
    std::memcpy(blocks.integers.data(), array.bytes.data(), 2 * array.values);
    std::memcpy(blocks.exponents.data(), array.bytes.data() + 2 * array.values, blocks.exponents.size());
    return blocks;
  }
};

TEST(Block16, EveryIntegerWithEveryExponent) {
  Blocks blocks;
  for (int i = -32768; i < 32768; ++i) blocks.integers.push_back(static_cast<std::int16_t>(i));
  for (int exponent = -128; exponent <= 112; ++exponent) {
    blocks.exponents.assign(65536 / 32, static_cast<std::int8_t>(exponent));
    std::vector<float> values(65536);
    load_compact(blocks.bytes(), Storage::block16, {}, std::span(values));
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(values[1], -std::numeric_limits<float>::infinity());
    EXPECT_EQ(values[65535], std::numeric_limits<float>::infinity());
    for (std::size_t i = 2; i < 65535; ++i)
      ASSERT_EQ(values[i], std::ldexp(static_cast<float>(blocks.integers[i]), exponent)) << i << exponent;
  }
}

/// The smallest exponent for which all rounded integers are within ±32766.
int exponent_of(const std::vector<double>& values) {
  for (int exponent = -128;; ++exponent) {
    const bool fits = std::all_of(values.begin(), values.end(), [&](double value) {
      return std::abs(std::nearbyint(std::ldexp(value, -exponent))) <= 32766;
    });
    if (fits) return exponent;
  }
}

TEST(Block16, ValuesAreRoundedToNearest) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::uniform_int_distribution<int> octave(-40, 0);
  for (const std::size_t count : {1, 31, 32, 33, 64, 1000, 4096, 5000}) {
    std::vector<float> values(count);
    for (std::size_t block = 0; block < count; block += 32) {
      const int scale = octave(random);
      for (std::size_t i = block; i < std::min(count, block + 32); ++i)
        values[i] = std::ldexp(uniform(random), scale);
    }
    // The largest values are just below a power of two, to which they round up.
    values[0] = 0x1.fffep0f;
    CompactArray array{std::vector<std::byte>(dense::compact_bytes(count, Storage::block16)), {{}}, count};
    array.scales[0] = store_compact(std::span<const float>(values), Storage::block16, array.bytes);
    const Blocks found = Blocks::of(array);
    EXPECT_EQ(array.scales[0].exponent, -14);
    double error = 0, norm = 0;
    for (std::size_t block = 0; block < count; block += 32) {
      std::vector<double> own;
      for (std::size_t i = block; i < std::min(count, block + 32); ++i)
        own.push_back(std::ldexp(static_cast<double>(values[i]), 14));
      const int exponent = exponent_of(own);
      ASSERT_EQ(found.exponents[block / 32], exponent) << count << " " << block;
      for (std::size_t i = 0; i < own.size(); ++i) {
        const double integer = std::nearbyint(std::ldexp(own[i], -exponent));
        ASSERT_EQ(found.integers[block + i], integer) << count << " " << block + i;
        error += std::pow(std::ldexp(integer, exponent) - own[i], 2);
        norm += own[i] * own[i];
      }
    }
    EXPECT_NEAR(array.scales[0].relative_error, std::sqrt(error / norm), 1e-3 * std::sqrt(error / norm));
  }
}

TEST(Block16, LengthsAndFallbacks) {
  EXPECT_EQ(dense::compact_bytes(1, Storage::block16), 4u);
  EXPECT_EQ(dense::compact_bytes(32, Storage::block16), 68u);
  EXPECT_EQ(dense::compact_bytes(64, Storage::block16), 132u);
  // Numbers beyond the range of float count as infinite.
  const dense::CompactPlan plan(Shape(16), Domain::complex,
                                {.formats = {.signal = Storage::block16, .spectrum = Storage::block16}});
  CompactArray signal = room_for_signals(plan);
  std::fill(signal.bytes.begin(), signal.bytes.end(), std::byte{127});
  EXPECT_FALSE(forward(plan, signal).scales[0].finite);
}

}  // namespace
}  // namespace sfft::test::block16_test
