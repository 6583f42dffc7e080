// SPDX-License-Identifier: Apache-2.0
// Tests dates and times in names and metadata.
#include "video/sources/wall_clock.hpp"

#include <gtest/gtest.h>

namespace sfft::video::wall_clock_test {
namespace {

std::string named(const std::string& path, double seconds = 0) {
  const auto found = named_time(path);
  return found ? iso_8601(found->clock, seconds) : "";
}

TEST(WallClock, IsInTheNamesThatRecordersGive) {
  const std::string local = "2026-11-28T00:33:10.000";
  for (const char* const path :
       {"2026-11-28_00-33-10.mp4", "/a/cam1_20261128003310.mp4", "20261128T003310.mkv",
        "x/VID_20261128_003310.mp4", "2026-11-28 00.33.10.mkv", "2026_11_28_00_33_10.ts",
        "NVR_ch2_main_20261128003310_20261128004310.mp4", "front.2026-11-28T00:33:10.mp4",
        "2026-11-28/001/dav/00.33.10-00.43.10[M][0@0][0].mp4", "cam/2026/11/28/003310.mp4",
        "20261128/rec-00h33m10s.avi", "12345 2026-11-28 00-33-10 7.mp4"})
    EXPECT_EQ(named(path), local) << path;
  EXPECT_EQ(named("20261128T003310Z.mp4"), local + "Z");
  EXPECT_EQ(named("PXL_20261128_003310123.mp4"), "2026-11-28T00:33:10.123Z");
  EXPECT_EQ(named("cam_20261128_003310_250.mp4"), "2026-11-28T00:33:10.250");
  EXPECT_EQ(named("2026-12-31_23-59-59.mp4", 1.5), "2027-01-01T00:00:00.500");
  EXPECT_EQ(named("2028-02-29_12-00-00.mp4", 86400), "2028-03-01T12:00:00.000");
}

TEST(WallClock, IsNotReadIntoOtherNumbers) {
  for (const char* const path :
       {"", "a.mp4", "20261328003310.mp4", "2026-02-29_00-00-00.mp4", "2026-11-28.mp4",
        "2026-11-28_25-00-00.mp4", "2026-11-28_10-61-00.mp4", "120261128003310.mp4", "202611280033101.mp4",
        "19700101T000000.mp4", "2026-11-28_00-33.mp4", "1764290000.mp4", "x/00.33.10.mp4", "1920x1080.mp4",
        "2026/11/clip003310.mp4", "/"})
    EXPECT_EQ(named(path), "") << path;
}

TEST(WallClock, IsWhereTheNameHasIt) {
  const std::string path = "2025-01-01/cam1_20261128003310Z_x.mp4";
  const auto found = named_time(path);
  ASSERT_TRUE(found);
  EXPECT_EQ(path.substr(found->begin, found->length), "20261128003310");
}

TEST(WallClock, IsStatedWithAndWithoutAZone) {
  const auto text = [](const char* date) {
    const auto clock = stated_time(date);
    return clock ? iso_8601(*clock, 0) : "";
  };
  EXPECT_EQ(text("2026-11-28T00:33:10.500000Z"), "2026-11-28T00:33:10.500Z");
  EXPECT_EQ(text("2026-11-28 00:33:10"), "2026-11-28T00:33:10.000Z");
  EXPECT_EQ(text("2026-11-28T00:33:10+0130"), "2026-11-27T23:03:10.000Z");
  EXPECT_EQ(text("2026-11-28T00:33:10-08:00"), "2026-11-28T08:33:10.000Z");
  for (const char* const date :
       {"", "1904-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2026-11-28", "2026-11-28T24:00:00", "yesterday",
        "2026-11-28T00:33", "2026-11-28T00:33:10+"})
    EXPECT_EQ(text(date), "") << date;
}

TEST(WallClock, OfATimeCodeIsATimeOfDay) {
  const auto text = [](const char* code, double seconds) {
    const auto clock = time_code_time(code, 25);
    return clock ? iso_8601(*clock, seconds) : "";
  };
  EXPECT_EQ(text("23:59:59:05", 0), "T23:59:59.200");
  EXPECT_EQ(text("23:59:59;05", 1), "T00:00:00.200");
  for (const char* const code : {"", "24:00:00:00", "10:00:00", "a:b:c:d", "-1:00:00:00"})
    EXPECT_EQ(text(code, 0), "") << code;
}

TEST(WallClock, OfNothingIsEmpty) {
  EXPECT_EQ(iso_8601({}, 0), "");
  EXPECT_EQ(iso_8601({WallClockSource::now, 1e300, true}, 0), "");
  EXPECT_TRUE(iso_8601(present_clock(3), 3).ends_with("Z"));
}

}  // namespace
}  // namespace sfft::video::wall_clock_test
