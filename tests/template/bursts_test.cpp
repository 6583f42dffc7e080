// SPDX-License-Identifier: Apache-2.0
// Compares the probability that a disturbance misses all samples of a plan with drawn disturbances.
#include "template/planning/bursts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <set>

#include "sfft/template.hpp"
#include "sfft/template_access.hpp"
#include "template/planning/witness.hpp"

namespace sfft::detail::bursts_test {
namespace {

std::vector<std::int64_t> random_reads(std::int64_t count, std::int64_t points, std::mt19937_64& random) {
  std::vector<std::int64_t> reads;
  for (std::int64_t i = 0; i < count; ++i)
    reads.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(points)));
  return reads;
}

ReadGaps gaps_of(const std::vector<std::int64_t>& reads, std::int64_t points) {
  ReadSet set(points, static_cast<std::int64_t>(reads.size()));
  for (const std::int64_t read : reads) set.add(read);
  return ReadGaps(std::move(set));
}

bool holds_one(const std::set<std::int64_t>& reads, std::int64_t start, std::int64_t length) {
  const auto next = reads.lower_bound(start);
  return next != reads.end() && *next < start + length;
}

TEST(ReadGaps, OneStretchIsMissedAsOftenAsItsPlacesSay) {
  std::mt19937_64 random(3);
  for (const std::int64_t points : {50, 97, 1000}) {
    for (const std::int64_t count : {1, 7, 40}) {
      const std::vector<std::int64_t> reads = random_reads(count, points, random);
      const std::set<std::int64_t> distinct(reads.begin(), reads.end());
      const ReadGaps gaps = gaps_of(reads, points);
      EXPECT_EQ(gaps.reads(), static_cast<std::int64_t>(distinct.size()));
      for (const std::int64_t length : {std::int64_t{1}, std::int64_t{3}, points / 4, points}) {
        std::int64_t missed = 0;
        for (std::int64_t start = 0; start + length <= points; ++start)
          missed += !holds_one(distinct, start, length);
        const double share = static_cast<double>(missed) / static_cast<double>(points - length + 1);
        EXPECT_NEAR(gaps.miss_probability(length, 1), share, 1e-12)
            << points << " " << count << " " << length;
      }
    }
  }
}

TEST(ReadGaps, StretchesAndRandomSetsAreMissedAsOftenAsDrawn) {
  std::mt19937_64 random(4);
  constexpr std::int64_t kPoints = 4000;
  constexpr int kDraws = 20000;
  const std::vector<std::int64_t> reads = random_reads(60, kPoints, random);
  const std::set<std::int64_t> distinct(reads.begin(), reads.end());
  const ReadGaps gaps = gaps_of(reads, kPoints);
  struct Case {
    std::int64_t length, stretches;
  };
  for (const Case c : {Case{40, 1}, Case{60, 4}, Case{64, 16}, Case{80, 80}}) {
    const std::int64_t each = c.length / c.stretches;
    int missed = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      bool hit = false;
      for (std::int64_t i = 0; i < c.stretches && !hit; ++i)
        hit = holds_one(distinct, static_cast<std::int64_t>(random() % (kPoints - each + 1)), each);
      missed += !hit;
    }
    const double p = gaps.miss_probability(c.length, c.stretches);
    EXPECT_NEAR(static_cast<double>(missed) / kDraws, p, 5 * std::sqrt(p * (1 - p) / kDraws))
        << c.length << " in " << c.stretches;
  }
}

TEST(ReadGaps, TheShortestBurstIsTheShortestThatIsRarelyMissed) {
  std::mt19937_64 random(5);
  const ReadGaps gaps = gaps_of(random_reads(100, 10000, random), 10000);
  for (const double miss : {0.1, 1e-3, 1e-9}) {
    const std::int64_t length = gaps.shortest_burst(miss);
    for (std::int64_t stretches = 1; stretches < length; stretches *= 2)
      EXPECT_LE(gaps.miss_probability(length, stretches), miss);
    EXPECT_LE(gaps.miss_probability(length, length), miss);
    EXPECT_GT(gaps.miss_probability(length / 2, 1) + gaps.miss_probability(length / 2, length / 2), miss);
  }
  std::vector<std::int64_t> all(10);
  for (std::int64_t t = 0; t < 10; ++t) all[static_cast<std::size_t>(t)] = t;
  EXPECT_EQ(gaps_of(all, 10).shortest_burst(1e-9), 1);
  EXPECT_EQ(gaps_of({}, 10).shortest_burst(1e-9), 10) << "a burst of everything is all that is left";
}

TEST(ReadSet, CombsGatherWhatTheirFormulaSays) {
  CombData comb;
  comb.shape = Shape{6, 12};
  comb.buckets = {3, 4, 1};
  comb.delays = {{0, 2, 0}, {1, 0, 0}};
  std::set<std::int64_t> expected;
  for (const auto& delay : comb.delays) {
    for (std::int64_t y = 0; y < 3; ++y) {
      for (std::int64_t x = 0; x < 4; ++x) expected.insert((2 * y + delay[0]) * 12 + 3 * x + delay[1]);
    }
  }
  for (const std::int64_t many : {24, 0}) {  // sets as marks and as a list
    ReadSet reads(comb.shape.points(), many);
    reads.add(comb);
    std::vector<std::int64_t> got;
    reads.for_each_ascending([&](std::int64_t read) { got.push_back(read); });
    EXPECT_EQ(got, std::vector<std::int64_t>(expected.begin(), expected.end())) << many;
  }
}

/// Over many seeds, all samples of a witness of several blocks miss a fixed set as rarely as independent
/// samples do.
TEST(Witness, TheSamplesForABurstMissFixedSetsAsRarelyAsPromised) {
  EXPECT_EQ(samples_for_burst(0.01, 1e-3), 688);
  constexpr std::int64_t kPoints = 2048;
  constexpr double kShare = 0.05, kMiss = 0.02;
  const SupportSet support(*detail::data_of(
      Template::from_support(Shape{kPoints}, Domain::real, std::vector<std::int64_t>{3, 50})));
  const std::int64_t blocks = (samples_for_burst(kShare, kMiss) + kWitnessReals - 1) / kWitnessReals;
  constexpr auto kLength = static_cast<std::int64_t>(kShare * kPoints);
  const auto in_train = [](std::int64_t t) {
    return t % (kPoints / kLength) == 5 && t < kLength * (kPoints / kLength);
  };
  const auto in_stretch = [](std::int64_t t) { return t >= 700 && t < 700 + kLength; };
  const auto in_halves = [](std::int64_t t) { return t % 1024 >= 100 && t % 1024 < 100 + kLength / 2; };
  constexpr int kSeeds = 4000;
  std::array<int, 3> missed{};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    std::array<bool, 3> hit{};
    for (const std::int64_t t : place_witness(support, false, seed, blocks).samples) {
      ASSERT_TRUE(t >= 0 && t < kPoints);
      hit[0] = hit[0] || in_train(t);
      hit[1] = hit[1] || in_stretch(t);
      hit[2] = hit[2] || in_halves(t);
    }
    for (std::size_t i = 0; i < hit.size(); ++i) missed[i] += !hit[i];
  }
  for (const int count : missed) EXPECT_LE(count, kSeeds * kMiss + 5 * std::sqrt(kSeeds * kMiss));
}

}  // namespace
}  // namespace sfft::detail::bursts_test
