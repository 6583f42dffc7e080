// SPDX-License-Identifier: Apache-2.0
// Tests that reported relative errors do not depend on the scale of the samples, as long as the transform is
// finite.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "bench/known_signals.hpp"
#include "sfft/sfft.hpp"

namespace sfft::scaling_test {
namespace {

template <class T>
std::vector<T> scaled(const std::vector<std::complex<double>>& x, int exponent) {
  std::vector<T> out;
  for (const std::complex<double>& value : x) {
    if constexpr (std::is_floating_point_v<T>) {
      out.push_back(std::ldexp(value.real(), exponent));
    } else {
      out.emplace_back(std::ldexp(value.real(), exponent), std::ldexp(value.imag(), exponent));
    }
  }
  return out;
}

template <class T>
void check(Path path) {
  const bool real = std::is_floating_point_v<T>;
  const Shape shape{30, 64};
  const auto signal = test::SparseSignal::random(shape, real, 6, 5);
  std::vector<std::complex<double>> x = signal.samples();
  std::mt19937_64 generator(9);
  std::normal_distribution<double> noise(0, 0.05);
  for (std::complex<double>& value : x)
    value += std::complex<double>(noise(generator), real ? 0 : noise(generator));
  const Plan<double> plan(
      Template::from_support(shape, real ? Domain::real : Domain::complex, signal.support), {.path = path});
  const Spectrum<double> expected = plan.execute(SignalView(scaled<T>(x, 0), shape));
  const std::vector<std::complex<double>> truth = test::direct_at(x, shape, signal.support);
  ASSERT_GT(expected.quality.relative_error, 0);
  const bool exact = path == Path::direct || path == Path::dense;
  double error = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) error += std::norm(expected.values[i] - truth[i]);
  EXPECT_LE(std::sqrt(error), 3 * expected.quality.error_l2 + 1e-12 * std::abs(truth[0])) << to_string(path);
  for (const int exponent : {-950, -600, -530, -505, -480, -340, 300, 340, 480, 505, 520, 600, 1000}) {
    const Spectrum<double> got = plan.execute(SignalView(scaled<T>(x, exponent), shape));
    const std::string what = std::string(to_string(path)) + ", 2^" + std::to_string(exponent);
    EXPECT_TRUE(got.quality.finite) << what;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const std::complex<double> value(std::ldexp(got.values[i].real(), -exponent),
                                       std::ldexp(got.values[i].imag(), -exponent));
      const std::complex<double> wanted = exact ? truth[i] : expected.values[i];
      EXPECT_LE(std::abs(value - wanted), 1e-12 * std::abs(wanted)) << what;
    }
    EXPECT_NEAR(got.quality.relative_error / expected.quality.relative_error, 1, 1e-9) << what;
    EXPECT_NEAR(std::ldexp(got.quality.error_l2, -exponent) / expected.quality.error_l2, 1, 1e-9) << what;
    EXPECT_NEAR(got.quality.residual, expected.quality.residual, 1e-9 * expected.quality.residual) << what;
    EXPECT_GE(got.quality.tail_energy, 0) << what << ": a number or infinite, never NaN";
  }
}

TEST(Scaling, DirectAndDensePlansTakeAnySize) {
  for (const Path path : {Path::direct, Path::dense}) {
    check<double>(path);
    check<std::complex<double>>(path);
  }
}

TEST(Scaling, SparsePlansTakeAnySize) {
  for (const Path path : {Path::comb, Path::flat_window}) {
    check<double>(path);
    check<std::complex<double>>(path);
  }
}

TEST(Scaling, ZeroAndNotANumberStayWhatTheyAre) {
  const Shape shape{64};
  for (const Path path : {Path::direct, Path::dense}) {
    const std::vector<std::int64_t> support{3, 9};
    const Plan<double> plan(Template::from_support(shape, Domain::real, support), {.path = path});
    std::vector<double> x(64, 0.0);
    const Spectrum<double> zero = plan.execute(SignalView(x, shape));
    EXPECT_TRUE(zero.quality.finite);
    EXPECT_EQ(zero.quality.relative_error, 0);
    EXPECT_EQ(zero.quality.error_l2, 0);
    for (const double bad : {std::nan(""), HUGE_VAL}) {
      x.assign(64, 1e-300);
      x[17] = bad;
      EXPECT_FALSE(plan.execute(SignalView(x, shape)).quality.finite) << to_string(path) << " " << bad;
    }
  }
}

}  // namespace
}  // namespace sfft::scaling_test
