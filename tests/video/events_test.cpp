// SPDX-License-Identifier: Apache-2.0
// Tests when conditions become events, and the events' schema.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "video/events/event.hpp"
#include "video/events/hysteresis.hpp"
#include "video/events/timeline.hpp"

namespace sfft::video::events_test {
namespace {

TEST(Hysteresis, BeginsWithTheFirstOfEnoughAndEndsAfterAPause) {
  Hysteresis condition({.begin = 3, .window = 4, .end = 2});
  using Change = Hysteresis::Change;
  EXPECT_EQ(condition.update(0, true), Change::none);
  EXPECT_EQ(condition.update(1, false), Change::none);
  EXPECT_EQ(condition.update(2, true), Change::none);
  EXPECT_EQ(condition.update(3, true), Change::begins);
  EXPECT_EQ(condition.start(), 0);
  EXPECT_EQ(condition.update(4, false), Change::none);
  EXPECT_EQ(condition.update(5, true), Change::none);
  EXPECT_EQ(condition.update(6, false), Change::none);
  EXPECT_EQ(condition.update(7, false), Change::ends);
  EXPECT_EQ(condition.end(), 6);
}

TEST(Timeline, KeepsTheLargestOfEachStretch) {
  Timeline timeline(4);
  for (int i = 0; i < 37; ++i) timeline.add(i, i == 21 ? 100 : i % 3);
  ASSERT_LE(timeline.points().size(), 4U);
  double largest = 0;
  double before = -1;
  for (const TimelinePoint& point : timeline.points()) {
    EXPECT_GT(point.seconds, before);
    before = point.seconds;
    largest = std::max(largest, point.value);
  }
  EXPECT_EQ(timeline.points().front().seconds, 0);
  EXPECT_EQ(largest, 100);
}

TEST(EventLine, IsJsonWhateverTheSourceIsCalled) {
  Event event;
  event.source = "a\"b\\c\n<\xff>";
  event.kind = EventKind::covered;
  const std::string line = event_line(event, EventPhase::start);
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["kind"], "covered");
  EXPECT_TRUE(json["end_s"].is_null());
  EXPECT_TRUE(json["shift_px"].is_null());
  for (const char* key :
       {"event", "id", "source", "start_s", "start_frame", "end_frame", "confidence", "detail"})
    EXPECT_TRUE(json.contains(key)) << key;
}

TEST(EventKind, NamesGoBothWays) {
  for (int i = 0; i < kEventKinds; ++i)
    EXPECT_EQ(event_kind(to_string(static_cast<EventKind>(i))), static_cast<EventKind>(i));
  EXPECT_FALSE(event_kind("moving"));
}

}  // namespace
}  // namespace sfft::video::events_test
