// SPDX-License-Identifier: Apache-2.0
// Tests the guard on a drawn scene whose positions, blurs and covers are exact.
#include "video/guard/guard.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "sfft/error.hpp"
#include "video/events/event.hpp"
#include "video/sources/source.hpp"

namespace sfft::video::guard_test {
namespace {

constexpr int kWidth = 256, kHeight = 192;

/// Gaussian spots on a slope, drawn at any position and with any blur. A spot of variance a² blurred by sigma
/// becomes a spot of variance a² + sigma² with the same volume.
class Scene {
 public:
  explicit Scene(unsigned seed) : random_(seed) {
    std::uniform_real_distribution<double> unit(0, 1);
    for (int i = 0; i < 260; ++i) {
      const double size = 1.2 + 14 * std::pow(unit(random_), 4);
      spots_.push_back({unit(random_) * (kWidth + 60) - 30, unit(random_) * (kHeight + 60) - 30, size,
                        (unit(random_) - 0.45) * 150});
    }
  }

  /// `turn` is clockwise about the picture's centre, in radians.
  std::vector<std::uint8_t> draw(double x, double y, double blur = 0, double gain = 1, double turn = 0) {
    std::vector<double> grey(kWidth * kHeight);
    for (int row = 0; row < kHeight; ++row)
      for (int column = 0; column < kWidth; ++column)
        grey[static_cast<std::size_t>(row * kWidth + column)] = 90 + 0.1 * (column - x) + 0.05 * (row - y);
    for (const Spot& spot : spots_) {
      const double variance = spot.size * spot.size + blur * blur;
      const double height = spot.height * spot.size * spot.size / variance;
      const int reach = static_cast<int>(4 * std::sqrt(variance)) + 1;
      const double from_x = spot.x - 0.5 * (kWidth - 1);
      const double from_y = spot.y - 0.5 * (kHeight - 1);
      const double at_x = spot.x + x + (std::cos(turn) - 1) * from_x - std::sin(turn) * from_y;
      const double at_y = spot.y + y + (std::cos(turn) - 1) * from_y + std::sin(turn) * from_x;
      const int cx = static_cast<int>(at_x);
      const int cy = static_cast<int>(at_y);
      for (int row = std::max(0, cy - reach); row <= std::min(kHeight - 1, cy + reach); ++row) {
        for (int column = std::max(0, cx - reach); column <= std::min(kWidth - 1, cx + reach); ++column) {
          const double dx = column - at_x;
          const double dy = row - at_y;
          grey[static_cast<std::size_t>(row * kWidth + column)] +=
              height * std::exp(-0.5 * (dx * dx + dy * dy) / variance);
        }
      }
    }
    std::normal_distribution<double> noise(0, 1.2);
    std::vector<std::uint8_t> frame;
    for (const double value : grey)
      frame.push_back(static_cast<std::uint8_t>(std::clamp(gain * value + noise(random_) + 0.5, 0.0, 255.0)));
    return frame;
  }

 private:
  struct Spot {
    double x, y, size, height;
  };
  std::mt19937 random_;
  std::vector<Spot> spots_;
};

SignalView view(const std::vector<std::uint8_t>& frame) {
  return {frame, Shape{kHeight, kWidth}};
}

class GuardTest : public testing::Test {
 protected:
  /// Lets the guard learn an untouched scene.
  void learn(int frames = 30) {
    for (int i = 0; i < frames; ++i) push(scene_.draw(0, 0));
    EXPECT_TRUE(started_.empty()) << to_string(*started_.begin());
  }
  const GuardFrame& push(const std::vector<std::uint8_t>& frame, bool made_up = false) {
    const GuardFrame& result = guard_.push(view(frame), static_cast<double>(time_++) / 25, made_up);
    for (const auto& [phase, event] : result.events) {
      if (phase == EventPhase::start) {
        started_.insert(event.kind);
        last_ = event;
      } else {
        ended_.insert(event.kind);
      }
    }
    return result;
  }

