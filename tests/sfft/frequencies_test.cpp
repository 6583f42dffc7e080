// SPDX-License-Identifier: Apache-2.0
// Frequencies, amplitudes and reconstructed signals against signals made from tones.
#include "sfft/frequencies.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sfft/sfft.hpp"
#include "tests/support/throws.hpp"

namespace sfft::frequencies_test {
namespace {

using test::code_of;

double cosine(double cycles, double phase) {
  return std::cos(2 * std::numbers::pi * cycles + phase);
}

TEST(Frequencies, SignedIndicesAreThoseOfFftfreq) {
  // numpy.fft.fftfreq(n) * n
  const std::vector<std::int64_t> even{0, 1, 2, -3, -2, -1}, odd{0, 1, 2, -2, -1};
  for (std::size_t i = 0; i < even.size(); ++i)
    EXPECT_EQ(signed_frequencies(Shape{6}, static_cast<std::int64_t>(i))[0], even[i]);
  for (std::size_t i = 0; i < odd.size(); ++i)
    EXPECT_EQ(signed_frequencies(Shape{5}, static_cast<std::int64_t>(i))[0], odd[i]);
  EXPECT_EQ(signed_frequencies(Shape{1}, 0)[0], 0);
  for (const Shape& shape : {Shape{7}, Shape{4, 5}, Shape{4, 5, 6}})
    for (std::int64_t index = 0; index < shape.points(); ++index)
      EXPECT_EQ(linear_index(shape, signed_frequencies(shape, index)), index);
  EXPECT_EQ(linear_index(Shape{8, 9}, {-1, 10}), 7 * 9 + 1);
}

TEST(Frequencies, BadArgumentsAreRefused) {
  EXPECT_EQ(code_of([] { signed_frequencies(Shape{6}, 6); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { signed_frequencies(Shape{6}, -1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] {
              linear_index(Shape{6, 6}, std::vector<std::int64_t>{1});
            }),
            ErrorCode::shape_mismatch);
  const std::vector<float> x(64, 1.0F);
  const Spectrum<double> spectrum = transform(SignalView(x, Shape{8, 8}), Largest{1}).spectrum;
  EXPECT_EQ(code_of([&] { static_cast<void>(spectrum.frequency(0, 1.0)); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(spectrum.frequency(0, std::vector<double>{1})); }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] { static_cast<void>(spectrum.amplitude(1)); }), ErrorCode::invalid_argument);
  const std::vector<std::int64_t> begin{4, 4};
  EXPECT_EQ(code_of([&] { reconstruct(spectrum, begin, Shape{4, 5}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { reconstruct(spectrum, begin, Shape{4}); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] { static_cast<void>(Spectrum<float>{}.amplitude(0)); }), ErrorCode::invalid_argument);
}

/// A machine sampled at 2 kHz: an offset, 120 Hz of amplitude 3, 430 Hz of amplitude 0.5, and 1 kHz, where a
/// real signal's coefficient is its own conjugate.
TEST(Frequencies, HertzAndAmplitudesOfARealSignal) {
  constexpr double kRate = 2000;
  constexpr std::size_t kPoints = 1000;
  std::vector<double> x(kPoints);
  for (std::size_t t = 0; t < kPoints; ++t) {
    const double seconds = static_cast<double>(t) / kRate;
    x[t] = 0.25 + 3 * cosine(120 * seconds, 0.4) + 0.5 * cosine(430 * seconds, -1) +
           0.1 * cosine(1000 * seconds, 0);
  }
  const Template tmpl = learn(SignalView::line(x), {.keep = Largest{4}});
  const Spectrum<double> spectrum = Plan<double>(tmpl).execute(SignalView::line(x));
  ASSERT_EQ(spectrum.values.size(), 4u);
  const std::vector<std::pair<double, double>> expected{{0, 0.25}, {120, 3}, {430, 0.5}, {1000, 0.1}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(std::abs(spectrum.frequency(i, kRate)), expected[i].first, 1e-9);
    EXPECT_NEAR(spectrum.amplitude(i), expected[i].second, 1e-9);
  }
  const auto part = reconstruct(spectrum, std::vector<std::int64_t>{700}, Shape{200});
  for (std::size_t t = 0; t < part.size(); ++t) EXPECT_NEAR(part[t], x[700 + t], 1e-9);
}

TEST(Frequencies, AComplexImageIsReconstructedInABox) {
  const Shape shape{12, 20};
  std::vector<std::complex<double>> x;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 20; ++j)
      x.push_back(std::polar(2.0, 2 * std::numbers::pi * (-3 * i / 12.0 + 7 * j / 20.0)) +
                  std::complex<double>(0, 1));
  const Discovery found = transform(SignalView(x, shape), Largest{2});
  const Spectrum<double>& spectrum = found.spectrum;
  ASSERT_EQ(spectrum.values.size(), 2u);
  const std::vector<double> rates{12.0, 1.0};
  const auto f = spectrum.frequency(1, rates);
  EXPECT_NEAR(f[0], -3, 1e-12);
  EXPECT_NEAR(f[1], 0.35, 1e-12);
  EXPECT_NEAR(spectrum.amplitude(1), 2, 1e-9);
  EXPECT_NEAR(spectrum.amplitude(0), 1, 1e-9);
  const auto box = reconstruct_complex(spectrum, std::vector<std::int64_t>{5, 3}, Shape{4, 6});
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 6; ++j) EXPECT_LT(std::abs(box[i * 6 + j] - x[(5 + i) * 20 + 3 + j]), 1e-9);
  EXPECT_EQ(code_of([&] {
              reconstruct(spectrum, std::vector<std::int64_t>{5, 3}, Shape{4, 6});
            }),
            ErrorCode::type_mismatch);
}

TEST(Frequencies, VolumesOfRealSamples) {
  const Shape shape{4, 6, 10};
  std::vector<float> x;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 6; ++b)
      for (int c = 0; c < 10; ++c)
        x.push_back(static_cast<float>(cosine(a / 4.0 + 2 * b / 6.0 - 3 * c / 10.0, 0.3)));
  const Spectrum<double> spectrum = transform(SignalView(x, shape), Largest{1}).spectrum;
  const auto whole = reconstruct(spectrum, std::vector<std::int64_t>{0, 0, 0}, shape);
  for (std::size_t t = 0; t < x.size(); ++t) EXPECT_NEAR(whole[t], x[t], 1e-5);
}

}  // namespace
}  // namespace sfft::frequencies_test
