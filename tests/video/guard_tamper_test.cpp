// SPDX-License-Identifier: Apache-2.0
// Tests tampering and what resembles it, in drawn scenes: objects that are moved around, stopped streams that
// are encoded again, slow turns, clocks in blurred pictures, and lorries.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "video/guard/activity.hpp"
#include "video/guard/freeze_detector.hpp"
#include "video/guard/guard.hpp"
#include "video/guard/move_check.hpp"

namespace sfft::video::guard_tamper_test {
namespace {

constexpr int kWidth = 320, kHeight = 240;

/// A sum of waves in all directions of up to `finest` radians per pixel, with about this standard deviation.
class Texture {
 public:
  Texture(unsigned seed, double deviation, double finest) : deviation_(deviation) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    for (Wave& wave : waves_) {
      const double angle = 6.2832 * unit(random);
      const double frequency = finest * (0.15 + 0.85 * unit(random));
      wave = {frequency * std::cos(angle), frequency * std::sin(angle), 6.2832 * unit(random)};
    }
  }
  double at(double x, double y) const {
    double sum = 0;
    for (const Wave& wave : waves_) sum += std::sin(wave.x * x + wave.y * y + wave.phase);
    return deviation_ * sum / std::sqrt(0.5 * static_cast<double>(waves_.size()));
  }

 private:
  struct Wave {
    double x, y, phase;
  };
  double deviation_;
  std::array<Wave, 8> waves_{};
};

/// How a frame of the scene is drawn.
struct View {
  double x = 0, y = 0, zoom = 1;
  double objects_x = 0;  ///< position of three bottles
  double lorry_x = 1e6;  ///< left edge of something that hides two thirds of the picture
  double noise = 1;

  bool operator==(const View&) const = default;
};

/// A wall with faint structure, and three objects with strong structure in front of it.
class Room {
 public:
  std::vector<std::uint8_t> draw(const View& view) {
    if (clean_.empty() || !(view == drawn_)) draw_clean(view);
    std::normal_distribution<double> grain(0, 1);
    std::vector<std::uint8_t> frame;
    for (const double grey : clean_) {
      const double noise = view.noise > 0 ? view.noise * grain(random_) : 0;
      frame.push_back(static_cast<std::uint8_t>(std::clamp(grey + noise + 0.5, 0.0, 255.0)));
    }
    return frame;
  }

 private:
  void draw_clean(const View& view) {
    drawn_ = view;
    clean_.clear();
    for (int row = 0; row < kHeight; ++row) {
      for (int column = 0; column < kWidth; ++column) {
        const double x = (column - view.x - 0.5 * kWidth) / view.zoom + 0.5 * kWidth;
        const double y = (row - view.y - 0.5 * kHeight) / view.zoom + 0.5 * kHeight;
        double grey = 110 + 0.05 * x + wall_.at(x, y);
        for (const double left : {30.0, 140.0, 250.0}) {
          const double from = x - left - view.objects_x;
          if (from >= 0 && from < 42 && y > 50 && y < 210) grey = 100 + bottle_.at(from + left, y);
        }
        if (column >= view.lorry_x && column < view.lorry_x + 420 && row > 75)
          grey = 150 + lorry_.at(column - view.lorry_x, row);
        clean_.push_back(grey);
      }
    }
  }

  View drawn_;
  std::vector<double> clean_;
  std::mt19937 random_{7};
  Texture wall_{1, 4, 0.7}, bottle_{2, 35, 0.9}, lorry_{3, 40, 0.3};
};

class GuardTamperTest : public testing::Test {
 protected:
  void show(const View& view) { push(room_.draw(view)); }
  void push(const std::vector<std::uint8_t>& frame) {
    const SignalView view(frame, Shape{kHeight, kWidth});
    for (const auto& [phase, event] : guard_.push(view, static_cast<double>(time_++) / 25).events)
      if (phase == EventPhase::start) started_.insert(event.kind);
  }
  void learn() {
    for (int i = 0; i < 70; ++i) show(View{});
    ASSERT_TRUE(started_.empty());
  }

