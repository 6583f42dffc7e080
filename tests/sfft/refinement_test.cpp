// SPDX-License-Identifier: Apache-2.0
// Tests that a better plan takes over between two frames with the same promises, and that nothing is lost if
// its search fails or ends too late.
#include "sfft/tracking/renewal.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <thread>
#include <vector>

#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"

namespace sfft::refinement_test {
namespace {

constexpr std::int64_t kRows = 96, kColumns = 120;
const Shape kShape{kRows, kColumns};

/// Waves whose phases differ between frames, in noise that is stronger at low frequencies.
std::vector<float> frame(std::uint64_t seed) {
  std::mt19937_64 waves(3), random(seed);
  std::normal_distribution<double> normal;
  std::vector<float> x(static_cast<std::size_t>(kRows * kColumns));
  double level = 0;
  for (float& sample : x) {
    level = 0.9 * level + normal(random);
    sample = static_cast<float>(level);
  }
  for (int n = 0; n < 25; ++n) {
    const auto f0 = static_cast<double>(waves() % kRows), f1 = static_cast<double>(waves() % kColumns);
    const double turn = std::uniform_real_distribution<double>(0, 1)(random);
    for (std::int64_t a = 0; a < kRows; ++a) {
      for (std::int64_t b = 0; b < kColumns; ++b) {
        const double turns =
            f0 * static_cast<double>(a) / kRows + f1 * static_cast<double>(b) / kColumns + turn;
        x[static_cast<std::size_t>(a * kColumns + b)] +=
            static_cast<float>((0.5 + 0.1 * n) * std::cos(2 * std::numbers::pi * turns));
      }
    }
  }
  return x;
}

double true_error(const std::vector<float>& x, const Spectrum<float>& spectrum) {
  double sum = 0;
  for (std::size_t i = 0; i < spectrum.values.size(); ++i) {
    const std::int64_t flat = (*spectrum.support)[i];
    std::complex<double> exact = 0;
    for (std::int64_t a = 0; a < kRows; ++a) {
      std::complex<double> row = 0;
      for (std::int64_t b = 0; b < kColumns; ++b)
        row += static_cast<double>(x[static_cast<std::size_t>(a * kColumns + b)]) *
               std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(flat % kColumns * b % kColumns) /
                                   kColumns);
      exact += row * std::polar(1.0, -2 * std::numbers::pi *
                                         static_cast<double>(flat / kColumns * a % kRows) / kRows);
    }
    sum += std::norm(std::complex<double>(spectrum.values[i]) - exact);
  }
  return std::sqrt(sum);
}

TrackerOptions refining() {
  TrackerOptions options;
  options.refine = true;
  options.plan.path = Path::comb;
  options.plan.device = Device::cpu();
  return options;
}

TEST(Refinement, ABetterPlanTakesOverAndKeepsItsPromises) {
  const std::vector<float> first = frame(1);
  const Template learned = learn(SignalView(first, kShape), {.keep = Largest{40}});
  Tracker<float> tracker(learned, refining());
  const double quick = tracker.plan().info().predicted_error;
  EXPECT_FALSE(tracker.refinement().empty());
  double reported = 0, truth = 0;
  std::uint64_t seed = 2;
  const auto push = [&] {
    const std::vector<float> next = frame(seed++);
    const Tracker<float>::Frame& tracked = tracker.push(SignalView(next, kShape));
    ASSERT_TRUE(tracked.spectrum.quality.finite);
    EXPECT_EQ(tracked.index, static_cast<std::int64_t>(seed) - 3);
    reported += std::pow(tracked.spectrum.quality.error_l2, 2);
    truth += std::pow(true_error(next, tracked.spectrum), 2);
  };
  push();
  for (int n = 0; n < 2000 && tracker.refinement().find("being searched") != std::string::npos; ++n) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    push();
  }
  for (int n = 0; n < 12; ++n) push();
  if (tracker.refined() > 0) {
    EXPECT_LE(tracker.plan().info().predicted_error, 1.02 * quick) << tracker.refinement();
  } else {
    EXPECT_EQ(tracker.refinement(), "the search found no better plan");
  }
  EXPECT_GT(reported, truth / 4);
  EXPECT_GT(tracker.plan().info().witness_samples, 0);
}

TEST(Refinement, AStreamThatEndsDuringASearchLosesNothing) {
  const std::vector<float> first = frame(1), second = frame(2);
  const Template learned = learn(SignalView(first, kShape), {.keep = Largest{40}});
  for (int n = 0; n < 5; ++n) {
    Tracker<float> tracker(learned, refining());
    EXPECT_TRUE(tracker.push(SignalView(second, kShape)).spectrum.quality.finite);
  }
}

TEST(Refinement, ASearchThatFailsSaysWhy) {
  const std::vector<float> first = frame(1);
  const Template learned = learn(SignalView(first, kShape), {.keep = Largest{40}});
  detail::Refinement<float> refinement;
  PlanOptions impossible;
  impossible.max_samples = 1e-12;
  refinement.start(learned, impossible);
  PlanOptions possible;
  possible.path = Path::comb;
  refinement.start(learned, possible);  // its turn comes after the first
  std::vector<detail::Refinement<float>::Outcome> outcomes;
  for (int n = 0; n < 2000 && outcomes.size() < 2; ++n) {
    if (auto outcome = refinement.poll()) outcomes.push_back(std::move(*outcome));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_FALSE(outcomes[0].plan.has_value());
  EXPECT_NE(outcomes[0].problem.find("max_samples"), std::string::npos) << outcomes[0].problem;
  ASSERT_TRUE(outcomes[1].plan.has_value()) << outcomes[1].problem;
  EXPECT_EQ(detail::data_of(outcomes[1].plan->source()), detail::data_of(learned));
  EXPECT_FALSE(refinement.searching());
}

TEST(Refinement, WithoutItNothingIsSaid) {
  const std::vector<float> first = frame(1);
  Tracker<float> tracker(learn(SignalView(first, kShape), {.keep = Largest{40}}));
  tracker.push(SignalView(first, kShape));
  EXPECT_EQ(tracker.refined(), 0);
  EXPECT_TRUE(tracker.refinement().empty());
}

}  // namespace
}  // namespace sfft::refinement_test
