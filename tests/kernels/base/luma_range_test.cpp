// SPDX-License-Identifier: Apache-2.0
// Tests the stretch of limited range for every sample of every depth.
#include "kernels/cuda/stages/luma_range.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sfft::detail::luma_range_test {
namespace {

/// The exact stretched value of a sample in 0 … 2^bits - 1, before rounding.
double stretched(int sample, int bits) {
  const double unit = std::ldexp(1.0, bits - 8), top = std::ldexp(1.0, bits) - 1;
  return std::clamp((sample - 16 * unit) * top / (219 * unit), 0.0, top);
}

TEST(LumaRange, BytesAreRounded) {
  for (int sample = 0; sample < 256; ++sample)
    EXPECT_EQ(full_range(static_cast<std::uint8_t>(sample)), std::lround(stretched(sample, 8))) << sample;
}

TEST(LumaRange, WordsAreRounded) {
  for (int bits = 9; bits <= 16; ++bits) {
    const FullRange full_range(bits);
    for (int sample = 0; sample < 1 << bits; ++sample) {
      const double exact = stretched(sample, bits);
      // The fixed-point factor is right to half of 2^-31, and the largest sample is below 2^16.
      ASSERT_LE(std::fabs(full_range(static_cast<std::uint16_t>(sample)) - exact), 0.5 + std::ldexp(1.0, -16))
          << sample << " of " << bits << " bits";
    }
  }
}

}  // namespace
}  // namespace sfft::detail::luma_range_test
