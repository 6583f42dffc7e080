// SPDX-License-Identifier: Apache-2.0
// Tests discovery on arbitrary signals. It must give a right answer, "not verified" or a typed error, and
// never miss a coefficient silently.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "bench/known_signals.hpp"
#include "sfft/sfft.hpp"

namespace sfft::discover_property_test {
namespace {

using test::SparseSignal;

Shape random_shape(std::mt19937_64& random) {
  const auto side = [&](int max) {
    return static_cast<std::int64_t>(1 + random() % static_cast<unsigned>(max));
  };
  switch (random() % 6) {
    case 0:
      return Shape{side(9000)};
    case 1:
      return Shape{std::int64_t{1} << (random() % 15)};
    case 2:
      return Shape{(std::int64_t{1} << (4 + random() % 7)) * side(15)};
    case 3:
      return Shape{side(120), side(120)};
    case 4:
      return Shape{std::int64_t{1} << (random() % 8), std::int64_t{1} << (random() % 8)};
    default:
      return Shape{side(24), side(24), side(24)};
  }
}

/// Draws frequencies that are scattered, adjacent, or all in one residue class modulo a power of two.
std::vector<std::int64_t> random_support(const Shape& shape, bool real, std::int64_t k,
                                         std::mt19937_64& random) {
  const auto points = static_cast<std::uint64_t>(shape.points());
  const std::uint64_t kind = random() % 4;
  const std::uint64_t start = random() % points;
  const std::uint64_t stride = std::uint64_t{1} << (random() % 7);
  std::set<std::int64_t> chosen;
  for (std::int64_t i = 0, tries = 0; static_cast<std::int64_t>(chosen.size()) < k && tries < 20 * k;
       ++tries) {
    std::uint64_t f = random() % points;
    if (kind == 1) f = (start + static_cast<std::uint64_t>(i++)) % points;
    if (kind == 2) f = (start + stride * (random() % points)) % points;
    const auto own = static_cast<std::int64_t>(f);
    if (!real || !chosen.contains(test::negated(shape, own))) chosen.insert(own);
  }
  return {chosen.begin(), chosen.end()};
}

struct Case {
  SparseSignal truth{Shape{1}, false, {}, {}};
  std::vector<std::complex<double>> x;
  double noise = 0;  ///< noise power per sample
  bool broken = false;

