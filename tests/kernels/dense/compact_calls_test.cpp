// SPDX-License-Identifier: Apache-2.0
// Tests how compact plans treat special values (zeros, subnormal numbers, infinities, NaN) and bad arguments.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfft/dense_selective.hpp"
#include "tests/support/compact.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::compact_calls_test {
namespace {

using dense::CompactPlan;
using dense::CompactScale;
using dense::Storage;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Storage kAll[] = {Storage::f32, Storage::f16, Storage::bf16, Storage::block16};

TEST(CompactValues, ZerosStayZero) {
  for (const Storage storage : kAll) {
    const CompactArray zeros = stored(std::vector<double>(64, 0.0), 1, storage);
    EXPECT_EQ(zeros.scales[0].exponent, 0);
    EXPECT_EQ(zeros.scales[0].relative_error, 0);
    const CompactPlan plan(Shape(32), Domain::complex, {.formats = {.signal = storage, .spectrum = storage}});
    const CompactArray spectrum = forward(plan, zeros);
    EXPECT_EQ(loaded(spectrum, storage), std::vector<double>(64, 0.0));
    EXPECT_EQ(spectrum.scales[0].exponent, 0);
    EXPECT_EQ(spectrum.scales[0].relative_error, 0);
    EXPECT_TRUE(spectrum.scales[0].finite);
  }
}

TEST(CompactValues, NanAndInfinitiesStayWhereTheyAre) {
  for (const Storage storage : kAll) {
    std::vector<double> parts(16, 3e30);
    parts[3] = std::numeric_limits<double>::quiet_NaN();
    parts[7] = kInfinity;
    parts[8] = -kInfinity;
    const CompactArray array = stored(parts, 1, storage);
    EXPECT_FALSE(array.scales[0].finite);
    EXPECT_EQ(array.scales[0].relative_error, kInfinity);
    const std::vector<double> back = loaded(array, storage);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (std::isnan(parts[i])) {
        EXPECT_TRUE(std::isnan(back[i]));
      } else if (std::isinf(parts[i])) {
        EXPECT_EQ(back[i], parts[i]);
      } else {
        EXPECT_NEAR(back[i] / parts[i], 1, storage_bound(storage, 1));
      }
    }
  }
}

TEST(CompactValues, OneSpoiledTransformSpoilsNoOther) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), kInfinity}) {
    std::vector<double> parts = parts_of(random_signal(3 * 40, 1), false);
    const CompactPlan plan(Shape(40), Domain::complex, {.batch = 3});
    const CompactArray good = forward(plan, stored(parts, 3, Storage::f16));
    parts[80 + 11] = bad;
    const CompactArray found = forward(plan, stored(parts, 3, Storage::f16));
    const std::size_t each = good.bytes.size() / 3;
    for (const std::size_t b : {std::size_t{0}, std::size_t{2}}) {
      EXPECT_TRUE(std::equal(good.bytes.begin() + static_cast<std::ptrdiff_t>(b * each),
                             good.bytes.begin() + static_cast<std::ptrdiff_t>((b + 1) * each),
                             found.bytes.begin() + static_cast<std::ptrdiff_t>(b * each)));
      EXPECT_TRUE(found.scales[b].finite);
    }
    EXPECT_FALSE(found.scales[1].finite);
    EXPECT_EQ(found.scales[1].relative_error, kInfinity);
  }
}

/// Subnormal numbers that the user stores without an exponent are as exact as others.
TEST(CompactValues, SubnormalInputs) {
  for (const Storage storage : {Storage::f16, Storage::bf16}) {
    const CompactPlan plan(Shape(12), Domain::complex, {.formats = {.signal = storage, .spectrum = storage}});
    CompactArray signal = room_for_signals(plan);
    auto* parts = reinterpret_cast<unsigned short*>(signal.bytes.data());
    for (unsigned i = 0; i < 24; ++i) parts[i] = static_cast<unsigned short>(1 + 3 * i % 60);
    const ComplexSignal exact = complex_of(loaded(signal, storage), false);
    const ComplexSignal result = complex_of(loaded(forward(plan, signal), storage), false);
    EXPECT_LE(relative_l2(result, expected_spectra(exact, Shape(12), false)),
              storage_bound(storage, 24) + fft_bound<float>(12));
  }
}

