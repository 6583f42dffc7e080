// SPDX-License-Identifier: Apache-2.0
// Tests that busy and noisy scenes are not mistaken for tampering, with drawn scenes and with constructed
// observations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/support/guard.hpp"
#include "video/guard/guard.hpp"
#include "video/guard/landmarks.hpp"
#include "video/guard/registration.hpp"

namespace sfft::video::guard_busy_test {
namespace {

constexpr int kWidth = 256, kHeight = 192;

double strength(Judge& judge, const Observation& seen, EventKind kind) {
  return judge.judge(seen)[static_cast<std::size_t>(kind)].strength;
}

/// The largest strength of flicker over a minute of levels.
template <class Level>
double flicker(const Level& level) {
  Judge judge({}, 100);
  double max = 0;
  for (int frame = 0; frame < 60; ++frame) {
    Observation seen;
    seen.level = level(frame);
    seen.brightening = std::log(level(frame) / level(std::max(0, frame - 1)));
    max = std::max(max, strength(judge, seen, EventKind::flicker));
  }
  return max;
}

TEST(GuardBusyTest, AnExposureThatFollowsTheSceneIsNoFlicker) {
  // The level falls by a twentieth per frame, and recovers a little in two of five frames.
  EXPECT_LT(flicker([](int frame) {
              const int back = frame / 5 + (frame % 5 > 2 ? 1 : 0);
              return 0.9 * std::pow(0.95, frame - back) * std::pow(1.005, back);
            }),
            1);
  EXPECT_GT(flicker([](int frame) { return 0.5 * (frame % 2 == 0 ? 1.03 : 0.97); }), 1);
  EXPECT_GT(flicker([](int frame) { return 0.5 + 0.05 * std::sin(2.1 * frame); }), 1);
  EXPECT_GT(flicker([](int frame) { return 0.5 * (frame % 4 < 2 ? 1.03 : 0.97); }), 1);
  EXPECT_LT(flicker([](int frame) { return 0.5 * (frame % 12 < 6 ? 1.1 : 0.9); }), 1);
}

TEST(GuardBusyTest, AFlickerIsDatedByItsFirstAndLastSwing) {
  constexpr int kFrom = 40;
  constexpr int kTo = 90;
  for (const double period : {2.0, 3.3, 4.0}) {
    Judge judge({}, 100);
    bool found = false;
    double before = 0.5;
    for (int frame = 0; frame < 140; ++frame) {
      const bool on = frame >= kFrom && frame < kTo;
      const double level = on ? 0.5 + 0.05 * std::cos(6.2832 * (frame - kFrom) / period) : 0.5;
      Observation seen;
      seen.brightening = std::log(level / before);
      before = level;
      const double flickers = strength(judge, seen, EventKind::flicker);
      if (flickers > 1 && !found) {
        EXPECT_NEAR(static_cast<double>(judge.flickering_frames()), frame - kFrom, 4);
      }
      found = found || flickers > 1;
    }
    EXPECT_TRUE(found);
    EXPECT_NEAR(static_cast<double>(judge.steady_frames()), 139 - kTo, 4) << period;
  }
}

TEST(GuardBusyTest, AWhitePictureWithATraceOfTheSceneIsBlinded) {
  Judge judge = experienced();
  Observation seen;
  seen.level = 0.97;
  seen.bright = 0.98;
  seen.gain = 2;
  seen.detail = 0.03;
  EXPECT_GT(strength(judge, seen, EventKind::blinded), 1);
  seen.detail = 0.5;
  EXPECT_LT(strength(judge, seen, EventKind::blinded), 1);
}

TEST(GuardBusyTest, FramesInWhichManyWalkTellWhatIsUsual) {
  Observation seen;
  Findings findings;
  const auto at = [&](EventKind kind) -> double& {
    return findings[static_cast<std::size_t>(kind)].strength;
  };
  EXPECT_TRUE(Judge::usual(findings, seen));
  at(EventKind::covered) = 0.8;
  EXPECT_FALSE(Judge::usual(findings, seen));
  seen.rearranged = seen.landmarks.located = true;
  EXPECT_TRUE(Judge::usual(findings, seen));
  at(EventKind::moved) = 0.8;
  EXPECT_FALSE(Judge::usual(findings, seen));
}

TEST(GuardBusyTest, PhasesThatAgreeWithNothingContradictNothing) {
  EXPECT_TRUE(phases_contradict(0.1, 0.8, 0.025));
  EXPECT_FALSE(phases_contradict(-0.08, -0.09, 0.025));
  EXPECT_FALSE(phases_contradict(0.01, 0.06, 0.025));
  Judge judge = experienced();
  Observation seen;
  seen.registration.sure = true;
  seen.registration.x = 6;
  seen.registration.coherence = -0.08;
  seen.registration.still_coherence = -0.09;
  seen.registration.chance = 0.025;
  seen.landmarks.located = true;
  seen.landmarks.count = 56;
  seen.landmarks.standard_error = 0.02;
  EXPECT_GT(strength(judge, seen, EventKind::moved), 1);
  // Uncertain landmarks need confirmation by the phases.
  seen.landmarks.standard_error = 0.15;
  seen.registration.still_coherence = 0.01;
  EXPECT_EQ(strength(judge, seen, EventKind::moved), 0);
}

TEST(GuardBusyTest, PhasesOfWhatPassesByAreNoMove) {
  Judge judge = experienced();
  Observation seen;
  seen.registration.sure = true;
  seen.registration.x = 4;
  seen.registration.standard_error = 0.1;
  seen.registration.coherence = 0.45;
  seen.registration.still_coherence = 0.2;
  seen.registration.chance = 0.025;
  EXPECT_GT(strength(judge, seen, EventKind::moved), 1);
  Observation lorry = seen;
  lorry.richness = 100;
  EXPECT_EQ(strength(judge, lorry, EventKind::moved), 0);
  Observation landmarks = seen;
  landmarks.landmarks.count = 40;
  EXPECT_EQ(strength(judge, landmarks, EventKind::moved), 0);
  landmarks.registration.coherence = 0.8;
  EXPECT_GT(strength(judge, landmarks, EventKind::moved), 1);
}

TEST(GuardBusyTest, WhatHasComeByAndByHasToStay) {
  const auto hidden = [](double share) {
    Observation seen;
    seen.registration.sure = true;
    seen.changed = seen.struck = share;
    return seen;
  };
  const Judge calm = experienced();
  // A lorry takes 34 frames, and hides more than a third of the scene for 26 of them.
  Judge lorry = calm;
  double max = 0;
  for (int frame = 0; frame < 34; ++frame)
    max = std::max(max, strength(lorry, hidden(0.1 * std::min({frame, 33 - frame, 8})), EventKind::covered));
  EXPECT_LT(max, 1);
  // A cloth comes equally slowly, and stays.
  Judge cloth = calm;
  for (int frame = 0; frame < 40; ++frame)
    max = strength(cloth, hidden(0.1 * std::min(frame, 8)), EventKind::covered);
  EXPECT_GT(max, 1);
  EXPECT_EQ(cloth.covering_frames(), 36);
  EXPECT_FALSE(cloth.passing());
  // A cover behind a lorry is also recognised.
  Judge behind = calm;
  for (int frame = 0; frame < 12; ++frame)
    EXPECT_LT(strength(behind, hidden(0.1 * std::min(frame, 4)), EventKind::covered), 1);
  EXPECT_GT(strength(behind, hidden(0.8), EventKind::covered), 1);
  // A cover that appears at once counts at once, whether the scene is calm or half hidden by a person.
  Judge paper = calm;
  strength(paper, hidden(0), EventKind::covered);
  EXPECT_GT(strength(paper, hidden(0.8), EventKind::covered), 1);
  // It remains a cover even if a frame looks less covered by chance.
  for (int frame = 0; frame < 3; ++frame) strength(paper, hidden(0.4), EventKind::covered);
  EXPECT_LT(strength(paper, hidden(0.2), EventKind::covered), 1);
  EXPECT_GT(strength(paper, hidden(0.36), EventKind::covered), 1);
  EXPECT_EQ(paper.covering_frames(), 6);
  Judge busy = calm;
  for (int frame = 0; frame < 20; ++frame) strength(busy, hidden(0.3), EventKind::covered);
  EXPECT_GT(strength(busy, hidden(0.6), EventKind::covered), 1);
}

/// Draws spots on a grid, with noise.
std::vector<float> spots(double height, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> grain(0, noise);
  std::vector<float> frame(kWidth * kHeight);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const double dx = x % 24 - 12;
      const double dy = y % 24 - 12;
      frame[static_cast<std::size_t>(y * kWidth + x)] = static_cast<float>(std::clamp(
          std::round(120 + height * std::exp(-0.2 * (dx * dx + dy * dy)) + grain(random)), 0.0, 255.0));
    }
  }
  return frame;
}