  Room room_;
  Guard guard_{{.source = "drawn"}};
  int time_ = 0;
  std::set<EventKind> started_;
};

TEST_F(GuardTamperTest, ObjectsThatAreCarriedAboutAreNoMove) {
  learn();
  for (int i = 0; i < 40; ++i) show({.objects_x = 6});
  EXPECT_FALSE(started_.contains(EventKind::moved));
  for (int i = 0; i < 20; ++i) show({.objects_x = 6});
  // Objects that stay become the scene, and a move of it counts as a move.
  for (int i = 0; i < 10; ++i) show({.x = 5, .y = -3, .objects_x = 6});
  EXPECT_EQ(started_, std::set{EventKind::moved});
}

TEST_F(GuardTamperTest, AMoveOfAllIsAMove) {
  learn();
  for (int i = 0; i < 10; ++i) show({.x = -4, .y = 4});
  EXPECT_EQ(started_, std::set{EventKind::moved});
}

TEST_F(GuardTamperTest, ASlowEnlargementIsAMove) {
  learn();
  for (int i = 0; i < 50; ++i) show({.zoom = 1 + 0.0025 * std::min(i, 40)});
  EXPECT_TRUE(started_.contains(EventKind::moved));
}

TEST_F(GuardTamperTest, ASuddenEnlargementIsAMove) {
  learn();
  for (int i = 0; i < 15; ++i) show({.zoom = 1.12});
  EXPECT_TRUE(started_.contains(EventKind::moved));
}

TEST_F(GuardTamperTest, ALorryThatPassesIsNoCover) {
  learn();
  for (int i = 0; i < 25; ++i) show({.lorry_x = -420 + 30.0 * i});
  for (int i = 0; i < 10; ++i) show(View{});
  EXPECT_TRUE(started_.empty());
}

TEST_F(GuardTamperTest, AStoppedStreamThatIsEncodedAgainIsFrozenThoughItsClockRuns) {
  learn();
  const std::vector<std::uint8_t> stopped = room_.draw(View{});
  std::mt19937 random(3);
  for (int i = 0; i < 40; ++i) {
    std::vector<std::uint8_t> frame = stopped;
    // Encoding changes one pixel in fifty by a grey level, and the clock changes its pixels.
    for (std::size_t p = random() % 50; p < frame.size(); p += 50) frame[p] ^= 1;
    for (int row = 8; row < 24; ++row)
      for (int column = 8; column < 100; ++column)
        frame[static_cast<std::size_t>(row * kWidth + column)] = random() % 2 == 0 ? 20 : 235;
    push(frame);
  }
  EXPECT_EQ(started_, std::set{EventKind::frozen});
}

TEST_F(GuardTamperTest, AStillSceneWhoseNoiseIsCodedAwayIsNotFrozen) {
  for (int i = 0; i < 120; ++i) show({.noise = 0});
  EXPECT_TRUE(started_.empty());
}

TEST(StillnessTest, IsWhatFallsFarBelowTheLeast) {
  Stillness stillness;
  TileActivity noise;
  noise.fill(1);
  for (int i = 0; i < 60; ++i) stillness.add(noise);
  EXPECT_EQ(stillness.strength(), 0);  // too early to decide
  for (int i = 0; i < 60; ++i) stillness.add(noise);
  // The window's mean equals the least, so the strength is a quarter.
  EXPECT_NEAR(stillness.strength(), 0.25, 1e-6);
  EXPECT_EQ(stillness.lively(), 1);
  TileActivity still;
  still.fill(0.05F);
  for (int i = 0; i < Stillness::kWindow; ++i) stillness.add(still);
  EXPECT_NEAR(stillness.strength(), 5, 0.2);
}

TEST(StillnessTest, TilesThatAreRenewedNowAndThenAreNotLively) {
  Stillness stillness;
  for (int i = 0; i < 60; ++i) {
    TileActivity activity{};
    for (std::size_t t = 0; t < activity.size(); ++t)
      activity[t] = (i + static_cast<int>(t)) % 2 == 0 ? 2 : 0;
    stillness.add(activity);
  }
  EXPECT_EQ(stillness.lively(), 0);
}

/// The activity of a street: each tile's is drawn independently from a log-normal distribution.
TileActivity street(std::mt19937& random) {
  std::normal_distribution<float> spread(0, 0.6F);
  TileActivity activity{};
  for (std::size_t t = 0; t < activity.size(); ++t)
    activity[t] = (t % 4 == 0 ? 50.0F : 0.5F) * std::exp(spread(random));
  return activity;
}

/// Gives a frame to the detector and returns how strongly the picture stands still.
double frozen(FreezeDetector& detector, const TileActivity& activity) {
  Observation seen;
  seen.spread = 0.2;
  seen.activity = activity;
  seen.repeats = std::ranges::all_of(activity, [](float a) { return a == 0; });
  return detector.judge(seen, 1);
}

TEST(FreezeDetectorTest, DatesStreamsThatStopByWhenTheyDid) {
  std::mt19937 random(5);
  // The encoder continues to refine a stopped picture, for fewer frames the finer it already was.
  for (const int refined : {0, 3, 8, 20}) {
    FreezeDetector detector(1);
    for (int i = 0; i < 150; ++i) EXPECT_LT(frozen(detector, street(random)), 1);
    bool found = false;
    for (int i = 0; i < 60; ++i) {
      TileActivity activity{};
      if (i < refined) activity.fill(0.5F * std::pow(0.75F, static_cast<float>(i)));
      if (i % 25 == 22) activity.fill(4);  // a key frame
      activity[0] = activity[1] = 30;      // a clock
      const double strength = frozen(detector, activity);
      if (found) {
        EXPECT_GE(strength, 1) << i;
      }
      if (found || strength <= 1) continue;
      found = true;
      EXPECT_NEAR(static_cast<double>(detector.frames()), i + 2, 8) << refined;
    }
    EXPECT_TRUE(found) << refined;
    int i = 0;
    while (frozen(detector, street(random)) >= 1 && i < 60) ++i;
    EXPECT_LT(i, 12);
    EXPECT_NEAR(static_cast<double>(detector.frames()), i + 1, 1);
  }
}

TEST(FreezeDetectorTest, DatesRepeatsByTheFirst) {
  std::mt19937 random(6);
  FreezeDetector detector(1);
  for (int i = 0; i < 40; ++i) EXPECT_LT(frozen(detector, street(random)), 1);
  int repeats = 1;
  while (frozen(detector, {}) <= 1 && repeats < 20) ++repeats;
  EXPECT_EQ(repeats, 8);
  EXPECT_EQ(detector.frames(), repeats + 1);
}

TEST(FreezeDetectorTest, AnEmptyPictureThatRepeatsIsNotFrozen) {
  std::mt19937 random(7);
  FreezeDetector detector(1);
  for (int i = 0; i < 40; ++i) EXPECT_LT(frozen(detector, street(random)), 1);
  Observation empty;
  empty.spread = 0.05;
  empty.repeats = true;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(detector.judge(empty, 1, true), 0) << i;
  for (int i = 0; i < 5; ++i) EXPECT_LT(frozen(detector, street(random)), 1);
  // A stop is found as soon after it as before it.
  int repeats = 1;
  while (frozen(detector, {}) <= 1 && repeats < 20) ++repeats;
  EXPECT_EQ(repeats, 8);
  EXPECT_EQ(detector.frames(), repeats + 1);
  EXPECT_EQ(detector.judge(empty, 1, true), 0) << "a frozen picture that goes dark is over";
  EXPECT_EQ(detector.frames(), 1);
}

TEST(StillnessTest, KeyFramesAndAClockAreNoLife) {
  Stillness stillness;
  // An encoder skips most of a quiet picture, but not always and not everywhere.
  for (int i = 0; i < 150; ++i) {
    TileActivity activity{};
    for (std::size_t t = 0; t < activity.size(); ++t)
      activity[t] = (i + 3 * static_cast<int>(t)) % 7 == 0 ? 0.8F : 0.0F;
    stillness.add(activity);
    EXPECT_LT(stillness.strength(), 1);
  }
  // After the picture has stopped there are still key frames, and the clock in a corner continues.
  for (int i = 0; i < 40; ++i) {
    TileActivity activity{};
    if (i % 25 == 10) activity.fill(30);
    activity[0] = activity[1] = 5;
    stillness.hold(stillness.strength() > 1);
    stillness.add(activity);
  }
  EXPECT_GT(stillness.strength(), 1);
}

/// The activity of a camera whose codec removes noise: now and then some tile changes, and at key frames all
/// tiles change.
TileActivity hardly_any(int frame, int clock) {
  TileActivity activity{};
  if (frame % 50 == 49) activity.fill(20);
  for (std::size_t t = 0; t < activity.size(); ++t) {
    if ((frame + 7 * static_cast<int>(t)) % 24 == 0) activity[t] = 0.002F;
  }
  if (clock > 0) activity[0] = activity[1] = 5;
  return activity;
}

TEST(StillnessTest, NothingButAClockForLongerThanEverIsStill) {
  Stillness stillness;
  for (int i = 0; i < 300; ++i) {
    stillness.add(hardly_any(i, i % 2));
    EXPECT_LT(stillness.strength(), 0.7) << i;
  }
  for (int i = 300; i < 450; ++i) {
    TileActivity activity{};
    if (i % 50 == 49) activity.fill(20);
    activity[3] = activity[4] = 5;
    stillness.hold(stillness.strength() > 0.7);
    stillness.add(activity);
    if (i >= 340) {
      EXPECT_GT(stillness.strength(), 1) << i;
    }
  }
  for (int i = 450; i < 450 + 2 * Stillness::kWindow; ++i) stillness.add(hardly_any(i, 1));
  EXPECT_LT(stillness.strength(), 0.7);
}

TEST(StillnessTest, SceneWhereNothingHappensIsNotMissed) {
  Stillness stillness;
  for (int i = 0; i < 1000; ++i) {
    // At last a person comes by.
    stillness.add(i % 90 < 10 ? hardly_any(i, 1) : TileActivity{});
    EXPECT_LT(stillness.strength(), 1) << i;
  }
}

TEST(StillnessTest, ActivityIsTheVarianceOfChangesWithoutTheirMean) {
  constexpr int kSide = 96;
  ActivityMeter meter(255);
  std::vector<std::uint8_t> frame(kSide * kSide, 100);
  meter.next({frame, Shape{kSide, kSide}});
  for (std::uint8_t& value : frame) value += 30;  // light
  for (const float activity : meter.next({frame, Shape{kSide, kSide}})) EXPECT_NEAR(activity, 0, 1e-6);
  for (std::size_t p = 0; p < frame.size(); p += 2) frame[p] += 4;  // half of the pixels: 4² · 1/2 · 1/2
  for (const float activity : meter.next({frame, Shape{kSide, kSide}})) EXPECT_NEAR(activity, 4, 0.3);
}

TEST(MoveCheckTest, PatchesSayWhatHasMoved) {
  Room room;
  MoveCheck check(255);
  const auto view = [](const std::vector<std::uint8_t>& frame) {
    return SignalView(frame, Shape{kHeight, kWidth});
  };
  const std::vector<std::uint8_t> before = room.draw({});
  check.remember(view(before), {});
  const std::vector<std::uint8_t> objects = room.draw({.objects_x = 6});
  EXPECT_TRUE(check.vote(view(objects), {6, 0}, {}).deny());
  const std::vector<std::uint8_t> all = room.draw({.x = 6});
  const MoveCheck::Votes moved = check.vote(view(all), {6, 0}, {});
  EXPECT_FALSE(moved.deny());
  EXPECT_GT(moved.moved, 100);
  // After following to this position, the same frame shows no further move.
  check.follow({6, 0});
  EXPECT_GT(check.vote(view(all), {5, 3}, {}).stayed, 100);
}

}  // namespace
}  // namespace sfft::video::guard_tamper_test
