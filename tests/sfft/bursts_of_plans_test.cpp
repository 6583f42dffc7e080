// SPDX-License-Identifier: Apache-2.0
// Tests that a plan notices disturbances of PlanInfo::shortest_burst samples as often as it promises, by
// default and with PlanOptions::burst, and how it handles those options.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/throws.hpp"

namespace sfft::bursts_of_plans_test {
namespace {

using test::code_of;
using test::SparseSignal;
using Complex = std::complex<double>;

/// X of the frame at the support: the signal's values plus the direct sum of the added samples.
std::vector<Complex> exact_values(const SparseSignal& signal, const std::vector<std::int64_t>& at,
                                  const std::vector<Complex>& added) {
  std::vector<Complex> values = signal.values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t s = 0; s < at.size(); ++s) {
      double turns = 0;
      std::int64_t f = signal.support[i], t = at[s];
      for (int d = signal.shape.rank() - 1; d >= 0; --d) {
        const std::int64_t n = signal.shape[d];
        turns += static_cast<double>(f % n * (t % n) % n) / static_cast<double>(n);
        f /= n;
        t /= n;
      }
      values[i] += added[s] * std::polar(1.0, -2 * std::numbers::pi * turns);
    }
  }
  return values;
}

/// Draws a random set of samples, one stretch, or several.
std::vector<std::int64_t> disturbed(std::int64_t points, std::int64_t count, int kind,
                                    std::mt19937_64& random) {
  std::vector<char> is(static_cast<std::size_t>(points), 0);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  const auto mark = [&](std::int64_t length) {
    const std::int64_t start = below(points - length + 1);
    for (std::int64_t t = start; t < start + length; ++t) is[static_cast<std::size_t>(t)] = 1;
  };
  if (kind == 0) {
    for (std::int64_t left = count; left > 0;) {
      char& one = is[static_cast<std::size_t>(below(points))];
      left -= one == 0;
      one = 1;
    }
  } else if (kind == 1) {
    mark(count);
  } else {
    for (int i = 0; i < 4; ++i) mark((count + 3) / 4);
  }
  std::vector<std::int64_t> at;
  for (std::int64_t t = 0; t < points; ++t) {
    if (is[static_cast<std::size_t>(t)] != 0) at.push_back(t);
  }
  return at;
}

struct Population {
  int frames = 0, silent = 0;
};

/// Transforms frames in which the promised number of samples are zeroed, change their sign, or get noise
/// added.
template <class Real>
void disturb(const Shape& shape, bool real, std::int64_t k, Path path, double burst, int frames,
             Population& all) {
  std::mt19937_64 random(static_cast<std::uint64_t>(k) + 7);
  const auto signal = SparseSignal::random(shape, real, k, 3);
  const auto x = signal.samples();
  double power = 0, norm = 0;
  for (const Complex& sample : x) power += std::norm(sample) / static_cast<double>(x.size());
  for (const Complex& value : signal.values) norm += std::norm(value);
  constexpr int kPlans = 6;
  for (int p = 0; p < kPlans; ++p) {
    const PlanOptions options{.device = Device::cpu(), .path = path, .burst = burst, .seed = random()};
    const Plan<Real> plan(
        Template::from_support(shape, real ? Domain::real : Domain::complex, signal.support), options);
    const std::int64_t count = plan.info().shortest_burst;
    EXPECT_EQ(plan.info().burst_miss, 1e-3);
    EXPECT_LE(burst > 0 ? count : 0,
              static_cast<std::int64_t>(std::ceil(burst * static_cast<double>(x.size()))));
    for (int f = 0; f < frames / kPlans; ++f) {
      const std::vector<std::int64_t> at = disturbed(shape.points(), count, f % 3, random);
      std::vector<Complex> added;
      std::normal_distribution<double> normal(0, std::sqrt(power));
      for (const std::int64_t t : at) {
        const Complex sample = x[static_cast<std::size_t>(t)];
        const Complex noise{normal(random), real ? 0 : normal(random)};
        added.push_back(f % 4 == 0 ? -sample : f % 4 == 1 ? -2.0 * sample : noise);
      }
      const auto frame = [&](auto& samples) {
        for (std::size_t s = 0; s < at.size(); ++s) {
          auto& sample = samples[static_cast<std::size_t>(at[s])];
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(sample)>>) {
            sample += static_cast<Real>(added[s].real());
          } else {
            sample += std::complex<Real>(added[s]);
          }
        }
        return plan.execute(SignalView(samples, shape));
      };
      Spectrum<Real> spectrum;
      if (real) {
        auto samples = signal.as<Real>();
        spectrum = frame(samples);
      } else {
        auto samples = signal.as<std::complex<Real>>();
        spectrum = frame(samples);
      }
      double error = 0;
      const std::vector<Complex> exact = exact_values(signal, at, added);
      for (std::size_t i = 0; i < exact.size(); ++i)
        if (signal.support[i] != 0) error += std::norm(Complex(spectrum.values[i]) - exact[i]);
      ++all.frames;
      all.silent += std::sqrt(error) > 5 * spectrum.quality.error_l2 + 2e-6 * std::sqrt(norm);
    }
  }
}