  Scene scene_{3};
  Guard guard_{{.source = "drawn"}};
  int time_ = 0;
  std::set<EventKind> started_, ended_;
  Event last_;
};

TEST_F(GuardTest, MeasuresShiftsToAFractionOfAPixel) {
  learn();
  for (const auto& [x, y] :
       {std::pair(0.3, -0.2), std::pair(3.25, 1.5), std::pair(-7.4, 4.1), std::pair(12.0, -9.0)}) {
    Guard copy(guard_);
    const auto frame = scene_.draw(x, y);
    const GuardFrame& result = copy.push(view(frame), 2);
    ASSERT_TRUE(result.seen);
    EXPECT_TRUE(result.seen->registration.sure);
    EXPECT_NEAR(result.seen->registration.x, x, 0.03);
    EXPECT_NEAR(result.seen->registration.y, y, 0.03);
  }
}

TEST_F(GuardTest, TellsThatTheCameraMoved) {
  learn();
  for (int i = 0; i < 10; ++i) push(scene_.draw(4, -3));
  EXPECT_EQ(started_, std::set{EventKind::moved});
  EXPECT_NEAR(last_.shift_px, 5, 0.3);
  EXPECT_EQ(last_.start_frame, 30);
  for (int i = 0; i < 25; ++i) push(scene_.draw(0, 0));
  EXPECT_EQ(ended_, std::set{EventKind::moved});
}

TEST_F(GuardTest, ARotatedCameraIsMovedAndNothingElse) {
  learn();
  for (int i = 0; i < 40; ++i) {
    const GuardFrame& result = push(scene_.draw(6, -4, 0, 1, 0.015));
    ASSERT_TRUE(result.seen);
    if (i < 2) continue;
    EXPECT_NEAR(result.seen->registration.rotation, 0.015, 0.1 / 160) << i;
    EXPECT_NEAR(result.seen->landmarks.fine, 1, 0.2) << i;
  }
  EXPECT_EQ(started_, std::set{EventKind::moved});
}

TEST_F(GuardTest, ACameraThatIsRotatedAndShiftedIsMoved) {
  learn();
  for (int i = 0; i < 10; ++i) push(scene_.draw(25, -18, 0, 1, 0.07));
  EXPECT_EQ(started_, std::set{EventKind::moved});
  EXPECT_NEAR(last_.shift_x, 25, 1);
  EXPECT_NEAR(last_.shift_y, -18, 1);
}

TEST_F(GuardTest, TellsDefocus) {
  learn();
  for (int i = 0; i < 10; ++i) push(scene_.draw(0, 0, 2.5));
  EXPECT_EQ(started_, std::set{EventKind::defocused});
}

TEST_F(GuardTest, TellsACover) {
  learn();
  for (int i = 0; i < 10; ++i) {
    auto frame = scene_.draw(0, 0);
    for (int row = 0; row < kHeight; ++row)
      for (int column = 0; column < kWidth / 2; ++column)
        frame[static_cast<std::size_t>(row * kWidth + column)] = static_cast<std::uint8_t>(60 + i % 2);
    push(frame);
  }
  EXPECT_EQ(started_, std::set{EventKind::covered});
}

TEST_F(GuardTest, TellsAFrozenPicture) {
  learn();
  const auto frame = scene_.draw(0, 0);
  for (int i = 0; i < 10; ++i) push(frame);
  EXPECT_EQ(started_, std::set{EventKind::frozen});
  EXPECT_EQ(last_.start_frame, 30);
}

TEST_F(GuardTest, TellsDarknessAndGlare) {
  learn();
  Guard other(guard_);
  for (int i = 0; i < 10; ++i)
    push(std::vector<std::uint8_t>(kWidth * kHeight, static_cast<std::uint8_t>(2 + i % 2)));
  EXPECT_TRUE(started_.contains(EventKind::dark));
  std::set<EventKind> kinds;
  for (int i = 0; i < 10; ++i) {
    const std::vector<std::uint8_t> white(kWidth * kHeight, static_cast<std::uint8_t>(253 + i % 2));
    for (const auto& [phase, event] : other.push(view(white), 2).events) kinds.insert(event.kind);
  }
  EXPECT_TRUE(kinds.contains(EventKind::blinded));
}

TEST_F(GuardTest, LightIsNoAlarm) {
  learn();
  for (int i = 0; i < 40; ++i) push(scene_.draw(0, 0, 0, 0.5));
  for (int i = 0; i < 40; ++i) push(scene_.draw(0, 0));
  EXPECT_EQ(started_, std::set{EventKind::light});
}

TEST_F(GuardTest, SlowDriftIsNoMove) {
  learn();
  for (int i = 0; i < 120; ++i) push(scene_.draw(0.08 * i, 0.5 * std::sin(0.3 * i)));
  EXPECT_TRUE(started_.empty());
}

TEST_F(GuardTest, TellsThatAStreamIsGoneAndBack) {
  learn();
  const GuardFrame& silent = guard_.offline(1.2);
  ASSERT_EQ(silent.events.size(), 1U);
  EXPECT_EQ(silent.events[0].second.kind, EventKind::offline);
  EXPECT_TRUE(guard_.offline(1.2).events.empty());
  push(scene_.draw(0, 0));
  EXPECT_EQ(ended_, std::set{EventKind::offline});
}

TEST_F(GuardTest, WhatASceneDriftsWhileAStreamIsGoneIsNoMove) {
  learn();
  guard_.offline(1.2);
  time_ += 100;
  for (int i = 0; i < 30; ++i) push(scene_.draw(4 + 0.05 * i, -3));
  EXPECT_TRUE(started_.empty());
  for (int i = 0; i < 10; ++i) push(scene_.draw(9, -3));
  EXPECT_EQ(started_, std::set{EventKind::moved});
}

TEST_F(GuardTest, TellsACameraThatWasMovedWhileItsStreamWasGone) {
  learn();
  guard_.offline(1.2);
  time_ += 100;
  for (int i = 0; i < 10; ++i) push(scene_.draw(14, -3));
  EXPECT_EQ(started_, std::set{EventKind::moved});
}

TEST_F(GuardTest, WhatTheDecoderMadeUpBringsNoEventForAWhile) {
  learn();
  const std::vector<std::uint8_t> smeared = scene_.draw(0, 0, 5);
  for (int i = 0; i < 50; ++i) push(smeared, true);
  for (int i = 0; i < 20; ++i) push(scene_.draw(0, 0));
  EXPECT_TRUE(started_.empty());
  // A stream whose frames are never whole is judged as it is.
  for (int i = 0; i < kMaxMadeUp + 10; ++i) push(smeared, true);
  EXPECT_EQ(started_.count(EventKind::defocused), 1U);
}

TEST_F(GuardTest, IsFollowedThroughFramesThatTheDecoderMadeUp) {
  learn();
  for (int i = 0; i < 90; ++i) push(scene_.draw(0.1 * i, 0), true);
  for (int i = 90; i < 120; ++i) push(scene_.draw(0.1 * i, 0));
  EXPECT_TRUE(started_.empty());
}

TEST_F(GuardTest, RefusesFramesOfAnotherSize) {
  learn(3);
  const std::vector<std::uint8_t> other(100 * 100);
  EXPECT_THROW(guard_.push({other, Shape{100, 100}}, 1), Error);
  Guard small({});
  EXPECT_THROW(
      {
        for (int i = 0; i < 20; ++i) small.push(SignalView(std::vector<std::uint8_t>(900), Shape{30, 30}), i);
      },
      Error);
}

class LandmarksTest : public testing::Test {
 protected:
  LandmarksTest() {
    std::vector<float> mean(kWidth * kHeight);
    for (int i = 0; i < 8; ++i) {
      const auto frame = scene_.draw(0, 0);
      for (std::size_t p = 0; p < mean.size(); ++p) mean[p] += 0.125F * static_cast<float>(frame[p]);
    }
    landmarks_ = Landmarks(mean, kWidth, kHeight, 255);
  }
  LandmarkReport look(const SignalView& frame, double x = 0, double y = 0) {
    landmarks_.begin(frame);
    landmarks_.try_at({x, y}, true);
    return landmarks_.finish();
  }

