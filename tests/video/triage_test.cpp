// SPDX-License-Identifier: Apache-2.0
// Tests triage of artificial scenes: what is an event, and what is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "tests/video/triage_scene.hpp"
#include "video/triage/background.hpp"
#include "video/triage/change_meter.hpp"
#include "video/triage/event_list.hpp"

namespace sfft::video::triage_test {
namespace {

TEST(Triage, SmallViewDrawsLowFrequencies) {
  const auto wave = [](double x, double y) {
    const double turns = 3 * x / kWidth + 2 * y / kHeight;
    return 120 + 50 * std::cos(2 * std::numbers::pi * turns + 0.4);
  };
  std::vector<std::uint8_t> samples;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) samples.push_back(static_cast<std::uint8_t>(wave(x, y) + 0.5));
  const SignalView frame(samples, Shape{kHeight, kWidth});
  SmallView view(frame, 1000, 0);
  ASSERT_EQ(view.frame_x(view.width()), kWidth);  // no rim is left out
  ASSERT_EQ(view.frame_y(view.height()), kHeight);
  Grey picture;
  view.read(frame, picture);
  for (int y = 0; y < view.height(); ++y) {
    for (int x = 0; x < view.width(); ++x)
      EXPECT_NEAR(picture[static_cast<std::size_t>(y * view.width() + x)],
                  wave(view.frame_x(x), view.frame_y(y)), 0.5);
  }
  const std::vector<std::uint8_t> tiny(20 * 20);
  EXPECT_THROW(SmallView(SignalView(tiny, Shape{20, 20}), 1000, 0), Error);
  const std::vector<std::uint8_t> other(100 * 100);
  EXPECT_THROW(view.read(SignalView(other, Shape{100, 100}), picture), Error);
}

TEST(Triage, RankNetworkSelectsWhatSortingDoes) {
  constexpr std::size_t kLanes = RankNetwork::kLanes;
  std::mt19937 random(3);
  std::uniform_int_distribution<int> level(-9, 9);  // includes ties
  for (std::size_t count = 1; count <= 81; ++count) {
    for (const std::size_t rank : {std::size_t{0}, count / 2, count * 7 / 10, count - 1}) {
      std::vector<float> rows(count * kLanes);
      for (float& value : rows) value = static_cast<float>(level(random));
      std::vector<float> expected;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        std::vector<float> one;
        for (std::size_t n = 0; n < count; ++n) one.push_back(rows[n * kLanes + lane]);
        std::ranges::sort(one);
        expected.push_back(one[rank]);
      }
      const auto selected = RankNetwork(count, rank).select(rows);
      EXPECT_TRUE(std::ranges::equal(selected, expected)) << rank << " of " << count;
    }
  }
}

TEST(Triage, NothingHappens) {
  EXPECT_TRUE(events_of([](Grey&, int) {}).empty());
}

TEST(Triage, LightIsNoEvent) {
  const auto steps = events_of([](Grey& grey, int frame) {
    const float gains[] = {1, 0.6F, 1.25F, 0.8F};
    const float offsets[] = {0, 20, -10, 5};
    for (float& level : grey) level = gains[frame / 75] * level + offsets[frame / 75];
  });
  EXPECT_TRUE(steps.empty());
  const auto nightfall = events_of([](Grey& grey, int frame) {
    for (float& level : grey) level *= 1 - 0.9F * static_cast<float>(frame) / kFrames;
  });
  EXPECT_TRUE(nightfall.empty());
  const auto flicker = events_of([](Grey& grey, int frame) {
    for (float& level : grey) level *= 1 + 0.08F * static_cast<float>(std::sin(2.1 * frame));
  });
  EXPECT_TRUE(flicker.empty());
  // Inside the picture, and at its borders, across which small pictures continue.
  for (const auto& place : {std::pair(50, 40), std::pair(180, 50), std::pair(90, 100), std::pair(180, 100)}) {
    const auto lamp = events_of([&](Grey& grey, int frame) {
      if (frame / 80 % 2 == 0) return;
      for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) {
          const double distance = std::hypot(x - place.first, y - place.second) / 50;
          pixel(grey, x, y) *= 1 + 0.7F * static_cast<float>(std::exp(-0.5 * distance * distance));
        }
      }
    });
    EXPECT_TRUE(lamp.empty()) << place.first << ", " << place.second;
  }
}