  static Case draw(std::mt19937_64& random, unsigned seed) {
    const Shape shape = random_shape(random);
    const bool real = random() % 3 == 0;
    const std::int64_t room = std::max<std::int64_t>(1, shape.points() / (random() % 4 == 0 ? 3 : 40));
    const auto k = static_cast<std::int64_t>(
        random() % static_cast<std::uint64_t>(std::min<std::int64_t>(room, 40) + 1));
    Case drawn;
    drawn.truth = SparseSignal::with_support(shape, real, random_support(shape, real, k, random), seed);
    if (random() % 5 == 0 && !drawn.truth.values.empty())
      drawn.truth.values[random() % drawn.truth.values.size()] *= 1e6;
    drawn.x = drawn.truth.samples();
    if (random() % 3 == 0) {
      drawn.noise = std::pow(10.0, -static_cast<double>(random() % 5));
      std::normal_distribution<double> normal(0, std::sqrt(drawn.noise / 2));
      for (std::complex<double>& sample : drawn.x)
        sample += std::complex<double>(normal(random), real ? 0 : normal(random));
    }
    if (random() % 25 == 0) {
      drawn.broken = true;
      const double bad[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                            1e300};
      drawn.x[random() % drawn.x.size()] = bad[random() % 3];
    }
    return drawn;
  }
};

Discovery run(const Case& drawn, bool single, const DiscoverOptions& options) {
  const Shape& shape = drawn.truth.shape;
  if (drawn.truth.real) {
    std::vector<double> x;
    for (const auto& sample : drawn.x) x.push_back(sample.real());
    if (!single) return discover(SignalView(x, shape), options);
    return discover(SignalView(std::vector<float>(x.begin(), x.end()), shape), options);
  }
  if (!single) return discover(SignalView(drawn.x, shape), options);
  return discover(SignalView(std::vector<std::complex<float>>(drawn.x.begin(), drawn.x.end()), shape),
                  options);
}

/// Whether a verified discovery of a finite signal is right: the signal contains its frequencies with these
/// values, and missing ones are below its bound or below its kept values.
::testing::AssertionResult right(const Discovery& discovery, const Case& drawn, std::int64_t k, bool single) {
  const SparseSignal& truth = drawn.truth;
  const auto points = static_cast<double>(truth.shape.points());
  double norm = std::sqrt(drawn.noise) * points;
  for (const auto& value : truth.values) norm += std::abs(value);
  // Noise also has coefficients; the largest of a few thousand has about five standard deviations.
  const double outlier = 5 * std::sqrt(drawn.noise * points);
  const double rounding = (single ? 4e-7 : 1e-13) * norm;
  double min = std::numeric_limits<double>::infinity();
  for (const auto& value : discovery.spectrum.values) min = std::min(min, std::abs(value));
  const bool full = k > 0 && discovery.spectrum.values.size() == static_cast<std::size_t>(k);
  std::vector<char> seen(truth.support.size(), 0);
  for (std::size_t i = 0; i < discovery.spectrum.values.size(); ++i) {
    const std::int64_t f = (*discovery.spectrum.support)[i];
    std::complex<double> expected = 0;
    for (std::size_t t = 0; t < truth.support.size(); ++t) {
      const bool own = truth.support[t] == f;
      if (!own && !(truth.real && test::negated(truth.shape, truth.support[t]) == f)) continue;
      expected = own ? truth.values[t] : std::conj(truth.values[t]);
      seen[t] = 1;
    }
    // Missed coefficients are smaller than the bound, but disturb their neighbours.
    const double tolerance = rounding + outlier + 6 * discovery.spectrum.standard_error[i] +
                             (expected == 0.0 ? 0 : discovery.missed_bound);
    if (!(std::abs(discovery.spectrum.values[i] - expected) <= tolerance))
      return ::testing::AssertionFailure()
             << "value of " << f << " is " << discovery.spectrum.values[i] << ", not " << expected;
  }
  for (std::size_t t = 0; t < seen.size(); ++t) {
    const double size = std::abs(truth.values[t]);
    if (seen[t] || size <= discovery.missed_bound + rounding + outlier) continue;
    if (full && size <= min + rounding + 2 * outlier) continue;
    return ::testing::AssertionFailure()
           << "missed " << truth.support[t] << " of size " << size << ", bound " << discovery.missed_bound;
  }
  return ::testing::AssertionSuccess();
}

TEST(DiscoverProperty, NothingIsMissedInSilence) {
  std::mt19937_64 random(2026);
  int verified = 0;
  int dense = 0;
  int refused = 0;
  constexpr int kCases = 12000;
  for (unsigned seed = 1; seed <= kCases; ++seed) {
    const Case drawn = Case::draw(random, seed);
    const bool single = random() % 2 == 0;
    DiscoverOptions options;
    const std::int64_t max = drawn.truth.shape.points();
    const std::uint64_t kind = random() % 8;
    const std::int64_t k = kind == 0 ? 0
                           : kind == 1
                               ? static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(max + 2))
                               : static_cast<std::int64_t>(drawn.truth.support.size());
    if (k > 0) options.k = k;
    options.dense_fallback = random() % 4 == 0;
    const Path paths[] = {Path::automatic, Path::automatic, Path::comb, Path::flat_window};
    options.path = paths[random() % 4];
    options.seed = seed;
    try {
      const Discovery discovery = run(drawn, single, options);
      EXPECT_EQ(discovery.spectrum.values.size(), discovery.spectrum.support->size());
      EXPECT_LE(discovery.rounds, 24);
      if (!discovery.verified) {
        EXPECT_FALSE(options.dense_fallback);
        continue;
      }
      ++(discovery.support_learned_densely ? dense : verified);
      if (drawn.broken) continue;
      EXPECT_TRUE(right(discovery, drawn, k, single))
          << "case " << seed << ", " << drawn.truth.shape.to_string()
          << (drawn.truth.real ? " real" : " complex") << (single ? " single" : " double") << ", noise "
          << drawn.noise << ", k " << k << " of " << drawn.truth.support.size() << ", "
          << to_string(discovery.spectrum.path) << ", " << discovery.reason;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      ++refused;
    }
  }
  // The cases are hard on purpose, but the test would prove little if most were not answered.
  EXPECT_GE(verified, kCases / 5);
  EXPECT_GE(dense, kCases / 10);
  RecordProperty("verified", verified);
  RecordProperty("dense", dense);
  RecordProperty("refused", refused);
}

}  // namespace
}  // namespace sfft::discover_property_test
