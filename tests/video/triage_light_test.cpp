// SPDX-License-Identifier: Apache-2.0
// Tests estimates of light in small pictures, as a whole and around each point, and triage in changing light.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>

#include "tests/video/triage_scene.hpp"
#include "video/triage/light.hpp"
#include "video/triage/straight_path.hpp"

namespace sfft::video::triage_light_test {
namespace {

TEST(Triage, LightIsFittedToMostOfThePicture) {
  std::vector<float> picture;
  for (const float level : scene()) picture.push_back(1.3F * level - 20);
  for (std::size_t i = 0; i < picture.size() * 2 / 5; ++i) picture[i] = 230;
  const Light light = fit_light(picture, scene(), {});
  EXPECT_NEAR(light.gain, 1.3, 0.01);
  EXPECT_NEAR(light.offset, -20, 1);
}

TEST(Triage, LightIsNotEstimatedFromAnotherScene) {
  std::mt19937 random(8);
  std::uniform_real_distribution<float> level(20, 230);
  std::vector<float> picture(scene().size());
  for (std::size_t block = 0; block < picture.size(); block += 37)
    std::fill(picture.begin() + static_cast<std::ptrdiff_t>(block),
              picture.begin() + static_cast<std::ptrdiff_t>(std::min(block + 37, picture.size())),
              level(random));
  const Light light = fit_light(picture, scene(), {});
  EXPECT_EQ(light.gain, 1);
  EXPECT_EQ(light.offset, 0);
}

TEST(Triage, WhiteIsAtLeastAsBright) {
  EXPECT_EQ(within_limits(120, false, 100, false), 120);
  EXPECT_EQ(within_limits(80, true, 100, false), 100) << "a white point may be brighter";
  EXPECT_EQ(within_limits(120, true, 100, false), 120) << "and is brighter than this";
  EXPECT_EQ(within_limits(120, false, 100, true), 100) << "so may be the reference";
  EXPECT_EQ(within_limits(80, false, 100, true), 80) << "which is brighter than this";
  EXPECT_EQ(within_limits(80, true, 100, true), 100);
}

/// The guided filter by direct sums in double precision.
std::vector<double> left_by_light(const std::vector<float>& usual, const std::vector<float>& deviation,
                                  int width, int height) {
  constexpr int kReach = 5;
  const auto mean_around = [&](int x, int y, const auto& value) {
    double sum = 0;
    int count = 0;
    for (int v = std::max(0, y - kReach); v <= std::min(height - 1, y + kReach); ++v) {
      for (int u = std::max(0, x - kReach); u <= std::min(width - 1, x + kReach); ++u, ++count)
        sum += value(static_cast<std::size_t>(v * width + u));
    }
    return sum / count;
  };
  std::vector<double> gain;
  std::vector<double> offset;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double level = mean_around(x, y, [&](std::size_t i) { return usual[i]; });
      const double off = mean_around(x, y, [&](std::size_t i) { return deviation[i]; });
      const double variance = mean_around(x, y, [&](std::size_t i) { return std::pow(usual[i] - level, 2); });
      const double along =
          mean_around(x, y, [&](std::size_t i) { return (usual[i] - level) * (deviation[i] - off); });
      gain.push_back(std::max(-0.7, along / (variance + 1)));
      offset.push_back(off - gain.back() * level);
    }
  }
  std::vector<double> left;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>(y * width + x);
      left.push_back(deviation[at] - mean_around(x, y, [&](std::size_t i) { return gain[i]; }) * usual[at] -
                     mean_around(x, y, [&](std::size_t i) { return offset[i]; }));
    }
  }
  return left;
}

TEST(Triage, LocalLightIsTheGuidedFilter) {
  for (const auto& [width, height] : {std::pair(31, 18), std::pair(9, 13), std::pair(6, 6)}) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> level(20, 220);
    std::vector<float> usual(static_cast<std::size_t>(width * height));
    std::vector<float> first(usual.size());
    std::vector<float> second(usual.size());
    for (std::size_t i = 0; i < usual.size(); ++i) {
      usual[i] = level(random);
      first[i] = 0.3F * usual[i] + level(random) / 20;
      second[i] = -0.9F * usual[i] + level(random) / 3;
    }
    LocalLight light(width, height);
    light.set_usual(usual);
    std::vector<float> first_left;
    std::vector<float> second_left;
    light.remove(first, second, first_left, second_left);
    const std::vector<double> first_expected = left_by_light(usual, first, width, height);
    const std::vector<double> second_expected = left_by_light(usual, second, width, height);
    for (std::size_t i = 0; i < usual.size(); ++i) {
      EXPECT_NEAR(first_left[i], first_expected[i], 0.01) << i;
      EXPECT_NEAR(second_left[i], second_expected[i], 0.01) << i;
    }
  }
}