/// Like a lamp that shines on a wall from nearby: factors up to 2.5, which make much of the wall white.
Edit narrow_lamp(int left, int top, double radius) {
  return [=](Grey& grey, int frame) {
    if (frame / 80 % 2 == 0) return;
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const double distance = std::hypot(x - left, y - top) / (radius * kWidth);
        pixel(grey, x, y) *= 1 + 1.5F * static_cast<float>(std::exp(-distance * distance));
      }
    }
  };
}

TEST(Triage, NarrowLampsThatOverexposeAreNoEvents) {
  struct Lamp {
    int x, y;
    double radius;  ///< share of the width
  };
  for (const Lamp lamp : {Lamp{50, 42, 0.2}, Lamp{140, 42, 0.12}, Lamp{50, 64, 0.2}, Lamp{110, 64, 0.2},
                          Lamp{140, 64, 0.2}, Lamp{170, 64, 0.12}})
    EXPECT_TRUE(events_of(narrow_lamp(lamp.x, lamp.y, lamp.radius)).empty()) << lamp.x << ", " << lamp.y;
}

/// Brightens a spot of this shape from frame 100 on, for `frames` frames.
Edit spot(int left, int top, int radius, float gain, int frames, int onset) {
  return [=](Grey& grey, int frame) {
    if (frame < 100 || frame >= 100 + frames) return;
    const float on = std::min(1.0F, static_cast<float>(frame - 99) / static_cast<float>(onset));
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        if (std::hypot(x - left, y - top) < radius) pixel(grey, x, y) *= 1 + gain * on;
  };
}

TEST(Triage, LampsWithARimAreNoEvents) {
  for (const int frames : {60, 300}) {
    EXPECT_TRUE(events_of(spot(60, 50, 22, 0.6F, frames, 1)).empty()) << frames;
    EXPECT_TRUE(events_of(spot(130, 60, 30, 1.0F, frames, 4)).empty()) << frames;
  }
  // An object of the same shape enters from the side.
  const auto thing = events_of([](Grey& grey, int frame) {
    if (frame < 100) return;
    const int left = std::min(60, (frame - 100) * 6 - 22);
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        if (std::hypot(x - left, y - 50) < 22) pixel(grey, x, y) = 200;
  });
  ASSERT_EQ(thing.size(), 1U);
  EXPECT_NEAR(thing[0].change_start_s, 4, 0.3);
}

TEST(Triage, LightningIsNoEvent) {
  const auto events = events_of([](Grey& grey, int frame) {
    const int phase = frame % 90;
    if (phase < 70 || phase > 77) return;
    const float flash = 0.4F + 0.5F * static_cast<float>(phase % 3);
    for (float& level : grey) level = level * (1 + flash) + 60 * flash;
  });
  EXPECT_TRUE(events.empty());
}

TEST(Triage, APersonWhoStandsStillForLongIsSeen) {
  // Present for three quarters of the time, and moving now and then.
  const auto events = events_of([](Grey& grey, int frame) {
    if (frame < 60) return;
    const int sway = frame < 80         ? 4 * (frame - 80)
                     : frame % 100 < 40 ? static_cast<int>(9 * std::sin(frame / 6.0))
                                        : 0;
    for (int y = 30; y < 90; ++y)
      for (int x = std::max(0, 80 + sway); x < 100 + sway; ++x) pixel(grey, x, y) = 40;
  });
  double seen = 0;
  for (const TriageEvent& event : events) seen += event.change_end_s - event.change_start_s;
  EXPECT_GT(seen, 3.5);
}

