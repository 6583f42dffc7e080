// SPDX-License-Identifier: Apache-2.0
// Tests the building blocks of the published algorithms against direct sums.
#include <gtest/gtest.h>

#include <random>

#include "bench/known_signals.hpp"
#include "bench/peers/ffast.hpp"
#include "bench/peers/flat_window.hpp"
#include "bench/peers/usfft.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::peers {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

TEST(FlatWindow, ResponseIsTheTransformOfTheTaps) {
  for (const FlatWindowShape& shape :
       {FlatWindowShape{16, 0.66, 0.5, 1e-7}, {64, 0.5, 0.75, 1e-8}, {250, 0.5, 0.5, 1e-9}}) {
    const FlatWindow<double> window(shape);
    for (double offset = -3; offset <= 3; offset += 0.0371) {
      double sum = 0;
      for (std::int64_t j = -window.half(); j <= window.half(); ++j) {
        sum += window.centre()[j] *
               std::cos(kTurn * static_cast<double>(j) * offset / static_cast<double>(shape.buckets));
      }
      EXPECT_NEAR(sum, window.response(offset), 2 * shape.leakage) << offset;
      if (std::abs(offset) <= shape.box - shape.lobe) {
        EXPECT_NEAR(sum, 1, 4 * shape.leakage);
      }
      if (std::abs(offset) >= window.reach()) {
        EXPECT_LE(std::abs(sum), 2 * shape.leakage);
      }
    }
    EXPECT_NEAR(window.response(shape.box), 0.5, 1e-3);  // the box is a whole number of table steps
  }
}

TEST(FlatWindow, HashingPutsEveryFrequencyIntoItsBuckets) {
  const std::int64_t points = 4096;
  const auto signal = test::SparseSignal::random(Shape{points}, false, 9, 5);
  const std::vector<std::complex<double>> x = signal.samples();
  const FlatWindow<double> window({32, 0.66, 0.5, 1e-9});
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 5; ++trial) {
    const auto permutation = Permutation::draw(random, static_cast<std::uint64_t>(points));
    EXPECT_EQ((permutation.sigma * permutation.inverse) % static_cast<std::uint64_t>(points), 1U);
    std::vector<std::complex<double>> buckets(32);
    hash_to_buckets(std::span<const std::complex<double>>(x), permutation, window, buckets.data());
    BucketFft<double>(32).forward(buckets);
    for (int b = 0; b < 32; ++b) {
      std::complex<double> expected = 0;
      for (std::size_t i = 0; i < signal.support.size(); ++i) {
        const auto f = static_cast<std::uint64_t>(signal.support[i]);
        const double position =
            static_cast<double>(permutation.sigma * f % static_cast<std::uint64_t>(points)) * 32 / points;
        const double offset = std::remainder(b - position, 32.0);
        const auto turn = static_cast<double>(f * permutation.tau % static_cast<std::uint64_t>(points));
        expected += signal.values[i] / static_cast<double>(points) * window.response(offset) *
                    std::polar(1.0, kTurn * turn / points);
      }
      EXPECT_LE(std::abs(buckets[static_cast<std::size_t>(b)] - expected), 1e-7);
    }
  }
}

TEST(Roots, AreOnTheCircle) {
  for (const std::uint64_t points :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{8}, std::uint64_t{4096}, std::uint64_t{1} << 21}) {
    const Roots roots(points);
    for (std::uint64_t p = 0; p < 5000; p += 7) {
      const double angle = kTurn * static_cast<double>(p % points) / static_cast<double>(points);
      EXPECT_LE(std::abs(roots(p) - std::polar(1.0, angle)), 1e-14);
    }
  }
}

TEST(Usfft, MatchesTheSum) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const std::int64_t points : {8, 64, 500}) {
    std::vector<double> frequencies{0, 1 - 1e-12, 0.5};
    while (frequencies.size() < 40) frequencies.push_back(uniform(random));
    std::vector<std::complex<double>> coefficients;
    for (std::size_t f = 0; f < frequencies.size(); ++f) {
      coefficients.push_back(std::polar(1.0, kTurn * uniform(random)));
    }
    std::vector<std::complex<double>> expected(static_cast<std::size_t>(points)), got(expected.size());
    for (std::size_t j = 0; j < expected.size(); ++j) {
      for (std::size_t f = 0; f < frequencies.size(); ++f) {
        expected[j] -= coefficients[f] *
                       std::polar(1.0, kTurn * std::fmod(frequencies[f] * static_cast<double>(j), 1.0));
      }
    }
    Usfft usfft(points);
    usfft.place(frequencies);
    usfft.subtract(coefficients, got);
    EXPECT_LE(test::relative_l2(got, expected), 1e-8) << points;
  }
}

TEST(FfastStages, DivideTheLengthAndHaveRoom) {
  for (const std::int64_t k : {1, 50, 500, 1000, 4000}) {
    for (const int bits : {18, 20, 22, 24}) {
      const std::int64_t wanted = std::int64_t{1} << bits;
      if (64 * k > wanted) continue;
      const std::int64_t points = ffast_length(wanted, k);
      EXPECT_GE(points, wanted / 2);
      EXPECT_LE(points, 2 * wanted);
      const std::vector<std::int64_t> stages = ffast_stages(points, k);
      ASSERT_EQ(stages.size(), 3U) << points << ' ' << k;
      for (const std::int64_t stage : stages) {
        EXPECT_EQ(points % stage, 0);
        EXPECT_GE(stage, k);
      }
    }
  }
}

}  // namespace
}  // namespace sfft::peers
