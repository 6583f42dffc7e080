// SPDX-License-Identifier: Apache-2.0
// Tests what selective dense plans on the CPU keep and what they refuse.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/selective.hpp"
#include "tests/support/throws.hpp"

namespace sfft::dense_selective_test {
namespace {

using dense::Engine;
using dense::Options;
using dense::SelectivePlan;
using test::code_of;
using test::expect_selects;

TEST(DenseSelective, KeepsWhatSumsSay) {
  for (const Engine engine : {Engine::built_in, Engine::fftw}) {
    if (!dense::availability(engine)) continue;
    const Options options{.engine = engine};
    expect_selects<float>(Shape({12, 10}), 3, options);
    expect_selects<double>(Shape({5, 7}), 2, options);
    expect_selects<std::uint8_t>(Shape({8, 16}), 2, options);
    expect_selects<std::uint16_t>(Shape(33), 2, options);
    expect_selects<std::complex<float>>(Shape({3, 4, 5}), 2, options);
    expect_selects<std::complex<double>>(Shape(64), 1, options);
    expect_selects<float>(Shape(1), 1, options);
  }
}

TEST(DenseSelective, NormalizationScalesBeforeTheMagnitudeIsCompared) {
  const test::SelectiveCase<double> c(Shape(40), 1);
  const auto plan = SelectivePlan<double>::above(
      Shape(40), Domain::real, {.normalization = dense::Options::Normalization::forward_by_n});
  const double magnitude = c.magnitude(0.5);
  const auto kept = plan.forward_above(c.samples.data(), ElementType::f64, magnitude / 40);
  auto expected = kept;
  for (auto& value : expected.values) value *= 40;
  c.expect_above(expected, magnitude);
  EXPECT_GT(kept.indices.size(), 0u);
  EXPECT_TRUE(plan.stores_spectrum());
}

TEST(DenseSelective, NanIsKept) {
  std::vector<float> x(16, 0.0f);
  x[3] = std::numeric_limits<float>::quiet_NaN();
  const auto plan = SelectivePlan<float>::above(Shape(16), Domain::real);
  EXPECT_EQ(plan.forward_above(x.data(), ElementType::f32, 1e30f).indices.size(), 9u);
}

TEST(DenseSelective, WhatMakesNoSenseIsRefused) {
  const std::vector<std::int64_t> support{0, 3}, twice{1, 1}, outside{2, 9}, negative{-1};
  const auto make = [](const std::vector<std::int64_t>& chosen) {
    return code_of([&] { SelectivePlan<float>::at(Shape(16), Domain::real, chosen); });
  };
  EXPECT_EQ(make({}), ErrorCode::invalid_support);
  EXPECT_EQ(make(twice), ErrorCode::invalid_support);
  EXPECT_EQ(make(outside), ErrorCode::invalid_support);
  EXPECT_EQ(make(negative), ErrorCode::invalid_support);
  EXPECT_EQ(make({8}), std::nullopt);
  for (const Device& device : {Device::cpu(), Device::gpu()}) {  // refused before a GPU is queried
    const Options options{.threads = -1, .device = device};
    EXPECT_EQ(code_of([&] { SelectivePlan<float>::above(Shape(16), Domain::real, options); }),
              ErrorCode::invalid_argument);
  }

  const std::vector<float> x(16);
  std::vector<std::complex<float>> values(2);
  const auto above = SelectivePlan<float>::above(Shape(16), Domain::real);
  const auto at = SelectivePlan<float>::at(Shape(16), Domain::real, support);
  const auto f32 = ElementType::f32;
  EXPECT_EQ(code_of([&] { above.forward_at(x.data(), f32, values); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { at.forward_above(x.data(), f32, 1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { above.forward_above(x.data(), f32, -1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { above.forward_above(x.data(), f32, std::numeric_limits<float>::quiet_NaN()); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { above.forward_above(nullptr, f32, 1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { above.forward_above(x.data(), ElementType::f64, 1); }), ErrorCode::type_mismatch);
  EXPECT_EQ(code_of([&] { above.forward_above(x.data(), ElementType::c64, 1); }), ErrorCode::type_mismatch);
  EXPECT_EQ(code_of([&] { at.forward_at(x.data(), f32, std::span(values).first(1)); }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] { at.enqueue_at(x.data(), f32, values.data(), {}, nullptr); }),
            ErrorCode::backend_unavailable);
  EXPECT_EQ(at.device_workspace_bytes(), 0u);
  EXPECT_EQ(code_of([&] { at.forward_at(x.data(), f32, values); }), std::nullopt);
}

}  // namespace
}  // namespace sfft::dense_selective_test