TEST(Triage, WhiteObjectsAreEvents) {
  const auto events = events_of([](Grey& grey, int frame) {
    if (frame < 120 || frame >= 170) return;
    const int left = 10 + 3 * (frame - 120);
    for (int y = 50; y < 70; ++y)
      for (int x = left; x < left + 30; ++x) pixel(grey, x, y) = 255;
  });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NEAR(events[0].change_start_s, 4.8, 0.2);
  EXPECT_NEAR(events[0].change_end_s, 6.8, 0.4);
}

TEST(Triage, WhatGoesOnAllTheTimeInMostOfThePictureIsAnEvent) {
  // A person near the camera: stripes that go up and down over half of the picture.
  const auto events = events_of([](Grey& grey, int frame) {
    const int up = static_cast<int>(60 + 50 * std::sin(frame / 14.0) + 30 * std::sin(frame / 5.3));
    for (int y = 0; y < kHeight; ++y)
      for (int x = 50; x < 150; ++x) pixel(grey, x, y) = (y + up + 200) / 25 % 2 == 0 ? 30.0F : 220.0F;
  });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_LT(events[0].change_start_s, 1);
  EXPECT_GT(events[0].change_end_s, kFrames / kRate - 1);
}

TEST(Triage, WhatIsTurnedBeforeTheCameraAllTheTimeIsAnEvent) {
  // Unlike a web that sways, it has many states.
  const auto turned = [](Grey& grey, int frame) {
    const double t = frame / kRate, angle = t + 0.5 * std::sin(1.3 * t);
    const double middle_x = 96 + 10 * std::sin(0.7 * t), middle_y = 54 + 5 * std::sin(1.1 * t);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        if (std::hypot(x - middle_x, y - middle_y) > 45) continue;
        const double u = std::cos(angle) * (x - middle_x) + std::sin(angle) * (y - middle_y);
        const double v = std::cos(angle) * (y - middle_y) - std::sin(angle) * (x - middle_x);
        pixel(grey, x, y) = static_cast<float>(120 + 30 * std::sin(u / 6) * std::cos(v / 8 + 1) +
                                               15 * std::sin((u + 2 * v) / 10));
      }
    }
  };
  const std::vector<TriageEvent> events = events_of(turned);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_LT(events[0].change_start_s, 1.5);
  EXPECT_GT(events[0].change_end_s, 11.5);
}

TEST(Triage, RainAndWavingClothAreNoEvents) {
  std::mt19937 random(5);
  const auto rain = events_of([&random](Grey& grey, int) {
    for (int i = 0; i < 25; ++i) {
      const auto x = static_cast<int>(random() % kWidth);
      const auto y = static_cast<int>(random() % (kHeight - 9));
      for (int v = y; v < y + 9; ++v) pixel(grey, x, v) += 45;
    }
  });
  EXPECT_TRUE(rain.empty());
  std::uniform_real_distribution<double> pace(0.2, 0.8);
  double phase = 0;
  const auto cloth = events_of([&](Grey& grey, int) {
    phase += pace(random);
    for (int y = 30; y < 54; ++y)
      for (int x = 50; x < 74; ++x)
        pixel(grey, x, y) =
            110 + 60 * static_cast<float>(std::sin(x / 3.0 + phase + 2 * std::sin(phase / 3.1 + y / 8.0)));
  });
  EXPECT_TRUE(cloth.empty());
}

/// A bush with soft leaves sways by some pixels for four seconds, and is calm before and after.
void bush(Grey& grey, int frame) {
  const double gust = frame >= 100 && frame < 200 ? std::sin(std::numbers::pi * (frame - 100) / 100) : 0;
  for (int y = 20; y < 90; ++y) {
    for (int x = 100; x < 170; ++x) {
      const double at = x + 3 * gust * std::sin(2 * std::numbers::pi * 0.8 * frame / kRate + 0.03 * y);
      const double leaves =
          std::sin(0.31 * at + 0.2 * y) + std::sin(0.23 * at - 0.4 * y) + std::sin(0.4 * at);
      pixel(grey, x, y) = static_cast<float>(100 + 18 * leaves);
    }
  }
}