  Scene scene_{5};
  Landmarks landmarks_;
};

TEST_F(LandmarksTest, PlaceIsExactWhateverTheLightAndTheType) {
  for (const auto& [x, y] : {std::pair(0.02, 0.0), std::pair(0.25, -0.4), std::pair(-0.75, 1.6),
                             std::pair(5.5, -3.125), std::pair(-14.3, 8.9)}) {
    for (const double gain : {1.0, 0.5, 1.15}) {
      const auto frame = scene_.draw(x, y, 0, gain);
      const LandmarkReport seen = look(view(frame), std::round(x), std::round(y));
      ASSERT_TRUE(seen.located) << x << ' ' << gain;
      EXPECT_NEAR(seen.pose.x, x, 0.03) << gain;
      EXPECT_NEAR(seen.pose.y, y, 0.03) << gain;
      EXPECT_LT(seen.lost, 0.1);
      std::vector<std::uint16_t> wide;
      for (const std::uint8_t sample : frame) wide.push_back(static_cast<std::uint16_t>(16 * sample));
      const LandmarkReport same = look({wide, Shape{kHeight, kWidth}}, std::round(x), std::round(y));
      EXPECT_NEAR(same.pose.x, seen.pose.x, 1e-3);
      EXPECT_NEAR(same.pose.y, seen.pose.y, 1e-3);
    }
  }
}

TEST_F(LandmarksTest, ATurnIsSeenWhereThereIsOne) {
  EXPECT_FALSE(look(view(scene_.draw(0.4, -0.3))).pose.turned());
  // A tenth of a pixel at the corners, which are 160 pixels from the centre.
  constexpr double kBound = 0.1 / 160;
  for (const double turn : {0.006, -0.012}) {
    const LandmarkReport seen = look(view(scene_.draw(1.5, -2.25, 0, 1, turn)), 1, -2);
    ASSERT_TRUE(seen.located) << turn;
    EXPECT_NEAR(seen.pose.rotation, turn, kBound);
    EXPECT_NEAR(seen.pose.zoom, std::cos(turn) - 1, kBound);
    EXPECT_NEAR(seen.pose.x, 1.5, 0.05);
    EXPECT_NEAR(seen.pose.y, -2.25, 0.05);
    EXPECT_LT(seen.lost, 0.1);
  }
}

TEST_F(LandmarksTest, StatedErrorsAreNearTheTrueOnes) {
  double off = 0;
  double stated = 0;
  constexpr int kTrials = 60;
  for (int i = 0; i < kTrials; ++i) {
    const double x = 0.37 * std::cos(i);
    const double y = 0.41 * std::sin(2 * i);
    const LandmarkReport seen = look(view(scene_.draw(x, y)));
    off += (seen.pose.x - x) * (seen.pose.x - x) + (seen.pose.y - y) * (seen.pose.y - y);
    stated += 2 * seen.standard_error * seen.standard_error;
  }
  EXPECT_LT(std::sqrt(off), 2 * std::sqrt(stated));
  EXPECT_GT(std::sqrt(off), std::sqrt(stated) / 4);
}

TEST_F(LandmarksTest, CountsThoseThatAreHidden) {
  for (const double share : {0.0, 0.25, 0.5, 0.75}) {
    auto frame = scene_.draw(0, 0);
    for (int row = 0; row < kHeight; ++row)
      for (int column = 0; column < share * kWidth; ++column)
        frame[static_cast<std::size_t>(row * kWidth + column)] = 110;
    const LandmarkReport seen = look(view(frame));
    EXPECT_NEAR(seen.lost, share, 0.12);
    int usable = 0;
    int gone = 0;
    for (std::size_t t = 0; t < kTiles; ++t) {
      usable += seen.usable[t];
      gone += seen.gone[t];
    }
    EXPECT_EQ(usable, seen.count);
    EXPECT_NEAR(gone, seen.lost * seen.count, 1e-6);
  }
}

TEST_F(LandmarksTest, FineDetailIsWhatABlurTakesAndNoiseDoesNotBring) {
  EXPECT_NEAR(look(view(scene_.draw(0, 0))).fine, 1, 0.1);
  auto frame = scene_.draw(0, 0, 2.5);
  EXPECT_LT(look(view(frame)).fine, 0.3);
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 6);
  const auto noisy = [&](std::vector<std::uint8_t> clean) {
    for (std::uint8_t& sample : clean)
      sample = static_cast<std::uint8_t>(std::clamp(sample + noise(random), 0.0, 255.0));
    return clean;
  };
  EXPECT_LT(look(view(noisy(frame))).fine, 0.35);
  EXPECT_NEAR(look(view(noisy(scene_.draw(0, 0)))).fine, 1, 0.2);
}

TEST_F(LandmarksTest, ShiftsCountFromWhereTheSceneWasFollowedTo) {
  look(view(scene_.draw(1.5, -2.25)), 1, -2);
  landmarks_.follow();
  const LandmarkReport seen = look(view(scene_.draw(2, -1.25)), 1, 1);
  EXPECT_NEAR(seen.pose.x, 0.5, 0.03);
  EXPECT_NEAR(seen.pose.y, 1, 0.03);
  const std::vector<std::uint8_t> plain(kWidth * kHeight, 100);
  EXPECT_FALSE(look(view(plain)).located);
  EXPECT_EQ(Landmarks(std::vector<float>(kWidth * kHeight), kWidth, kHeight, 255).finish().count, 0);
}

}  // namespace
}  // namespace sfft::video::guard_test