/// From frame 150 on, infrared light shows half of another scene, and falls off towards the sides.
Edit with_infrared(const Edit& before) {
  return [=](Grey& grey, int frame) {
    before(grey, frame);
    if (frame < 150) return;
    const Grey& other = scene();
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const float across = 2.0F * static_cast<float>(x) / kWidth - 1;
        const float mixed =
            0.5F * (pixel(grey, x, y) + other[other.size() - 1 - static_cast<std::size_t>(y * kWidth + x)]);
        pixel(grey, x, y) = mixed * (1.2F - 0.8F * across * across);
      }
    }
  };
}

TEST(Triage, PeopleAreSeenBeforeAndAfterASwitchToInfraredLight) {
  EXPECT_TRUE(events_of(with_infrared([](Grey&, int) {})).empty());
  for (const int from : {40, 200}) {
    const auto events = events_of(with_infrared([=](Grey& grey, int frame) {
      if (frame < from || frame >= from + 50) return;
      const int left = 10 + 3 * (frame - from);
      for (int y = 50; y < 66; ++y)
        for (int x = left; x < left + 8; ++x) pixel(grey, x, y) += 24;
    }));
    ASSERT_EQ(events.size(), 1U) << from;
    EXPECT_NEAR(events[0].change_start_s, from / kRate, 0.5);
  }
}

/// Shadows of 40 % with soft edges that drift over the scene.
void clouds(Grey& grey, int frame) {
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const double at = 0.02 * (x - 0.8 * frame) + 0.8 * std::sin(0.03 * y);
      pixel(grey, x, y) *= static_cast<float>(1 - 0.2 * (1 + std::tanh(2 * std::sin(at))));
    }
  }
}

TEST(Triage, ThingsAreSeenUnderCloudsThatDrift) {
  EXPECT_TRUE(events_of(clouds).empty());
  const auto events = events_of([](Grey& grey, int frame) {
    crossing(16, 50)(grey, frame);
    clouds(grey, frame);
  });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_GE(events[0].change_start_s, 4.7);
  EXPECT_LE(events[0].change_end_s, 7);
}

/// Bright streaks, each seen for 0.3 s, in frames 60 to 240.
void add_moths(Grey& grey, int frame) {
  if (frame < 60 || frame >= 240) return;
  const int since = (frame - 60) % 17;
  if (since >= 8) return;
  const int which = (frame - 60) / 17;
  const int left = 20 + (which * 53) % 100 + 6 * since;
  const int top = 10 + (which * 31) % 80;
  for (int y = top; y < top + 9; ++y)
    for (int x = left; x < left + 16; ++x) pixel(grey, x, y) += 90;
}

TEST(Triage, InsectsBeforeAnInfraredLampAreNoEvents) {
  EXPECT_TRUE(events_of(add_moths).empty());
}

TEST(Triage, WhoWalksBehindInsectsIsAnEvent) {
  const Edit walker = crossing(14, -30);
  const auto events = events_of([&](Grey& grey, int frame) {
    walker(grey, frame);
    add_moths(grey, frame);
  });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NEAR(events[0].change_start_s, 120 / kRate, 0.3);
  EXPECT_NEAR(events[0].change_end_s, 170 / kRate, 0.4);
}

TEST(Triage, BrightThingsThatPassQuicklyAreEvents) {
  // As bright as an insect, but twice as long in the picture.
  const auto events = events_of([](Grey& grey, int frame) {
    if (frame < 120 || frame >= 138) return;
    const int left = 10 + 9 * (frame - 120);
    for (int y = 60; y < 76; ++y)
      for (int x = left; x < std::min(kWidth, left + 20); ++x) pixel(grey, x, y) += 90;
  });
  EXPECT_EQ(events.size(), 1U);
}

/// The object moves by more than its size between pictures.
TEST(Triage, BrightThingsThatPassQuicklyAreEventsAtLowRatesToo) {
  struct Case {
    double rate;
    int times;  // how often each picture is shown
  };
  for (const Case c : {Case{5, 1}, Case{25, 5}, Case{30, 5}}) {
    const auto events = events_of(
        [&](Grey& grey, int frame) {
          const double since = frame / c.rate - 6;
          if (since < 0 || since >= 1.2) return;
          const int left = 10 + static_cast<int>(140 * since);
          for (int y = 60; y < 76; ++y)
            for (int x = left; x < std::min(kWidth, left + 20); ++x) pixel(grey, x, y) += 90;
        },
        1.5, c.rate, c.times);
    ASSERT_EQ(events.size(), 1U) << c.rate << " with " << c.times;
    EXPECT_NEAR(events[0].change_start_s, 6, 0.3);
    EXPECT_NEAR(events[0].change_end_s, 7.2, 0.45);
  }
}

