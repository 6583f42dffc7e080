// SPDX-License-Identifier: Apache-2.0
// The arithmetic of break-even against cases counted by hand, and against trying every number of frames.
#include "bench/break_even.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace sfft::bench {

namespace {

using Count = std::optional<std::int64_t>;

TEST(BreakEven, CasesCountedByHand) {
  // 100 + 1 n <= 0 + 11 n: 10 n >= 100.
  EXPECT_EQ(break_even({100, 1}, {0, 11}).frames, Count(10));
  // One unit more needs one frame more.
  EXPECT_EQ(break_even({101, 1}, {0, 11}).frames, Count(11));
  // The other side's preparation counts: 100 + n <= 60 + 11 n: n >= 4.
  EXPECT_EQ(break_even({100, 1}, {60, 11}).frames, Count(4));
  // 80 ms against 0.3 ms, 3.1 us against 0.3 us a frame: 79,700 / 2.8 = 28,464.28….
  EXPECT_EQ(break_even({80000, 0.3}, {300, 3.1}).frames, Count(28465));
  // Equal in everything: from the start.
  EXPECT_EQ(break_even({5, 2}, {5, 2}).frames, Count(0));
  // Less preparation and faster frames: from the start, and for good.
  const BreakEven both = break_even({1, 1}, {2, 2});
  EXPECT_EQ(both.frames, Count(0));
  EXPECT_FALSE(both.until);
  EXPECT_EQ(both.reason, "");
}

TEST(BreakEven, NeverHasAReason) {
  for (const auto& [ours, peer] : {std::pair<StreamCost, StreamCost>{{10, 5}, {0, 5}}, {{10, 6}, {0, 5}}}) {
    const BreakEven even = break_even(ours, peer);
    EXPECT_FALSE(even.frames);
    EXPECT_NE(even.reason.find("no faster frames"), std::string::npos);
  }
}

TEST(BreakEven, AHeadStartIsUsedUpBySlowerFrames) {
  // 10 + 3 n <= 100 + 1 n: n <= 45.
  const BreakEven even = break_even({10, 3}, {100, 1});
  EXPECT_EQ(even.frames, Count(0));
  EXPECT_EQ(even.until, Count(45));
  EXPECT_NE(even.reason.find("slower frames"), std::string::npos);
  EXPECT_EQ(break_even({10, 3}, {10, 1}).until, Count(0));
}

TEST(BreakEven, WhatWasNotMeasuredBreaksEvenWithNothing) {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const double endless = std::numeric_limits<double>::infinity();
  for (const StreamCost& bad :
       {StreamCost{missing, 1}, {1, missing}, {endless, 1}, {1, endless}, {-1, 1}, {1, -1}}) {
    EXPECT_FALSE(break_even(bad, {1, 2}).frames);
    EXPECT_FALSE(break_even({1, 2}, bad).frames);
    EXPECT_NE(break_even(bad, {1, 2}).reason, "");
  }
  // A gain too small for any recording.
  EXPECT_FALSE(break_even({1e9, 1}, {0, 1 + 1e-12}).frames);
}

TEST(BreakEven, IsTheSmallestNumberOfFrames) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> preparation(0, 400), frame(0, 40);
  for (int trial = 0; trial < 20000; ++trial) {
    const int a = preparation(random), b = frame(random), c = preparation(random), d = frame(random);
    const BreakEven even = break_even({static_cast<double>(a), static_cast<double>(b)},
                                      {static_cast<double>(c), static_cast<double>(d)});
    std::int64_t n = 0;
    while (n <= 401 && a + n * b > c + n * d) ++n;
    ASSERT_EQ(even.frames, n <= 401 ? Count(n) : Count()) << a << ' ' << b << ' ' << c << ' ' << d;
    if (!even.until) continue;
    ASSERT_LE(a + *even.until * b, c + *even.until * d);
    ASSERT_GT(a + (*even.until + 1) * b, c + (*even.until + 1) * d);
  }
}

TEST(Crossing, IsWhereTheTotalStaysBelow) {
  const std::vector<double> peer{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(crossing(std::vector<double>{3, 3.1, 3.2, 3.3, 3.4, 3.5}, peer), Count(3));
  EXPECT_EQ(crossing(std::vector<double>{0, 1, 2, 3, 4, 5}, peer), Count(0));
  // Below for a while only.
  EXPECT_EQ(crossing(std::vector<double>{0, 1, 5, 5, 5, 5}, peer), Count(4));
  EXPECT_EQ(crossing(std::vector<double>{9, 9, 9, 9, 9, 9}, peer), Count());
  EXPECT_EQ(crossing(std::vector<double>{}, peer), Count());
}

}  // namespace

}  // namespace sfft::bench
