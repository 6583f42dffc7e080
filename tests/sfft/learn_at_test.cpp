// SPDX-License-Identifier: Apache-2.0
// Tests templates at given frequencies against sums over all samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>

#include "sfft/learn_at.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/learning.hpp"
#include "tests/support/throws.hpp"

namespace sfft::test::learn_at_test {
namespace {

/// X[f] of a one- or two-dimensional signal, summed in double.
template <class T>
std::complex<double> sum_at(const std::vector<T>& x, const Shape& shape, std::int64_t flat) {
  const std::int64_t columns = shape[shape.rank() - 1];
  const std::int64_t rows = shape.points() / columns;
  const auto turns = [](std::int64_t product, std::int64_t n) {
    return static_cast<double>(product % n) / static_cast<double>(n);
  };
  std::complex<double> sum = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const double phase = turns(flat / columns * i, rows) + turns(flat % columns * j, columns);
      sum += std::complex<double>(x[static_cast<std::size_t>(i * columns + j)]) *
             std::polar(1.0, -2 * std::numbers::pi * phase);
    }
  }
  return sum;
}

std::int64_t conjugate(const Shape& shape, std::int64_t flat) {
  const std::int64_t columns = shape[shape.rank() - 1];
  const std::int64_t rows = shape.points() / columns;
  return (rows - flat / columns) % rows * columns + (columns - flat % columns) % columns;
}

/// Draws distinct random frequencies; for a real signal, either one of each conjugate pair.
std::vector<std::int64_t> random_support(const Shape& shape, bool real, std::size_t k, unsigned seed) {
  std::mt19937 draw(seed);
  std::uniform_int_distribution<std::int64_t> any(0, shape.points() - 1);
  std::vector<std::int64_t> support;
  std::set<std::int64_t> taken;
  while (support.size() < k) {
    const std::int64_t f = any(draw);
    if (!taken.insert(f).second) continue;
    if (real) taken.insert(conjugate(shape, f));
    support.push_back(f);
  }
  return support;
}

template <class T>
void check(const Shape& shape, std::size_t k, unsigned seed) {
  constexpr bool real = !is_complex(element_type_of<T>::value);
  const std::vector<T> samples = random_samples<T>(shape.points(), seed);
  const std::vector<std::int64_t> support = random_support(shape, real, k, seed);
  const Template tmpl = learn_at(SignalView(samples, shape), support);
  ASSERT_EQ(tmpl.k(), static_cast<std::int64_t>(k));
  EXPECT_TRUE(std::ranges::is_sorted(tmpl.support()));
  EXPECT_EQ(tmpl.domain() == Domain::real, real);

  double energy = 0;  // energy of the whole spectrum, by Parseval
  for (const T& sample : samples) energy += std::norm(std::complex<double>(sample));
  energy *= static_cast<double>(shape.points());
  double kept = 0;
  std::set<std::int64_t> asked(support.begin(), support.end());
  for (std::size_t i = 0; i < k; ++i) {
    const std::int64_t f = tmpl.support()[i];
    const std::int64_t pair = conjugate(shape, f);
    EXPECT_TRUE(asked.erase(f) == 1 || (real && asked.erase(pair) == 1)) << f;
    const std::complex<double> truth = sum_at(samples, shape, f);
    EXPECT_LT(std::abs(tmpl.values()[i] - truth), 1e-12 * std::sqrt(energy)) << f;
    kept += std::norm(truth) * (real && pair != f ? 2 : 1);
  }
  EXPECT_TRUE(asked.empty());
  EXPECT_NEAR(tmpl.tail_energy(), energy - kept, 1e-10 * energy);
}

TEST(LearnAt, ValuesAndTheEnergyOutsideAreThoseOfTheSums) {
  unsigned seed = 1;
  for (const Shape& shape : {Shape{64}, Shape{63}, Shape{12, 10}, Shape{9, 15}, Shape{7, 16}}) {
    check<std::uint8_t>(shape, 12, seed++);
    check<std::uint16_t>(shape, 12, seed++);
    check<float>(shape, 12, seed++);
    check<double>(shape, 20, seed++);
    check<std::complex<float>>(shape, 20, seed++);
    check<std::complex<double>>(shape, 30, seed++);
  }
}

TEST(LearnAt, PlansKnowWhatAliases) {
  const Shape shape{96, 80};
  const auto samples = random_samples<double>(shape.points(), 5);
  const Template tmpl = learn_at(SignalView(samples, shape), random_support(shape, true, 40, 5));
  const auto spectrum = transform(SignalView(samples, shape), tmpl);
  double error = 0;
  for (std::size_t i = 0; i < spectrum.values.size(); ++i)
    error += std::norm(spectrum.values[i] - sum_at(samples, shape, (*spectrum.support)[i]));
  EXPECT_LE(std::sqrt(error),
            4 * spectrum.quality.error_l2);  // noise alone, which the error shows if not all samples are read
}

TEST(LearnAt, ScalesNearTheEndOfTheRange) {
  const Shape shape{48};
  auto samples = random_samples<double>(48, 9);
  const std::vector<std::int64_t> support = random_support(shape, true, 6, 9);
  const Template expected = learn_at(SignalView(samples, shape), support);
  for (double& sample : samples) sample = std::ldexp(sample, 400);
  const Template scaled = learn_at(SignalView(samples, shape), support);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_LT(std::abs(scaled.values()[i] / std::ldexp(1.0, 400) - expected.values()[i]), 1e-10);
}

TEST(LearnAt, RefusesBadSupportsAndSamples) {
  const Shape shape{32};
  auto samples = random_samples<double>(32, 3);
  const auto code = [&](const std::vector<std::int64_t>& support) {
    return code_of([&] { learn_at(SignalView(samples, shape), support); });
  };
  for (const std::vector<std::int64_t>& bad :
       {std::vector<std::int64_t>{}, {-1}, {32}, {3, 3}, {3, 29}, {3, 5, std::int64_t{1} << 40}})
    EXPECT_EQ(code(bad), ErrorCode::invalid_support);
  EXPECT_EQ(code({31, 0, 16}), std::nullopt);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    samples[7] = bad;
    EXPECT_EQ(code({1, 2}), ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace sfft::test::learn_at_test
