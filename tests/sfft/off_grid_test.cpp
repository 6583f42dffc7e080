// SPDX-License-Identifier: Apache-2.0
// Tests that discovery tells tones between the frequencies of the grid from frequencies on it. The references
// are the tones of which the signal was made, and a dense transform in double precision.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "bench/trust/off_grid_signals.hpp"
#include "sfft/sfft.hpp"
#include "template/discovery/leakage.hpp"
#include "template/discovery/tone_fit.hpp"

namespace sfft::off_grid_test {
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

/// Computes the frequencies around `centre` by a direct sum in double precision.
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
        EXPECT_LT(
            std::abs(detail::tone_kernel_line(window, spacing, x + 7, kPoints)[7] - sum / double{kPoints}),
            1e-13);
        Complex row[9];
        detail::tone_kernels(window, spacing, x + 2, kPoints, 4, row + 4);
        EXPECT_LT(std::abs(row[6] - sum / double{kPoints}), 1e-13);
      }
    }
  }
}

TEST(OffGrid, TheKernelOfDelayedSamplesTurnsWithTheWindow) {
  // Every fourth sample from the third one on: the window begins earlier than the samples.
  constexpr int kPoints = 12, kStride = 4, kDelay = 3;
  constexpr double kFrequency = 5.3;
  const detail::CosineWindow& window = detail::kCosineWindow[3];
  Complex row[9];
  detail::tone_kernels(window, 1, kFrequency - 5, kPoints, 4, row + 4, double{kDelay} / (kPoints * kStride));
  for (int step = -4; step <= 4; ++step) {
    Complex sum = 0;
    for (int m = 0; m < kPoints; ++m) {
      double w = 0;
      for (int q = 0; q < window.terms; ++q)
        w += (q % 2 != 0 ? -1 : 1) * window.a[static_cast<std::size_t>(q)] *
             std::cos(kTurn * q * (m * kStride + kDelay) / (kPoints * kStride));
      sum += w * std::polar(1.0, kTurn * (kFrequency - 5 - step) * m / kPoints);
    }
    EXPECT_LT(std::abs(row[4 + step] - sum / double{kPoints}), 1e-13) << step;
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

TEST(OffGrid, TheLargestCoefficientsOfOneToneAreReportedAsLeakage) {
  constexpr std::int64_t kPoints = 1 << 18;
  std::vector<Complex> x(kPoints);
  const double frequencies[] = {123455.6, 40000.3, 200000.45}, sizes[] = {1, 1e-2, 1e-3};
  for (int i = 0; i < 3; ++i) {
    const std::vector<Complex> one = tone(kPoints, frequencies[i], sizes[i]);
    for (std::size_t t = 0; t < x.size(); ++t) x[t] += one[t];
  }
  const Discovery transformed = transform(SignalView::line(x), Largest{3});
  EXPECT_TRUE(transformed.leakage_suspected) << transformed.reason;
  EXPECT_NE(transformed.reason.find("leakage"), std::string::npos) << transformed.reason;
  const Discovery found = discover(SignalView::line(x), {.k = 3});
  ASSERT_FALSE(found.off_grid_tones.empty());
  EXPECT_EQ(found.spectrum.values.size(), 3u);
  EXPECT_NEAR(found.off_grid_tones[0].frequency[0], frequencies[0], 1e-3);
}

TEST(OffGrid, DrawnSignalsAreRightOrReportedAsLeakage) {
  const trust::OffGridPopulation population(20, false);
  constexpr int kSignals = 60;
  int silent = 0, verified = 0, flagged_on_grid = 0, listed = 0, near = 0;
  for (int i = 0; i < kSignals; ++i) {
    const trust::OffGridSignal off = population.draw(i, true);
    DiscoverOptions options = off.options;
    options.dense_fallback = options.k.has_value();
    const Discovery found = trust::discover_drawn(off, options);
    const trust::OffGridVerdict verdict = trust::judge(off, found, std::numeric_limits<float>::epsilon());
    verified += found.verified;
    silent += found.verified && !verdict.right() && !verdict.told();
    listed += verdict.listed;
    near += verdict.near;
    const trust::OffGridSignal on = population.draw(i, false);
    options = on.options;
    options.dense_fallback = options.k.has_value();
    flagged_on_grid += trust::discover_drawn(on, options).leakage_suspected;
  }
  EXPECT_GT(verified, kSignals / 2);
  EXPECT_LE(silent, verified / 20);
  EXPECT_LE(flagged_on_grid, 1);
  EXPECT_GE(near, 9 * listed / 10);
}

/// The sum of real or complex tones, whose frequencies are in bins along every axis.
std::vector<Complex> sum_of_tones(const Shape& shape, bool real,
                                  const std::vector<std::array<double, 3>>& frequencies) {
  std::vector<Complex> x(static_cast<std::size_t>(shape.points()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto left = static_cast<std::int64_t>(i);
    std::array<double, 3> share{0, 0, 0};
    for (int d = shape.rank() - 1; d >= 0; --d) {
      share[static_cast<std::size_t>(d)] =
          static_cast<double>(left % shape[d]) / static_cast<double>(shape[d]);
      left /= shape[d];
    }
    for (const std::array<double, 3>& f : frequencies) {
      const double turns = f[0] * share[0] + f[1] * share[1] + f[2] * share[2];
      const Complex one = std::polar(1.0, kTurn * (turns - std::floor(turns)));
      x[i] += real ? 2 * one.real() : one;
    }
  }
  return x;
}

Discovery discover_without_fallback(const std::vector<Complex>& x, const Shape& shape, bool real,
                                    std::optional<std::int64_t> k) {
  const DiscoverOptions options{.k = k, .dense_fallback = false};
  if (!real) return discover(SignalView(x, shape), options);
  std::vector<double> samples;
  for (const Complex& value : x) samples.push_back(value.real());
  return discover(SignalView(samples, shape), options);
}

TEST(OffGrid, ASearchThatFailsSaysThatTonesAreBetweenBins) {
  const Shape shapes[] = {Shape{1 << 18}, Shape{1 << 16},  Shape{15000},      Shape{10007},
                          Shape{192, 96}, Shape{101, 127}, Shape{32, 24, 40}, Shape{1, 8192}};
  for (const Shape& shape : shapes) {
    for (const bool real : {false, true}) {
      std::vector<std::array<double, 3>> frequencies;
      for (const double share : {0.113, 0.234, 0.391}) {
        std::array<double, 3> f{0, 0, 0};
        for (int d = 0; d < shape.rank(); ++d) {
          const auto at = static_cast<std::size_t>(d);
          if (shape[d] > 1)
            f[at] = std::floor(share * static_cast<double>(shape[d])) + 0.3 + 0.15 * static_cast<double>(d);
        }
        frequencies.push_back(f);
      }
      const std::vector<Complex> x = sum_of_tones(shape, real, frequencies);
      for (const std::optional<std::int64_t> k :
           {std::optional<std::int64_t>(), std::optional<std::int64_t>(3)}) {
        const Discovery found = discover_without_fallback(x, shape, real, k);
        EXPECT_FALSE(found.verified);
        ASSERT_TRUE(found.leakage_suspected)
            << shape.to_string() << " real " << real << " k " << k.value_or(0);
        EXPECT_LT(found.samples, shape.points()) << shape.to_string() << " k " << k.value_or(0);
        ASSERT_FALSE(found.off_grid_tones.empty());
        for (const OffGridTone& listed : found.off_grid_tones) {
          double nearest = std::numeric_limits<double>::infinity();
          for (const auto& f : frequencies) {
            trust::DrawnTone tone;
            tone.frequency = f;
            nearest = std::min(nearest, trust::standard_errors_apart(shape, real, listed, tone));
          }
          EXPECT_LT(nearest, 5) << shape.to_string() << " real " << real << " k " << k.value_or(0);
          EXPECT_NEAR(std::abs(listed.amplitude), 1, 0.1);
        }
      }
    }
  }
}

TEST(OffGrid, AFailedSearchOnTheGridReportsNoLeakage) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  int failed = 0;
  for (const Shape& shape :
       {Shape{16384}, Shape{10007}, Shape{128, 96}, Shape{101, 127}, Shape{32, 24, 20}}) {
    const auto below = [&](int d) {
      return static_cast<double>(random() % static_cast<std::uint64_t>(shape[d]));
    };
    for (const int count : {4, 40, 400}) {
      for (const double noise : {0.0, 0.1, 10.0}) {
        // Every second tone is next to the one before.
        std::vector<std::array<double, 3>> frequencies;
        for (int i = 0; i < count; ++i) {
          std::array<double, 3> f{0, 0, 0};
          for (int d = 0; d < shape.rank(); ++d) f[static_cast<std::size_t>(d)] = below(d);
          if (i % 2 != 0) {
            f = frequencies.back();
            f[0] += f[0] + 1 < static_cast<double>(shape[0]) ? 1 : -1;
          }
          frequencies.push_back(f);
        }
        std::vector<Complex> x = sum_of_tones(shape, false, frequencies);
        for (Complex& value : x) value += noise * Complex(normal(random), normal(random));
        for (int changed = 0; changed < (count == 4 ? 3 : 0); ++changed) x[random() % x.size()] *= -3.0;
        const Discovery found = discover_without_fallback(x, shape, false, 2 * count);
        failed += !found.verified;
        EXPECT_FALSE(found.leakage_suspected)
            << shape.to_string() << " tones " << count << " noise " << noise << ": " << found.reason;
      }
    }
  }
  EXPECT_GT(failed, 30);
}

TEST(OffGrid, MostDrawnSignalsReportLeakageWithoutFallback) {
  const trust::OffGridPopulation population(21, false);
  constexpr int kSignals = 80;
  int known = 0, silent = 0, flagged_on_grid = 0;
  for (int i = 0; i < kSignals; ++i) {
    const trust::OffGridSignal off = population.draw(i, true);
    DiscoverOptions options = off.options;
    options.dense_fallback = false;
    const trust::OffGridVerdict verdict =
        trust::judge(off, trust::discover_drawn(off, options), std::numeric_limits<float>::epsilon());
    known += verdict.right() || verdict.told();
    silent += verdict.verified && !verdict.right() && !verdict.told();
    const trust::OffGridSignal on = population.draw(i, false);
    options = on.options;
    options.dense_fallback = false;
    flagged_on_grid += trust::discover_drawn(on, options).leakage_suspected;
  }
  EXPECT_GE(known, 19 * kSignals / 20);
  EXPECT_EQ(silent, 0);
  EXPECT_EQ(flagged_on_grid, 0);
}

}  // namespace
}  // namespace sfft::off_grid_test