LandmarkReport report(Landmarks landmarks, const std::vector<float>& grey) {
  const std::vector<std::uint8_t> frame(grey.begin(), grey.end());
  landmarks.begin({frame, Shape{kHeight, kWidth}});
  landmarks.try_at({});
  return landmarks.finish();
}

TEST(GuardBusyTest, NoiseThatHidesLandmarksIsNoCover) {
  const Landmarks scene(spots(15, 1, 1), kWidth, kHeight, 255);
  const LandmarkReport covered = report(scene, spots(0, 1, 2));
  EXPECT_GT(covered.count, 40);
  EXPECT_GT(covered.lost, 0.9);
  const LandmarkReport night = report(scene, spots(15, 60, 3));
  EXPECT_LT(night.count * night.lost, 0.2 * covered.count);
}

TEST(GuardBusyTest, LandmarksOfOneFrameAreSeenAgainBeforeTheyCount) {
  Landmarks grain(spots(0, 20, 4), kWidth, kHeight, 255);
  grain.rebase({});
  EXPECT_EQ(report(grain, spots(0, 20, 5)).count, 0);
}

TEST(GuardBusyTest, LandmarksThatStayContradictATurn) {
  Observation seen;
  seen.registration.sure = true;
  seen.registration.inliers = 0.9;
  seen.registration.coherence = seen.registration.still_coherence = 0.4;
  seen.registration.zoom = 0.06;
  seen.registration.zoom_error = 0.001;
  seen.landmarks.count = 80;
  for (const bool located : {false, true}) {
    seen.landmarks.located = located;
    seen.landmarks.lost = located ? 0.2 : 0.9;
    Judge judge = experienced();
    EXPECT_EQ(strength(judge, seen, EventKind::moved) > 1, !located);
  }
}

