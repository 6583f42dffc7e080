// SPDX-License-Identifier: Apache-2.0
// Tests against direct sums that plans of any effort keep their promises, and that they are the same for any
// number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "kernels/base/math/index.hpp"
#include "sfft/sfft.hpp"
#include "template/data/template_data.hpp"

namespace sfft::plan_effort_test {
namespace {

/// Tones in a tail that falls with frequency. Every seed gives the same tail with other phases.
std::vector<float> frame(const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 tones(7), random(seed);
  std::normal_distribution<double> normal;
  const auto points = static_cast<std::size_t>(shape.points());
  std::vector<double> sum(points, 0.0);
  double level = 0;
  // A leaky sum of noise along the last dimension has more power at low frequencies.
  for (std::size_t t = 0; t < points; ++t) {
    level = 0.8 * level + normal(random);
    sum[t] = level;
  }
  for (int n = 0; n < 30; ++n) {
    const auto flat = static_cast<std::int64_t>(tones() % points);
    const auto f = detail::coordinates(shape, flat);
    const double turn = std::uniform_real_distribution<double>(0, 1)(random);
    const double amplitude = 0.3 + 0.1 * n;
    for (std::size_t t = 0; t < points; ++t) {
      const auto at = detail::coordinates(shape, static_cast<std::int64_t>(t));
      double turns = turn;
      for (int d = 0; d < shape.rank(); ++d) {
        const auto i = static_cast<std::size_t>(d);
        turns += static_cast<double>(f[i] * at[i] % shape[d]) / static_cast<double>(shape[d]);
      }
      sum[t] += amplitude * std::cos(2 * std::numbers::pi * turns);
    }
  }
  return {sum.begin(), sum.end()};
}

std::complex<double> direct(const std::vector<float>& x, const Shape& shape, std::int64_t flat) {
  const auto f = detail::coordinates(shape, flat);
  std::complex<double> sum = 0;
  for (std::size_t t = 0; t < x.size(); ++t) {
    const auto at = detail::coordinates(shape, static_cast<std::int64_t>(t));
    double turns = 0;
    for (int d = 0; d < shape.rank(); ++d) {
      const auto i = static_cast<std::size_t>(d);
      turns += static_cast<double>(f[i] * at[i] % shape[d]) / static_cast<double>(shape[d]);
    }
    sum += static_cast<double>(x[t]) * std::polar(1.0, -2 * std::numbers::pi * turns);
  }
  return sum;
}

const PlanEffort kEfforts[] = {PlanEffort::quick, PlanEffort::normal, PlanEffort::thorough};

TEST(PlanEffort, ReportedErrorsHoldForEveryEffort) {
  for (const Shape& shape : {Shape{2880}, Shape{48, 60}, Shape{12, 16, 18}}) {
    const std::vector<float> first = frame(shape, 1);
    const Template learned = learn(SignalView(first, shape), {.keep = Largest{36}});
    for (const PlanEffort effort : kEfforts) {
      PlanOptions options;
      options.path = Path::comb;
      options.effort = effort;
      const Plan<float> plan(learned, options);
      double true_squares = 0, reported_squares = 0;
      for (std::uint64_t seed = 2; seed < 8; ++seed) {
        const std::vector<float> next = frame(shape, seed);
        const Spectrum<float> spectrum = plan.execute(SignalView(next, shape));
        reported_squares += spectrum.quality.error_l2 * spectrum.quality.error_l2;
        for (std::size_t i = 0; i < learned.support().size(); ++i) {
          const std::complex<double> value(spectrum.values[i]);
          true_squares += std::norm(value - direct(next, shape, learned.support()[i]));
        }
      }
      EXPECT_GT(reported_squares, 0.25 * true_squares) << shape.to_string() << " effort " << int(effort);
      EXPECT_LT(reported_squares, 4 * true_squares) << shape.to_string() << " effort " << int(effort);
      EXPECT_GT(plan.info().witness_samples, 0);
    }
  }
}

TEST(PlanEffort, ThreadsDoNotChangeThePlan) {
  const Shape shape{48, 60};
  const std::vector<float> first = frame(shape, 1);
  const Template learned = learn(SignalView(first, shape), {.keep = Largest{36}});
  for (const PlanEffort effort : kEfforts) {
    PlanOptions options;
    options.path = Path::comb;
    options.effort = effort;
    const Plan<float> one(learned, options);
    const Spectrum<float> expected = one.execute(SignalView(first, shape));
    for (const int threads : {2, 3, 8}) {
      options.threads = threads;
      const Plan<float> several(learned, options);
      EXPECT_EQ(several.info().buckets, one.info().buckets);
      EXPECT_EQ(several.info().predicted_error, one.info().predicted_error);
      EXPECT_EQ(several.execute(SignalView(first, shape)).values, expected.values) << threads;
    }
  }
}

TEST(PlanEffort, MoreEffortPredictsNoLargerErrorOnTheWhole) {
  double errors[3] = {};
  for (const Shape& shape : {Shape{2880}, Shape{5040}, Shape{48, 60}, Shape{72, 80}, Shape{12, 16, 18}}) {
    const std::vector<float> first = frame(shape, 3);
    const Template learned = learn(SignalView(first, shape), {.keep = Largest{30}});
    for (const PlanEffort effort : kEfforts) {
      PlanOptions options;
      options.path = Path::comb;
      options.effort = effort;
      errors[static_cast<int>(effort)] += std::log(Plan<float>(learned, options).info().predicted_error);
    }
  }
  EXPECT_LE(errors[1], errors[0] + 0.05);
  EXPECT_LE(errors[2], errors[1] + 0.05);
}

}  // namespace
}  // namespace sfft::plan_effort_test
