// SPDX-License-Identifier: Apache-2.0
// Tests the converter of stored samples against bytes written by hand.
#include "sfft/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "sfft/error.hpp"
#include "tests/support/throws.hpp"

namespace sfft::samples_test {
namespace {

using test::code_of;

struct Case {
  std::string format;          ///< without r or c and the byte order
  std::vector<unsigned> low;   ///< the bytes of two numbers, lowest first
  std::vector<double> values;  ///< the numbers
};

std::vector<Case> cases() {
  return {{"i8", {0x80, 0x7f}, {-128, 127}},
          {"u8", {0x80, 0xff}, {128, 255}},
          {"i16", {0x00, 0x80, 0xff, 0x7f}, {-32768, 32767}},
          {"u16", {0x00, 0x80, 0xff, 0xff}, {32768, 65535}},
          {"i24", {0x00, 0x00, 0x80, 0x56, 0x34, 0x12}, {-8388608, 0x123456}},
          {"i24", {0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, {-1, 8388607}},
          {"u24", {0x00, 0x00, 0x80, 0xff, 0xff, 0xff}, {8388608, 16777215}},
          {"i32", {0x00, 0x00, 0x00, 0x80, 0xfe, 0xff, 0xff, 0xff}, {-2147483648.0, -2}},
          {"u32", {0x00, 0x00, 0x00, 0x80, 0xff, 0xff, 0xff, 0xff}, {2147483648.0, 4294967295.0}},
          {"f32", {0x00, 0x00, 0xc0, 0xbf, 0x00, 0x00, 0x00, 0x40}, {-1.5, 2}},
          {"f64", {0, 0, 0, 0, 0, 0, 0xf8, 0xbf, 0, 0, 0, 0, 0, 0, 0x00, 0x40}, {-1.5, 2}}};
}

/// The bytes in the order, at an odd address.
class Stored {
 public:
  Stored(const Case& of, bool big) {
    const std::size_t each = of.low.size() / 2;
    for (std::size_t i = 0; i < of.low.size(); ++i) {
      const std::size_t from = big ? i / each * each + each - 1 - i % each : i;
      memory_.push_back(static_cast<std::byte>(of.low[from]));
    }
  }
  std::span<const std::byte> bytes() const { return std::span(memory_).subspan(1); }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(1);
};

template <class Real>
void expect_values(const Case& of) {
  const bool byte = of.low.size() == 2;
  for (const bool big : {false, true}) {
    const Stored stored(of, big);
    const std::string name = of.format + (byte ? "" : big ? "_be" : "_le");
    std::vector<Real> reals(2);
    convert_samples(stored.bytes(), "r" + name, reals);
    EXPECT_EQ(reals[0], static_cast<Real>(of.values[0])) << name;
    EXPECT_EQ(reals[1], static_cast<Real>(of.values[1])) << name;
    std::vector<std::complex<Real>> pair(1);
    convert_samples(stored.bytes(), "c" + name, pair, 0.25, 3);
    EXPECT_EQ(pair[0].real(), static_cast<Real>(0.25 * (of.values[0] + 3))) << name;
    EXPECT_EQ(pair[0].imag(), static_cast<Real>(0.25 * (of.values[1] + 3))) << name;
  }
}

TEST(ConvertSamples, GivesTheNumbersOfEveryFormat) {
  for (const Case& each : cases()) {
    expect_values<float>(each);
    expect_values<double>(each);
  }
}

TEST(ConvertSamples, TakesArraysAndSpansAndNothing) {
  const std::byte bytes[] = {std::byte{0}, std::byte{255}};
  std::complex<float> value[1];
  convert_samples(bytes, "cu8", value, 1 / 127.5, -127.5);
  EXPECT_EQ(value[0], std::complex<float>(-1, 1));
  convert_samples(bytes, "ri16_be", std::span<double, 1>(reinterpret_cast<double*>(value), 1));
  convert_samples({}, "rf32_le", std::vector<float>());
}

TEST(ConvertSamples, KeepsInfinitiesAndNaN) {
  const Case special{"f32", {0x00, 0x00, 0x80, 0x7f, 0x00, 0x00, 0xc0, 0x7f}, {}};
  std::vector<float> values(2);
  convert_samples(Stored(special, true).bytes(), "rf32_be", values);
  EXPECT_EQ(values[0], std::numeric_limits<float>::infinity());
  EXPECT_NE(values[1], values[1]);
}

TEST(ConvertSamples, RefusesFormatsAndSizes) {
  const std::vector<std::byte> bytes(12);
  std::vector<float> reals(4);
  const auto code = [&](std::string_view format) {
    return code_of([&] { convert_samples(bytes, format, reals); });
  };
  EXPECT_EQ(code("ri24_le"), std::nullopt);
  for (const char* format :
       {"", "r", "ri", "i24_le", "ri24", "ri24_", "ri24_me", "ri24_lee", "ri12_le", "ri64_le", "rf16_le",
        "ru8_le", "rf8", "rx24_le", "ri-24_le", "ri99999999999999999999_le", "R"})
    EXPECT_EQ(code(format), ErrorCode::invalid_argument) << format;
  EXPECT_EQ(code("ri16_le"), ErrorCode::shape_mismatch) << "six values";
  EXPECT_EQ(code("ri32_le"), ErrorCode::shape_mismatch) << "three values";
  EXPECT_EQ(code("ru8"), ErrorCode::shape_mismatch);
  EXPECT_EQ(code("ci24_le"), ErrorCode::type_mismatch);
  std::vector<std::complex<float>> pairs(2);
  EXPECT_EQ(code_of([&] { convert_samples(bytes, "ri24_le", pairs); }), ErrorCode::type_mismatch);
  EXPECT_EQ(code_of([&] { convert_samples(std::span(bytes).first(11), "ci24_le", pairs); }),
            ErrorCode::shape_mismatch);
}

}  // namespace
}  // namespace sfft::samples_test
