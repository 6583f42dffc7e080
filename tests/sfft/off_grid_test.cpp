// SPDX-License-Identifier: Apache-2.0
// Tests that discovery tells tones between the frequencies of the grid from frequencies on it. The reference
// is how the signal was made: its tones, and a dense transform in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "bench/trust/off_grid_signals.hpp"
#include "sfft/sfft.hpp"
#include "template/discovery/leakage.hpp"
#include "template/discovery/tone_kernel.hpp"

namespace sfft {
namespace {

using Complex = std::complex<double>;
constexpr double kTurn = 2 * std::numbers::pi;

std::vector<Complex> tone(std::int64_t points, double frequency, Complex amplitude) {
  std::vector<Complex> x(static_cast<std::size_t>(points));
  for (std::int64_t t = 0; t < points; ++t)
    x[static_cast<std::size_t>(t)] =
        amplitude *
        std::polar(1.0,
                   kTurn * std::fmod(frequency * static_cast<double>(t) / static_cast<double>(points), 1.0));
  return x;
}

/// The frequencies around `centre` of a direct sum in double precision.
std::vector<detail::KnownCoefficient> around(const std::vector<Complex>& x, std::int64_t centre, bool real) {
  std::vector<detail::KnownCoefficient> known;
  const auto points = static_cast<std::int64_t>(x.size());
  for (std::int64_t f = centre - 8; f <= centre + 8; ++f) {
    if (f < 0 || f >= (real ? points / 2 : points)) continue;
    Complex sum = 0;
    for (std::int64_t t = 0; t < points; ++t)
      sum += x[static_cast<std::size_t>(t)] *
             std::polar(1.0, -kTurn * static_cast<double>(f * t % points) / static_cast<double>(points));
    known.push_back({f, sum, 0});
  }
  return known;
}

TEST(OffGrid, TheKernelIsTheSumOverTheWindowedTone) {
  constexpr std::int64_t kPoints = 48;
  for (const detail::CosineWindow& window : detail::kCosineWindow) {
    for (const bool symmetric : {false, true}) {
      const double spacing = symmetric ? double{kPoints} / (kPoints - 1) : 1;
      for (const double x : {0.0, 0.3, -0.5, 2.75, 17.2, 47.9, 48.0}) {
        Complex sum = 0;
        for (std::int64_t t = 0; t < kPoints; ++t) {
          double w = 0;
          for (int q = 0; q < window.terms; ++q)
            w += (q % 2 != 0 ? -1 : 1) * window.a[static_cast<std::size_t>(q)] *
                 std::cos(kTurn * q * static_cast<double>(t) /
                          static_cast<double>(symmetric ? kPoints - 1 : kPoints));
          sum += w * std::polar(1.0, kTurn * x * static_cast<double>(t) / kPoints);
        }
        EXPECT_LT(std::abs(detail::tone_kernel(window, spacing, x, kPoints) - sum / double{kPoints}), 1e-13);
        Complex row[9];
        detail::tone_kernels(window, spacing, x + 2, kPoints, 4, row + 4);
        EXPECT_LT(std::abs(row[6] - sum / double{kPoints}), 1e-13);
      }
    }
  }
}

TEST(OffGrid, TheFrequencyOfOneToneIsExact) {
  constexpr std::int64_t kPoints = 1000;
  const Shape shape{kPoints};
  for (const bool real : {false, true}) {
    for (const double frequency : {3.3, 100.01, 250.5, 333.25, 480.97}) {
      if (!real && frequency < 8) continue;  // around() does not wrap
      std::vector<Complex> x = tone(kPoints, frequency, std::polar(0.7, 1.0));
      if (real) {
        for (Complex& value : x) value = 2 * value.real();
      }
      const auto known = around(x, std::llround(frequency), real);
      const auto found = detail::suspect_leakage({shape, real, known, 1});
      ASSERT_FALSE(found.empty()) << frequency;
      EXPECT_NEAR(found[0].frequency[0], frequency, 1e-6);
      EXPECT_LT(std::abs(found[0].amplitude - std::polar(0.7, 1.0)), 1e-5);
    }
  }
}

TEST(OffGrid, NoiseMovesTheFrequencyByItsStandardError) {
  constexpr std::int64_t kPoints = 512;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, 0.02);
  double sum = 0;
  constexpr int kTrials = 60;
  for (int trial = 0; trial < kTrials; ++trial) {
    const double frequency = 100 + 0.8 * trial / kTrials + 0.1;
    std::vector<Complex> x = tone(kPoints, frequency, 1);
    for (Complex& value : x) value += Complex(normal(random), normal(random));
    auto known = around(x, std::llround(frequency), false);
    for (detail::KnownCoefficient& one : known) one.variance = kPoints * 2 * 0.02 * 0.02;
    const auto found = detail::suspect_leakage({Shape{kPoints}, false, known, 8});
    ASSERT_FALSE(found.empty()) << frequency;
    const double off = (found[0].frequency[0] - frequency) / found[0].standard_error[0];
    EXPECT_LT(std::fabs(off), 5);
    sum += off * off;
  }
  EXPECT_GT(sum / kTrials, 0.3);
  EXPECT_LT(sum / kTrials, 2.0);
}

TEST(OffGrid, TheLargestCoefficientsOfOneToneAreSaidToBeLeakage) {
  constexpr std::int64_t kPoints = 1 << 18;
  std::vector<Complex> x(kPoints);
  const double frequencies[] = {123455.6, 40000.3, 200000.45}, sizes[] = {1, 1e-2, 1e-3};
  for (int i = 0; i < 3; ++i) {
    const std::vector<Complex> one = tone(kPoints, frequencies[i], sizes[i]);
    for (std::size_t t = 0; t < x.size(); ++t) x[t] += one[t];
  }
  const Spectrum<double> spectrum = transform(SignalView::line(x), {.k = 3});
  EXPECT_TRUE(spectrum.leakage_suspected) << spectrum.reason;
  EXPECT_NE(spectrum.reason.find("leakage"), std::string::npos) << spectrum.reason;
  const Discovery found = discover(SignalView::line(x), {.k = 3});
  ASSERT_FALSE(found.off_grid_tones.empty());
  EXPECT_EQ(found.values.size(), 3u);
  EXPECT_NEAR(found.off_grid_tones[0].frequency[0], frequencies[0], 1e-3);
}

TEST(OffGrid, DrawnSignalsAreRightOrSaidToLeakAndOthersAreNot) {
  const trust::OffGridPopulation population(20, false);
  constexpr int kSignals = 60;
  int silent = 0, verified = 0, flagged_on_grid = 0, listed = 0, near = 0;
  for (int i = 0; i < kSignals; ++i) {
    const trust::OffGridSignal off = population.draw(i, true);
    DiscoverOptions options = off.options;
    options.fallback = options.k > 0 ? Fallback::dense : Fallback::none;
    const Discovery found = trust::discover_drawn(off, options);
    const trust::OffGridVerdict verdict = trust::judge(off, found, std::numeric_limits<float>::epsilon());
    verified += found.verified;
    silent += found.verified && !verdict.right() && !verdict.told();
    listed += verdict.listed;
    near += verdict.near;
    const trust::OffGridSignal on = population.draw(i, false);
    options = on.options;
    options.fallback = options.k > 0 ? Fallback::dense : Fallback::none;
    flagged_on_grid += trust::discover_drawn(on, options).leakage_suspected;
  }
  EXPECT_GT(verified, kSignals / 2);
  EXPECT_LE(silent, verified / 20);
  EXPECT_LE(flagged_on_grid, 1);
  EXPECT_GE(near, 9 * listed / 10);
}

}  // namespace
}  // namespace sfft