/// The format bounds how much accuracy tiny values lose to a huge one among them.
TEST(CompactValues, OneHugeValueAmongTinyOnes) {
  for (const Storage storage : kAll) {
    for (const double huge : {1e3, 1e10, 1e30}) {
      std::vector<double> parts(400, 1.0);
      parts[123] = huge;
      const CompactArray array = stored(parts, 1, storage);
      const std::vector<double> back = loaded(array, storage);
      const double unit = storage_bound(storage, 1);
      EXPECT_NEAR(back[123] / huge, 1, unit);
      const double lost = storage == Storage::f16 ? std::ldexp(huge, -25 - 14) : 0;
      EXPECT_NEAR(back[0], 1, std::max(unit, lost));
      EXPECT_LE(relative_l2(back, parts), storage_bound(storage, 400));
    }
  }
}

TEST(CompactCalls, BadArgumentsAreRefused) {
  const CompactPlan plan(Shape(8), Domain::complex);
  std::vector<std::byte> signal(32), spectrum(32), small(31);
  std::vector<CompactScale> scales(1), two(2), bad{{1 << 30, 0, true}}, wrong{{0, std::nan(""), true}};
  const auto with = [&](auto from, auto from_scales, auto to, auto to_scales) {
    return code_of([&] {
      plan.forward(std::span<const std::byte>(from), std::span<const CompactScale>(from_scales),
                   std::span<std::byte>(to), std::span<CompactScale>(to_scales));
    });
  };
  using Bytes = std::span<std::byte>;
  using Scales = std::span<CompactScale>;
  EXPECT_EQ(with(Bytes(signal), Scales(), Bytes(spectrum), Scales()), std::nullopt);
  EXPECT_EQ(with(Bytes(small), Scales(scales), Bytes(spectrum), Scales(scales)), ErrorCode::shape_mismatch);
  EXPECT_EQ(with(Bytes(signal), Scales(scales), Bytes(small), Scales(scales)), ErrorCode::shape_mismatch);
  EXPECT_EQ(with(Bytes(signal), Scales(two), Bytes(spectrum), Scales(scales)), ErrorCode::shape_mismatch);
  EXPECT_EQ(with(Bytes(signal), Scales(scales), Bytes(spectrum), Scales(two)), ErrorCode::shape_mismatch);
  EXPECT_EQ(with(Bytes(signal), Scales(bad), Bytes(spectrum), Scales(scales)), ErrorCode::invalid_argument);
  EXPECT_EQ(with(Bytes(signal), Scales(wrong), Bytes(spectrum), Scales(scales)), ErrorCode::invalid_argument);
  EXPECT_EQ(with(Bytes(signal), Scales(scales), Bytes(signal), Scales(scales)), ErrorCode::invalid_argument)
      << "in place";
  EXPECT_EQ(with(Bytes(static_cast<std::byte*>(nullptr), 32), Scales(scales), Bytes(spectrum), Scales()),
            ErrorCode::invalid_argument);
  std::vector<std::byte> odd(33);
  EXPECT_EQ(with(Bytes(odd).last(32), Scales(scales), Bytes(spectrum), Scales(scales)),
            ErrorCode::invalid_argument)
      << "not aligned";
  const auto made = [](const dense::Options& options) {
    return code_of([&] { CompactPlan(Shape(8), Domain::complex, options); });
  };
  EXPECT_EQ(made({.formats = {.signal = static_cast<Storage>(9)}}), ErrorCode::invalid_argument);
  EXPECT_EQ(made({.signal_strides = {{2, 0, 0}, 16}}), ErrorCode::invalid_argument);
  EXPECT_EQ(made({.batch = 0}), ErrorCode::invalid_argument);
  const dense::Options formats{.formats = {.signal = Storage::bf16}};
  EXPECT_EQ(code_of([&] { dense::Plan<float>(Shape(8), Domain::complex, formats); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { dense::SelectivePlan<float>::above(Shape(8), Domain::complex, formats); }),
            ErrorCode::invalid_argument);
}

TEST(CompactCalls, StoringRefusesWhatDoesNotFit) {
  std::vector<float> values(8);
  std::vector<std::byte> bytes(16);
  const auto store = [&](std::size_t count, std::size_t size, Storage storage) {
    return code_of([&] {
      store_compact(std::span<const float>(values).first(count), storage, std::span(bytes).first(size));
    });
  };
  EXPECT_EQ(store(8, 16, Storage::f16), std::nullopt);
  EXPECT_EQ(store(8, 15, Storage::f16), ErrorCode::shape_mismatch);
  EXPECT_EQ(store(4, 16, Storage::bf16), ErrorCode::shape_mismatch);
  EXPECT_EQ(store(8, 16, static_cast<Storage>(7)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] {
              load_compact(bytes, Storage::f16, {0, -1, true}, std::span(values));
            }),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sfft::test::compact_calls_test