/// A spider's web before all of the picture: blurred threads that sway as a whole, in gusts.
struct Web {
  double sway = 6;  ///< pixels; threads are some five pixels wide
  double light = 130;
  double from_s = -1, grows_s = 1;

  void operator()(Grey& grey, int frame) const {
    const double seconds = frame / kRate;
    const double there = std::clamp((seconds - from_s) / grows_s, 0.0, 1.0);
    const double off = sway * (0.6 + 0.4 * std::sin(1.1 * seconds)) * std::sin(5 * seconds);
    const auto thread = [](double from) { return std::exp(-from * from / 8); };
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const double u = x - off;
        const double v = y - 0.5 * off;
        double web = 0;
        for (const double slope : {-1.1, -0.3, 0.4, 1.5})  // one thread every 50 pixels
          web += thread(std::remainder(u + slope * v, 50) / std::hypot(1, slope));
        web = there * std::min(0.6, web);
        pixel(grey, x, y) = static_cast<float>((1 - 0.8 * web) * pixel(grey, x, y) + light * web);
      }
    }
  }
};

TEST(Triage, WhoWalksBehindAWebThatSwaysIsAnEvent) {
  EXPECT_TRUE(events_of(Web{}).empty());
  const Edit walker = crossing(16, -25);
  const auto events = events_of([&](Grey& grey, int frame) {
    walker(grey, frame);
    Web{}(grey, frame);
  });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_GE(events[0].change_start_s, 120 / kRate - 0.3);
  EXPECT_LE(events[0].change_end_s, 170 / kRate + 0.5);
}

TEST(Triage, AStrongWebIsNoEvent) {
  EXPECT_TRUE(events_of(Web{2, 200, 2, 0.5}).empty());
  const Web web{0.5, 160, 2, 4};
  const Edit walker = crossing(16, -40);
  const auto events = events_of([&](Grey& grey, int frame) {
    walker(grey, frame);
    web(grey, frame);
  });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NEAR(events[0].change_start_s, 120 / kRate, 0.5);
  EXPECT_NEAR(events[0].change_end_s, 170 / kRate, 0.5);
}

TEST(Triage, FaintPeopleWhoWalkOnAreEvents) {
  // In single frames, the scores stay below the threshold.
  constexpr double kNoise = 4;
  const auto faint = [](const std::function<int(int)>& left_at) {
    return [=](Grey& grey, int frame) {
      if (frame < 120 || frame >= 190) return;
      for (int y = 50; y < 62; ++y)
        for (int x = left_at(frame); x < left_at(frame) + 6; ++x) pixel(grey, x, y) += 8;
    };
  };
  EXPECT_TRUE(events_of(faint([](int) { return 60; }), kNoise).empty());
  EXPECT_TRUE(events_of(faint([](int frame) { return 20 + frame * 97 % 150; }), kNoise).empty());
  const auto events = events_of(faint([](int frame) { return 10 + 2 * (frame - 120); }), kNoise);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_LT(events[0].peak, EventOptions{}.threshold);
  EXPECT_NEAR(events[0].change_start_s, 120 / kRate, 0.6);
  EXPECT_NEAR(events[0].change_end_s, 190 / kRate, 0.6);
}

/// The largest score on a path of the places (64 by 36 points, 25 pictures per second) in 4 s.
double on_path(const std::function<std::array<double, 2>(int)>& place) {
  StraightPath path(64, 36, kRate);
  double max = 0;
  for (int i = 0; i < 100; ++i) {
    const auto [x, y] = place(i);
    max = std::max(max, path.add(i / kRate, 3, x, y));
  }
  return max;
}

TEST(Triage, OnlyWhatMovesOnIsOnAPath) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto anywhere = [&] { return std::array{64 * unit(random), 36 * unit(random)}; };
  EXPECT_NEAR(on_path([](int i) { return std::array{0.3 * i, 20.0}; }), 3, 1e-9);
  // The head, then the feet, and noise in every sixth picture.
  EXPECT_GT(on_path([&](int i) {
              return i % 6 == 0 ? anywhere() : std::array{40 - 0.3 * i, 20.0 + i % 2 * 6};
            }),
            2);
  EXPECT_EQ(on_path([](int) { return std::array{30.0, 20.0}; }), 0);
  EXPECT_LT(on_path([&](int) { return anywhere(); }), 1);
  // A thread that sways at 0.8 Hz, and a jump from one place to another.
  EXPECT_LT(on_path([](int i) { return std::array{30 + 8 * std::sin(0.2 * i), 20.0}; }), 2);
  EXPECT_LT(on_path([](int i) { return std::array{i < 50 ? 20.0 : 40.0, 20.0}; }), 1);
}

}  // namespace
}  // namespace sfft::video::triage_light_test
