// SPDX-License-Identifier: Apache-2.0
// Tests masks and zones: how they are written, and which pixels they contain.
#include "video/events/areas.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sfft/error.hpp"
#include "tests/support/throws.hpp"

namespace sfft::video::areas_test {
namespace {

Frame frame_of(int width, int height, std::uint8_t level) {
  Frame frame;
  frame.width = width;
  frame.height = height;
  frame.samples.assign(static_cast<std::size_t>(width * height), std::byte{level});
  return frame;
}

std::uint8_t at(const SignalView& view, int x, int y) {
  return static_cast<const std::uint8_t*>(view.data())[y * view.stride(0) + x];
}

TEST(Areas, PolygonsAreInPixelsOrInShares) {
  for (const char* text : {"0,0 20,0 20,10 0,10", "0,0 0.5,0 0.5,0.5 0,0.5"}) {
    AreaOptions options;
    add_mask(options, text);
    Areas areas(options);
    Frame frame = frame_of(40, 20, 100);
    for (int x = 0; x < 20; ++x) frame.samples[static_cast<std::size_t>(x)] = std::byte{250};
    const SignalView view = areas.masked(frame);
    EXPECT_EQ(at(view, 19, 0), 100) << text;
    EXPECT_EQ(at(view, 0, 9), 100) << text;
    frame.samples[20] = std::byte{200};
    EXPECT_EQ(at(areas.masked(frame), 20, 0), 200) << "beyond the mask";
  }
}

TEST(Areas, MasksFollowTheLightOfTheRest) {
  AreaOptions options;
  add_mask(options, "0,0 0.5,0 0.5,1 0,1");
  Areas areas(options);
  areas.masked(frame_of(40, 20, 100));
  Frame darker = frame_of(40, 20, 50);
  for (std::size_t i = 0; i < darker.samples.size(); ++i)
    if (i % 40 > 32) darker.samples[i] = std::byte{255};  // something enters
  EXPECT_NEAR(at(areas.masked(darker), 3, 3), 50, 1);
}

TEST(Areas, FollowPicturesOfAnotherSize) {
  AreaOptions options;
  add_zone(options, "gate=20,10 40,10 40,20 20,20");
  Areas areas(options);
  areas.masked(frame_of(40, 20, 100));
  EXPECT_EQ(areas.zones_at(30, 15), 1U);
  EXPECT_EQ(areas.zones_at(10, 15), 0U);
  areas.masked(frame_of(80, 40, 100));
  EXPECT_EQ(areas.zones_at(30, 15), 0U);
  EXPECT_EQ(areas.zones_at(60, 30), 1U);
  EXPECT_EQ(areas.zones_in(0, 0, 80, 40), 1U);
  EXPECT_EQ(areas.names(1), std::vector<std::string>{"gate"});
}

TEST(Areas, OnlyZonesIgnoresTheRest) {
  AreaOptions options;
  add_zone(options, "left=0,0 0.5,0 0.5,1 0,1");
  options.only_zones = true;
  Areas areas(options);
  Frame frame = frame_of(40, 20, 100);
  for (std::size_t i = 0; i < frame.samples.size(); ++i)
    if (i % 40 >= 20) frame.samples[i] = std::byte{7};
  const SignalView view = areas.masked(frame);
  EXPECT_EQ(at(view, 30, 10), 100);
  EXPECT_EQ(at(view, 10, 10), 100);
}

TEST(Areas, EvenOddAtTheMiddlesOfPixels) {
  // The pixels of a triangle follow from the signs of three products.
  AreaOptions options;
  add_zone(options, "t=2,1 18,4 5,13");
  Areas areas(options);
  areas.masked(frame_of(20, 15, 100));
  const double corner[3][2] = {{2, 1}, {18, 4}, {5, 13}};
  for (int y = 0; y < 15; ++y) {
    for (int x = 0; x < 20; ++x) {
      bool inside = true;
      for (int i = 0; i < 3; ++i) {
        const double* a = corner[i];
        const double* b = corner[(i + 1) % 3];
        inside = inside && (b[0] - a[0]) * (y + 0.5 - a[1]) - (b[1] - a[1]) * (x + 0.5 - a[0]) > 0;
      }
      EXPECT_EQ(areas.zones_at(x, y), inside ? 1U : 0U) << x << ", " << y;
    }
  }
}

TEST(Areas, ErrorsSayWhatIsRight) {
  AreaOptions options;
  const auto message = [&](void (*add)(AreaOptions&, const std::string&), const char* text) -> std::string {
    try {
      add(options, text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(add_mask, "0,0 1,1").find("fewer than three corners"), std::string::npos);
  EXPECT_NE(message(add_mask, "no-such-file.png").find("neither a polygon nor a file"), std::string::npos);
  EXPECT_NE(message(add_mask, "0,0 -3,0 5,5").find("outside of the picture"), std::string::npos);
  EXPECT_NE(message(add_zone, "0,0 1,0 1,1").find("write NAME="), std::string::npos);
  EXPECT_NE(message(add_zone, "a=0,0 1,0 x,1").find("write NAME="), std::string::npos);
  EXPECT_EQ(message(add_zone, "a=0,0 1,0 1,1"), "");
  EXPECT_NE(message(add_zone, "a=0,0 1,0 1,1").find("two zones"), std::string::npos);
  AreaOptions everything;
  add_mask(everything, "0,0 1,0 1,1 0,1");
  Areas areas(everything);
  EXPECT_EQ(test::code_of([&] { areas.masked(frame_of(40, 20, 100)); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sfft::video::areas_test