TEST(BurstsOfPlans, ArePromisedAndSeen) {
  for (const double burst : {0.0, 0.02}) {
    Population all;
    disturb<float>(Shape{4096}, false, 8, Path::comb, burst, 600, all);
    disturb<float>(Shape{4096}, true, 20, Path::comb, burst, 600, all);
    disturb<double>(Shape{96, 64}, true, 8, Path::comb, burst, 600, all);
    disturb<double>(Shape{4093}, false, 8, Path::flat_window, burst, 600, all);
    EXPECT_EQ(all.frames, 2400);
    // The expected number is 2.4, 1e-3 of the frames.
    EXPECT_LE(all.silent, 8) << "burst = " << burst;
  }
}

TEST(BurstsOfPlans, TheWitnessIsAsLargeAsABurstNeeds) {
  const Template tmpl =
      Template::from_support(Shape{1 << 16}, Domain::complex, std::vector<std::int64_t>{5, 700, 41234});
  const auto info = [&](const PlanOptions& options) { return Plan<float>(tmpl, options).info(); };
  const PlanInfo plain = info({.path = Path::comb}), one = info({.path = Path::comb, .burst = 0.01});
  EXPECT_EQ(plain.witness_samples, 16);
  EXPECT_EQ(one.witness_samples, 688) << "(1 - 0.01)^688 < 1e-3";
  EXPECT_EQ(one.samples - plain.samples, 688 - 16);
  EXPECT_LE(one.shortest_burst, 656);
  EXPECT_LT(one.shortest_burst, plain.shortest_burst);
  EXPECT_GT(one.predicted_us, plain.predicted_us);
  EXPECT_EQ(info({.path = Path::comb, .burst = 0.01, .burst_miss = 1e-6}).witness_samples, 1376);
  const PlanInfo dense = info({.path = Path::dense});
  EXPECT_EQ(dense.shortest_burst, 1);
  EXPECT_EQ(dense.burst_miss, 0);
  EXPECT_NE(Plan<float>(tmpl, {.path = Path::comb, .burst = 0.01}).explain().find("bursts"),
            std::string::npos);
}

TEST(BurstsOfPlans, WhatNeedsNearlyEverySampleIsDense) {
  const Template tmpl =
      Template::from_support(Shape{4096}, Domain::complex, std::vector<std::int64_t>{5, 700});
  const Plan<float> plan(tmpl, {.device = Device::cpu(), .burst = 1e-3});
  EXPECT_EQ(plan.info().path, Path::dense);
  EXPECT_NE(plan.info().reason.find("burst"), std::string::npos);
  EXPECT_EQ(code_of([&] { Plan<float>(tmpl, {.path = Path::comb, .burst = 1e-300}); }),
            ErrorCode::not_sparse);
}

TEST(BurstsOfPlans, OptionsOutOfRangeAreRefused) {
  const Template tmpl =
      Template::from_support(Shape{4096}, Domain::complex, std::vector<std::int64_t>{5, 700});
  for (const double burst : {-0.1, 1.0, std::nan("")})
    EXPECT_EQ(code_of([&] { Plan<float>(tmpl, {.burst = burst}); }), ErrorCode::invalid_argument);
  for (const double miss : {0.0, 1.0, -1.0, std::nan("")})
    EXPECT_EQ(code_of([&] { Plan<float>(tmpl, {.burst_miss = miss}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { Plan<float>(tmpl, {.witness = PlanOptions::Witness::none, .burst = 0.1}); }),
            ErrorCode::invalid_argument);
}

/// Expects that coefficients that differ from the reference's are noticed, and that right ones raise no
/// error.
template <class Real>
void check_reference(double noise_db) {
  const Shape shape{1 << 14};
  const auto signal = SparseSignal::random(shape, false, 24, 6);
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  const double sigma = noise_db > 0 ? std::pow(10, -noise_db / 20) : 0;
  const auto frame = [&](double turn) {
    std::vector<std::complex<Real>> x;
    for (const Complex& sample : signal.samples())
      x.push_back(std::complex<Real>(std::polar(1.0, turn) * sample +
                                     sigma * Complex(normal(random), normal(random))));
    return x;
  };
  const auto first = frame(0), later = frame(0.1);
  const Template tmpl = learn(SignalView(first, shape), {.keep = Largest{24}, .reference = true});
  // The template's own values are exact.
  ASSERT_EQ(tmpl.k(), 24);
  const std::vector<Complex> right(tmpl.values().begin(), tmpl.values().end());
  double norm = 0;
  for (const Complex& value : right) norm += std::norm(value);
  norm = std::sqrt(norm);
  const Plan<Real> plan(tmpl, {.device = Device::cpu(), .path = Path::comb});
  const auto report = [&](const Plan<Real>& with) {
    return with.execute(SignalView(later, shape)).quality.error_l2;
  };
  EXPECT_EQ(report(plan.with_reference(SignalView(first, shape), right)), report(plan));
  for (const double off : {0.02, 0.2}) {
    std::vector<Complex> wrong = right;
    for (Complex& value : wrong) value *= 1 + off;
    const double reported = report(plan.with_reference(SignalView(first, shape), wrong));
    EXPECT_GE(reported, 0.5 * off * norm) << off << " at " << noise_db << " dB";
    EXPECT_LE(reported, 3 * off * norm + report(plan));
  }
  std::vector<Complex> none = right;
  none[3] = std::nan("");
  EXPECT_EQ(code_of([&] { plan.with_reference(SignalView(first, shape), none); }),
            ErrorCode::invalid_argument);
}

TEST(ReferencesOfPlans, WrongCoefficientsRaiseTheReport) {
  for (const double noise_db : {0.0, 60.0}) {
    check_reference<float>(noise_db);
    check_reference<double>(noise_db);
  }
}

}  // namespace
}  // namespace sfft::bursts_of_plans_test
