// SPDX-License-Identifier: Apache-2.0
// Tests what a run learns from additional dense transforms: exact errors, and times of engines, whose
// planning stays within its time limit.
#include "video/pipeline/dense_check.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "sfft/template.hpp"

namespace sfft::video::dense_check_test {
namespace {

const Shape kShape{18, 30};
constexpr std::int64_t kRows = 18, kColumns = 30;

std::vector<std::uint8_t> picture(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> samples(static_cast<std::size_t>(kShape.points()));
  for (std::uint8_t& sample : samples) sample = static_cast<std::uint8_t>(random() % 256);
  return samples;
}

/// Computes a coefficient by the definition of the transform.
std::complex<double> coefficient(const std::vector<std::uint8_t>& samples, std::int64_t f) {
  std::complex<double> sum = 0;
  for (std::int64_t y = 0; y < kRows; ++y) {
    for (std::int64_t x = 0; x < kColumns; ++x) {
      const double turns =
          static_cast<double>(f / kColumns * y) / kRows + static_cast<double>(f % kColumns * x) / kColumns;
      sum += static_cast<double>(samples[static_cast<std::size_t>(y * kColumns + x)]) *
             std::polar(1.0, -2 * std::numbers::pi * turns);
    }
  }
  return sum;
}

TEST(DenseCheck, ErrorsAreThoseOfTheDefinitionWithoutTheMean) {
  DenseCheck check(kShape, 1);
  for (const std::vector<std::int64_t>& support :
       {std::vector<std::int64_t>{0, 1, 2, 33, 95}, std::vector<std::int64_t>{3, 61}}) {
    const auto samples = picture(7);
    Spectrum<float> spectrum;
    spectrum.support = std::make_shared<const std::vector<std::int64_t>>(support);
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < support.size(); ++i) {
      const std::complex<double> truth = coefficient(samples, support[i]);
      const std::complex<float> answer(truth + std::complex<double>(10, -5.0 * static_cast<double>(i)));
      spectrum.values.push_back(answer);
      if (support[i] == 0) continue;
      error += std::norm(std::complex<double>(answer) - truth);
      norm += std::norm(truth);
    }
    const TrackedFrame::ErrorCheck found = check.verify(SignalView(samples, kShape), spectrum);
    EXPECT_NEAR(found.norm_l2, std::sqrt(norm), 1e-5 * std::sqrt(norm));
    EXPECT_NEAR(found.error_l2, std::sqrt(error), 1e-5 * std::sqrt(norm));
  }
}

TEST(DenseCheck, EveryEngineIsTimedAndNoneMeasuresToPlan) {
  DenseCheck check(kShape, 1);
  std::vector<RunReport::DenseTimes> times;
  for (unsigned frame = 0; frame < 4; ++frame) check.time(SignalView(picture(frame), kShape), times);
  ASSERT_EQ(times.size(), dense::availability(dense::Engine::fftw) ? 2u : 1u);
  for (const RunReport::DenseTimes& engine : times) {
    EXPECT_EQ(engine.us.size(), 4u) << engine.engine;
    EXPECT_EQ(engine.engine.find("measure"), std::string::npos) << engine.engine;
  }
  if (times.size() > 1) {
    EXPECT_NE(times[1].engine.find("FFTW"), std::string::npos) << times[1].engine;
  }
}

/// Segments of a run share the times, which the report sorts between them.
TEST(DenseCheck, TimesStayWithTheirEngine) {
  DenseCheck check(kShape, 1);
  std::vector<RunReport::DenseTimes> times;
  const auto samples = picture(3);
  check.time(SignalView(samples, kShape), times);
  ASSERT_FALSE(times.empty());
  const std::string first = times.front().engine;
  times.insert(times.begin(), {.engine = "another engine", .us = {5}});
  check.time(SignalView(samples, kShape), times);
  EXPECT_EQ(times.front().engine, "another engine");
  EXPECT_EQ(times.front().us, std::vector<double>{5});
  EXPECT_EQ(times[1].engine, first);
  EXPECT_EQ(times[1].us.size(), 2U);
}

}  // namespace
}  // namespace sfft::video::dense_check_test