TEST(Triage, BranchesInAGustAreNoEvent) {
  EXPECT_TRUE(events_of(bush).empty());
  const auto events = events_of([](Grey& grey, int frame) {
    bush(grey, frame);
    crossing(14, 60)(grey, frame);
  });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NEAR(events[0].change_start_s, 4.8, 0.5);
  EXPECT_NEAR(events[0].change_end_s, 6.8, 0.5);
}

TEST(Triage, SmallObjectsAreEvents) {
  for (const float contrast : {40.0F, 80.0F, -60.0F}) {
    const auto events = events_of(crossing(kWidth / 16, contrast));
    ASSERT_EQ(events.size(), 1U) << contrast;
    EXPECT_NEAR(events[0].change_start_s, 4.8, 0.2);
    EXPECT_NEAR(events[0].change_end_s, 6.8, 0.4);
    EXPECT_NEAR(events[0].start_s, events[0].change_start_s - 1, 1e-9);
    EXPECT_GE(events[0].peak_s, 4.8);
    EXPECT_LE(events[0].peak_s, 6.9);
    const double left = 10 + 3 * (static_cast<double>(events[0].peak_frame) - 120);
    EXPECT_NEAR(events[0].peak_x, left, 24);
    EXPECT_NEAR(events[0].peak_y, 66, 14);
  }
}

TEST(Triage, WhatComesToStayIsOneEvent) {
  const auto parked = [](Grey& grey, int frame) {
    if (frame < 100) return;
    const int left = std::min(10 + 2 * (frame - 100), 90);
    for (int y = 50; y < 70; ++y)
      for (int x = left; x < left + 30; ++x) pixel(grey, x, y) = 220;
  };
  const auto events = events_of(parked);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NEAR(events[0].change_start_s, 4, 0.2);
  EXPECT_GT(events[0].change_end_s, 5.4);
  EXPECT_LT(events[0].change_end_s, 9);
}

/// Returns the events of scores, one score per frame at 10 frames per second.
std::vector<TriageEvent> events_of_scores(const std::vector<double>& scores, const EventOptions& options) {
  EventList list(options, 10);
  std::vector<TriageEvent> events;
  std::int64_t frame = 0;
  for (const double score : scores) {
    const double seconds = static_cast<double>(frame) / 10;
    if (auto event = list.add({frame++, seconds, score, 7, 9})) events.push_back(*event);
  }
  if (auto event = list.finish()) events.push_back(*event);
  return events;
}

TEST(Triage, MarginsAreAddedAndMerge) {
  std::vector<double> scores(300, 1.0);
  for (int i = 50; i < 60; ++i) scores[static_cast<std::size_t>(i)] = 10 + (i == 55);
  for (int i = 75; i < 80; ++i) scores[static_cast<std::size_t>(i)] = 8;
  for (int i = 200; i < 210; ++i) scores[static_cast<std::size_t>(i)] = 8;
  scores[250] = 100;  // shorter than an event
  EventOptions options;
  options.margin_before_s = 0.5;
  options.margin_after_s = 0.7;
  auto events = events_of_scores(scores, options);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].id, 1);
  EXPECT_NEAR(events[0].start_s, 4.5, 1e-9);
  EXPECT_NEAR(events[0].end_s, 6.7, 1e-9);
  EXPECT_EQ(events[0].start_frame, 45);
  EXPECT_EQ(events[0].end_frame, 68);
  EXPECT_EQ(events[0].peak, 11);
  EXPECT_EQ(events[0].peak_frame, 55);
  EXPECT_NEAR(events[2].start_s, 19.5, 1e-9);
  options.margin_after_s = 1.5;
  events = events_of_scores(scores, options);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_NEAR(events[0].end_s, 9.5, 1e-9);
  scores.resize(205);  // the recording ends during an event
  events = events_of_scores(scores, options);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_NEAR(events[1].end_s, 20.5, 1e-9);
  EXPECT_EQ(events[1].end_frame, 205);
}

}  // namespace
}  // namespace sfft::video::triage_test
