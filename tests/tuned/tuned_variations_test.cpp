// SPDX-License-Identifier: Apache-2.0
// What the tuner tries beside the best choice: texts that wisdom files can hold, no choice twice.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/dense/tuned/variations.hpp"

namespace sfft {
namespace {

using detail::tuned::Choice;
using detail::tuned::LineChoice;
using detail::tuned::parse_choice;

const char* const kChoices[] = {
    "once 0 streams 1 blocks 1 chunk 16 split - | 10.10.10 t100 l1 e10 r9 b",
    "once 0 streams 1 blocks 1 chunk 16 split - | 25.10 t10 l16 c x b",
    "once 2 streams 4 blocks 1 chunk 16 split - | 20.36 t20 l8 e20 m o | 10.8.8 t80 l2 o",
    "once 1 streams 2 blocks 2 chunk 16 split 512.256.512 | 16.32 t16 l8 e16 p2 a | 16.16 t16 l16 m a | "
    "32.16 "
    "t16 l16 m a",
};

void expect_usable(const std::vector<Choice>& all, const Choice& base) {
  EXPECT_FALSE(all.empty());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto back = parse_choice(to_text(all[i]));
    ASSERT_TRUE(back) << to_text(all[i]);
    EXPECT_EQ(*back, all[i]) << to_text(all[i]);
    EXPECT_NE(all[i], base);
    for (std::size_t s = 0; s < base.lines.size(); ++s)
      EXPECT_EQ(all[i].lines[s].length(), base.lines[s].length()) << to_text(all[i]);
  }
}

TEST(TunedVariations, AreChoicesOfTheSameTransform) {
  for (const char* text : kChoices) {
    const Choice base = *parse_choice(text);
    for (const bool single : {true, false}) {
      const auto refined = refinements(base, false, single);
      expect_usable(refined, base);
      for (std::size_t i = 0; i < refined.size(); ++i)
        EXPECT_EQ(std::count(refined.begin(), refined.end(), refined[i]), 1) << to_text(refined[i]);
    }
    expect_usable(neighbours(base), base);
  }
}

/// How many of the choices have a step of which `is` is true.
template <class Is>
auto count(const std::vector<Choice>& all, const Is& is) {
  return std::count_if(all.begin(), all.end(), [&](const Choice& choice) {
    return std::any_of(choice.lines.begin(), choice.lines.end(), is);
  });
}

TEST(TunedVariations, LimitBlocksByWhatTheirTilesTake) {
  const Choice base = *parse_choice("once 0 streams 1 blocks 1 chunk 16 split - | 10.10.10 t100 l1");
  std::vector<int> limits;
  for (const Choice& choice : refinements(base, false, true)) {
    const int resident = choice.lines[0].resident;
    if (resident > 0) limits.push_back(resident);
    EXPECT_LE(resident * 8000, 104 << 10);
  }
  EXPECT_EQ(limits, (std::vector{5, 7, 9, 11, 13}));
}

TEST(TunedVariations, PrefetchAtSeveralDistances) {
  for (const char* text : kChoices) {
    const Choice base = *parse_choice(text);
    EXPECT_EQ(count(refinements(base, false, true), [](const LineChoice& line) { return line.distance > 0; }),
              3 * base.lines.size())
        << text;
  }
}

TEST(TunedVariations, BeginOneAfterTheOtherWhereABlockIsAlone) {
  const auto spread = [](const LineChoice& line) { return line.spread > 0; };
  const auto both = [](const LineChoice& line) { return line.spread > 0 && line.distance > 0; };
  for (const char* text : kChoices)
    EXPECT_EQ(count(refinements(*parse_choice(text), false, true), spread), 0);
  const auto all = refinements(
      *parse_choice("once 0 streams 1 blocks 1 chunk 16 split 32.8 | 32.16.16 t256 l1 | 16.16.8 t128 l8 m"),
      false, true);
  EXPECT_EQ(count(all, spread), 12);
  EXPECT_EQ(count(all, both), 9);
}

TEST(TunedVariations, BeginOneAfterTheOtherOnAMultiprocessor) {
  const auto staggered = [](const LineChoice& line) { return line.stagger > 0; };
  for (const char* text : kChoices) {
    const Choice base = *parse_choice(text);
    const std::size_t steps = base.lines.size();
    // Two values, for every step alone and, of several, for all of them.
    EXPECT_EQ(count(refinements(base, false, true), staggered), steps == 1 ? 2 : 2 * steps + 2) << text;
  }
}

TEST(TunedVariations, LeaveOutWhatChangesNothing) {
  const auto early = [](const LineChoice& line) { return line.early; };
  const auto ahead = [](const LineChoice& line) { return line.ahead; };
  const Choice lines = *parse_choice("once 0 streams 1 blocks 1 chunk 16 split - | 15.16 t16 l4");
  const Choice frames = *parse_choice(kChoices[2]);
  EXPECT_EQ(count(refinements(lines, false, true), early), 1);
  EXPECT_EQ(count(refinements(lines, true, true), early), 0);
  EXPECT_EQ(count(refinements(lines, true, true), ahead), 0);
  EXPECT_EQ(count(refinements(frames, true, true), ahead), 2);
  EXPECT_EQ(count(refinements(frames, false, true), ahead), 0);
}

TEST(TunedVariations, WidenGroupsOfThreeFactors) {
  const auto widened = neighbours(*parse_choice(kChoices[3]));
  const auto wide =
      std::find_if(widened.begin(), widened.end(), [](const Choice& c) { return c.chunk == 32; });
  ASSERT_NE(wide, widened.end());
  EXPECT_EQ(wide->lines[1].lines, 32);
  EXPECT_EQ(wide->lines[2].lines, 32);
  const auto narrow = neighbours(*parse_choice(
      "once 1 streams 2 blocks 2 chunk 16 split 16.256.512 | 16 t1 l16 | 16.16 t16 l16 m | 32.16 t16 l16 m"));
  EXPECT_TRUE(std::all_of(narrow.begin(), narrow.end(), [](const Choice& c) { return c.chunk == 16; }));
}

}  // namespace
}  // namespace sfft