TEST(GuardBusyTest, ACoverHidesNeighboursAndANetHidesOneHereAndOneThere) {
  const std::vector<float> scene = spots(60, 1, 1);
  const Landmarks landmarks(scene, kWidth, kHeight, 255);
  for (const bool net : {false, true}) {
    std::vector<float> hidden = scene;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        if (net ? (x + y) % 64 < 16 || (x - y + kHeight) % 64 < 16 : 2 * x < kWidth)
          hidden[static_cast<std::size_t>(y * kWidth + x)] = 90;
    const LandmarkReport seen = report(landmarks, hidden);
    EXPECT_GT(seen.lost, 0.3);
    EXPECT_EQ(seen.clustered < 0.35, net) << seen.clustered;
    EXPECT_EQ(seen.clustered > 0.6, !net) << seen.clustered;
  }
}

/// A person, drawn as a panel of spots in front of a wall of other spots. Spots are randomly brighter or
/// darker.
class Person {
 public:
  std::vector<std::uint8_t> draw(double x, bool covered = false) {
    std::vector<std::uint8_t> frame;
    std::normal_distribution<double> noise(0, 1);
    for (int row = 0; row < kHeight; ++row) {
      for (int column = 0; column < kWidth; ++column) {
        const double from_left = column - 80 - x;
        const bool person = from_left >= 0 && from_left < 110;
        const double grey = covered && column >= 60 && column < 210 ? 60
                            : person                                ? texture(from_left, row + 500.0)
                                                                    : texture(column, row);
        frame.push_back(static_cast<std::uint8_t>(std::clamp(grey + noise(random_) + 0.5, 0.0, 255.0)));
      }
    }
    return frame;
  }

 private:
  /// A texture of waves in nine directions.
  static double texture(double x, double y) {
    double sum = 110;
    for (int i = 1; i <= 9; ++i) {
      const double angle = 2.4 * i;
      const double cycles = 0.011 * i;
      sum += 14 * std::sin(2 * 3.14159265 * cycles * (x * std::cos(angle) + y * std::sin(angle)) + i * i);
    }
    return sum;
  }
  std::mt19937 random_{7};
};

TEST(GuardBusyTest, APersonWhoFillsThePictureAndMovesIsNoCover) {
  Person person;
  Guard guard({.source = "drawn"});
  int time = 0;
  std::set<std::string> started;
  const auto push = [&](Guard& to, const std::vector<std::uint8_t>& frame) {
    for (const auto& [phase, event] :
         to.push({frame, Shape{kHeight, kWidth}}, static_cast<double>(time++) / 25).events)
      if (phase == EventPhase::start) started.insert(to_string(event.kind));
  };
  for (int i = 0; i < 30; ++i) push(guard, person.draw(0));
  for (int i = 1; i <= 24; ++i) push(guard, person.draw(i));
  for (int i = 0; i < 40; ++i) push(guard, person.draw(24));
  EXPECT_EQ(started, std::set<std::string>{});
  for (int i = 0; i < 10; ++i) push(guard, person.draw(24, true));
  EXPECT_TRUE(started.contains("covered"));
}

}  // namespace
}  // namespace sfft::video::guard_busy_test
