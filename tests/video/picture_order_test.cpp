// SPDX-License-Identifier: Apache-2.0
// Tests which missing pictures can be detected from the numbers of the others.
#include "video/sources/damage_watch.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace sfft::video::picture_order_test {
namespace {

struct Coded {
  std::int64_t count;
  bool key;
};

/// Returns pictures in decoding order: groups of `group` pictures, in mini-groups of `between` + 1 whose last
/// picture comes first.
std::vector<Coded> stream(int pictures, int group, int between, std::int64_t step) {
  std::vector<Coded> coded;
  for (int begin = 0; begin < pictures; begin += group) {
    coded.push_back({0, true});
    for (int at = 1; at < group;) {
      const int last = std::min(at + between, group - 1);
      coded.push_back({last * step, false});
      for (int b = at; b < last; ++b) coded.push_back({b * step, false});
      at = last + 1;
    }
  }
  return coded;
}

std::int64_t lost(const std::vector<Coded>& coded, const std::set<std::size_t>& dropped, int depth) {
  PictureOrder order(depth);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < coded.size(); ++i) {
    if (dropped.contains(i)) continue;
    order.add(coded[i].count, coded[i].key, static_cast<std::int64_t>(i));
    for (const PictureOrder::Loss& loss : order.take()) {
      EXPECT_LE(loss.packet, static_cast<std::int64_t>(i)) << "a packet that has come";
      sum += loss.pictures;
    }
  }
  return sum;
}

TEST(PictureOrder, NothingIsMissingFromWholeStreams) {
  for (const int between : {0, 1, 3}) {
    for (const std::int64_t step : {1, 2}) {
      for (const int group : {1, 2, 25, 250}) {
        EXPECT_EQ(lost(stream(600, group, between, step), {}, between > 0 ? 1 : 0), 0)
            << between << " " << step << " " << group;
      }
    }
  }
}

/// Scene cuts can bring key frames one after another.
TEST(PictureOrder, KeyFramesMayComeAtAnyTime) {
  std::mt19937 random(7);
  for (const int between : {0, 2}) {
    std::vector<Coded> coded;
    for (int part = 0; part < 200; ++part) {
      const int group = 1 + static_cast<int>(random() % 6);
      const std::vector<Coded> more = stream(group, group, between, 2);
      coded.insert(coded.end(), more.begin(), more.end());
    }
    EXPECT_EQ(lost(coded, {}, between > 0 ? 1 : 0), 0) << between;
  }
}

TEST(PictureOrder, MissingPicturesAreCounted) {
  std::mt19937 random(3);
  for (const int between : {0, 1, 3}) {
    const std::vector<Coded> coded = stream(1000, 250, between, 2);
    for (int trial = 0; trial < 40; ++trial) {
      // Pictures at the end of a group are not dropped, because no number follows them.
      std::set<std::size_t> dropped;
      while (dropped.size() < 5) {
        const std::size_t place = 40 + random() % 920;
        if (place % 250 > 0 && place % 250 < 240) dropped.insert(place);
      }
      EXPECT_EQ(lost(coded, dropped, between > 0 ? 1 : 0), 5) << between << " " << trial;
    }
  }
}

TEST(PictureOrder, AKeyFrameThatIsMissingIsNoticed) {
  EXPECT_GE(lost(stream(500, 100, 0, 2), {300}, 0), 1);
}

TEST(PictureOrder, NumbersWithoutARhythmTellNothing) {
  std::mt19937 random(5);
  PictureOrder order(0);
  std::int64_t count = 0;
  for (int i = 0; i < 500; ++i) {
    order.add(count, i == 0, i);
    count += 1 + random() % 6;
  }
  EXPECT_TRUE(order.take().empty());
}

}  // namespace
}  // namespace sfft::video::picture_order_test
