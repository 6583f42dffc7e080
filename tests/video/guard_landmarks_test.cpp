// SPDX-License-Identifier: Apache-2.0
// Tests what landmarks report about sharpness on drawn spots, and the judge's conclusions.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/support/guard.hpp"
#include "video/guard/judge.hpp"
#include "video/guard/landmarks.hpp"

namespace sfft::video::guard_landmarks_test {
namespace {

constexpr int kWidth = 320, kHeight = 224, kPitch = 28;

/// Draws one spot in each cell of a grid, in front of a plain wall. A spot of variance a² blurred by sigma
/// becomes a spot of variance a² + sigma² with the same volume. `taken` of ten spots are missing.
std::vector<float> draw(double blur, int taken) {
  constexpr double kSize = 1.5;
  std::mt19937 random(11);
  std::normal_distribution<double> noise(0, 1);
  std::vector<float> frame(kWidth * kHeight);
  const double variance = kSize * kSize + blur * blur;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      double grey = 100 + noise(random);
      const int cell = (y / kPitch) * (kWidth / kPitch + 1) + x / kPitch;
      const double dx = x % kPitch - 0.5 * kPitch;
      const double dy = y % kPitch - 0.5 * kPitch;
      if (cell * 7 % 10 >= taken)
        grey += 120 * kSize * kSize / variance * std::exp(-0.5 * (dx * dx + dy * dy) / variance);
      frame[static_cast<std::size_t>(y * kWidth + x)] = static_cast<float>(std::round(grey));
    }
  }
  return frame;
}

LandmarkReport report_of(double blur, int taken) {
  Landmarks landmarks(draw(0, 0), kWidth, kHeight, 255);
  const std::vector<float> grey = draw(blur, taken);
  const std::vector<std::uint8_t> frame(grey.begin(), grey.end());
  landmarks.begin({frame, Shape{kHeight, kWidth}});
  landmarks.try_at({});
  return landmarks.finish();
}

TEST(GuardLandmarksTest, ObjectsTakenAwayLeaveTheOthersCrisp) {
  EXPECT_GT(report_of(0, 0).crisp, 0.9);
  const LandmarkReport half = report_of(0, 5);
  EXPECT_GT(half.lost, 0.3);
  EXPECT_NEAR(half.crisp, 1 - half.lost, 0.1);
  for (const double blur : {2.5, 4.0}) EXPECT_LT(report_of(blur, 0).crisp, 0.05) << blur;
}

/// An observation in which half the amplitude of the finest frequencies is lost, and the landmarks disagree
/// about the scene's position.
Observation soft(double crisp) {
  Observation seen;
  seen.sharpness = 0.3;
  seen.sharpness_error = 0.01;
  seen.registration.sure = true;
  seen.registration.coherence = seen.registration.still_coherence = 0.8;
  seen.landmarks.count = 40;
  seen.landmarks.lost = 0.4;
  seen.landmarks.crisp = crisp;
  return seen;
}

TEST(GuardLandmarksTest, CrispLandmarksAreNotOutOfFocus) {
  Judge judge = experienced();
  constexpr auto kDefocused = static_cast<std::size_t>(EventKind::defocused);
  EXPECT_GT(judge.judge(soft(0.0))[kDefocused].strength, 1);
  EXPECT_EQ(judge.judge(soft(0.4))[kDefocused].strength, 0);
}

TEST(GuardLandmarksTest, APlaceThatPhasesContradictIsNotFollowed) {
  Judge judge = experienced();
  constexpr auto kMoved = static_cast<std::size_t>(EventKind::moved);
  Observation seen = soft(0.4);
  seen.landmarks.located = true;
  seen.registration.x = -200;
  seen.registration.standard_error = 0.1;
  EXPECT_TRUE(judge.believes(seen));
  EXPECT_GT(judge.judge(seen)[kMoved].strength, 1);
  seen.registration.coherence = 0.1;
  EXPECT_FALSE(judge.believes(seen));
  EXPECT_EQ(judge.judge(seen)[kMoved].strength, 0);
}

TEST(GuardLandmarksTest, WhatHidesMostLandmarksIsNoLight) {
  Judge judge = experienced();
  constexpr auto kLight = static_cast<std::size_t>(EventKind::light);
  Observation seen = soft(0.4);
  seen.light = -0.5;
  EXPECT_GT(judge.judge(seen)[kLight].strength, 1);
  seen.landmarks.lost = 0.7;
  EXPECT_EQ(judge.judge(seen)[kLight].strength, 0);
}

}  // namespace
}  // namespace sfft::video::guard_landmarks_test
