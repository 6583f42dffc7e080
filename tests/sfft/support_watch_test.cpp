// SPDX-License-Identifier: Apache-2.0
// Tests when a tracker suspects that its support misses the signal, when it learns, and how long it waits.
#include "sfft/tracking/tracking_policy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sfft::detail::support_watch_test {
namespace {

/// The residual of a frame with this share of its energy outside the support.
double residual_of(double share_outside) {
  return std::sqrt(share_outside);
}

/// The number of frames pushed until there is a suspicion that may be examined; -1 if there is none in
/// `frames` frames.
int frames_to_suspicion(SupportWatch& watch, int frames, const auto& share_outside, double energy = 1) {
  for (int i = 0; i < frames; ++i) {
    watch.next_frame();
    const double share = share_outside(i);
    if (watch.suspects(residual_of(share), share * energy) && watch.may_compare()) return i;
  }
  return -1;
}

int frames_to_suspicion(SupportWatch& watch, int frames, double share_outside, double energy = 1) {
  return frames_to_suspicion(
      watch, frames, [=](int) { return share_outside; }, energy);
}

TEST(SupportWatch, AToneOutsideIsSuspectedAfterPatience) {
  SupportWatch watch({});
  watch.renewed(0.99, true);
  EXPECT_EQ(frames_to_suspicion(watch, 100, 0.01), -1);
  EXPECT_EQ(frames_to_suspicion(watch, 10, 0.11), 2) << "patience is 3 frames";
}

TEST(SupportWatch, ALargeSteadyResidualIsALevel) {
  SupportWatch watch({});
  watch.renewed(SupportWatch::kUnknown, false);
  std::mt19937_64 generator(1);
  std::normal_distribution<double> normal;
  const auto camera = [&](int) { return 0.4 * std::exp(0.1 * normal(generator)); };
  EXPECT_EQ(frames_to_suspicion(watch, 5000, camera), -1);
  EXPECT_GE(frames_to_suspicion(watch, 10, 0.7), 0);
}

TEST(SupportWatch, SmallChangesAreNotWorthALook) {
  SupportWatch watch({});
  watch.renewed(0.999, true);
  EXPECT_EQ(frames_to_suspicion(watch, 100, 0.02), -1) << "twenty times the level, and 2 % of the energy";
}

TEST(SupportWatch, OneFrameIsNoReason) {
  SupportWatch watch({});
  watch.renewed(0.99, true);
  EXPECT_EQ(frames_to_suspicion(watch, 300, [](int i) { return i % 4 == 0 ? 0.9 : 0.01; }), -1);
}

TEST(SupportWatch, WhereAllIsOutsideTheEnergyTells) {
  SupportWatch watch({});
  watch.renewed(0.001, true);
  EXPECT_EQ(frames_to_suspicion(watch, 50, 0.999, 1), -1);
  EXPECT_EQ(frames_to_suspicion(watch, 10, 0.999, 3), 2);
}

TEST(SupportWatch, ComparisonsThatDoNotHelpAreSpaced) {
  SupportWatch watch({});
  watch.renewed(0.99, false);
  int comparisons = 0;
  // The share steps up and down again, and learning never helps.
  for (int i = 0; i < 4096; ++i) {
    watch.next_frame();
    const double share = i / 32 % 2 == 0 ? 0.01 : 0.3;
    if (!watch.suspects(residual_of(share), share) || !watch.may_compare()) continue;
    ++comparisons;
    watch.suspicion_compared();
    if (!watch.outdated(1 - share)) continue;
    watch.trying(1 - share);
    watch.tried(false);
  }
  EXPECT_GE(comparisons, 4);
  EXPECT_LE(comparisons, 25);
}

TEST(SupportWatch, LooksThatHelpAreNotBlockedAndStayAffordable) {
  SupportWatch watch({});
  watch.renewed(0.99, true);
  int comparisons = 0, waited = 0;
  constexpr int kFrames = 3200;
  // Each template loses its tone after two frames.
  int age = 0;
  for (int i = 0; i < kFrames; ++i, ++age) {
    watch.next_frame();
    const double share = age < 2 ? 0.01 : 0.6;
    if (!watch.suspects(residual_of(share), share) || !watch.may_compare()) continue;
    watch.suspicion_compared();
    ASSERT_TRUE(watch.outdated(1 - share)) << i;
    watch.trying(1 - share);
    watch.tried(true);
    watch.renewed(0.99, true);
    ++comparisons;
    waited = std::max(waited, age);
    age = 0;
  }
  EXPECT_LE(waited, 64);
  EXPECT_LE(comparisons, kFrames / 32 + 5);
}

TEST(SupportWatch, AnExactShareBelowTheOneBeforeIsOutdated) {
  SupportWatch watch({});
  watch.renewed(0.9, true);
  EXPECT_FALSE(watch.outdated(0.89));
  EXPECT_TRUE(watch.outdated(0.8));
  watch.trying(0.8);
  watch.tried(false);
  for (int i = 0; i < 300; ++i) watch.next_frame();
  EXPECT_FALSE(watch.outdated(0.8)) << "learning found nothing better: this is what the signal is like";
  EXPECT_TRUE(watch.outdated(0.7));
  EXPECT_FALSE(watch.outdated(0.95)) << "a cleaner signal is what later frames are compared with";
  EXPECT_TRUE(watch.outdated(0.9));
}

TEST(SupportWatch, ALossThatCameBeforeTheLevelWasKnownIsSeen) {
  SupportWatch watch({});
  watch.renewed(0.99, true);
  for (int i = 0; i < 100; ++i) watch.next_frame();
  watch.estimated(0.98, 0.99);
  watch.suspicion_compared();  // unfounded, but the tone moves on before there is a level
  EXPECT_EQ(frames_to_suspicion(watch, 64, 0.05), 7) << "the wait after a comparison";
  SupportWatch biased({});
  biased.renewed(0.99, true);
  biased.estimated(0.9, 0.99);
  biased.suspicion_compared();
  EXPECT_EQ(frames_to_suspicion(biased, 200, 0.1), -1) << "estimates are known to be low";
}

TEST(SupportWatch, ALossMuchWorseThanAtTheLastComparisonIsComparedWithoutWaiting) {
  SupportWatch watch({});
  watch.renewed(0.99, true);
  for (int i = 0; i < 100; ++i) watch.next_frame();
  for (int i = 0; i < 3; ++i) {  // the wait is 32 frames then
    watch.estimated(0.95, 0.95);
    watch.suspicion_compared();
  }
  EXPECT_EQ(frames_to_suspicion(watch, 16, 0.08), -1) << "not twice the loss of the last comparison";
  EXPECT_EQ(frames_to_suspicion(watch, 16, 0.15), 2) << "patience is 3 frames";
}

TEST(SupportWatch, ALossThatGrewSinceLearningBeganIsUnbearable) {
  SupportWatch watch({});
  EXPECT_FALSE(watch.bearable(0.9)) << "nothing is known";
  watch.renewed(1, true);
  EXPECT_TRUE(watch.bearable(0.91));
  EXPECT_FALSE(watch.bearable(0.88));
  watch.trying(0.96);
  EXPECT_TRUE(watch.bearable(0.92)) << "a slow fade";
  EXPECT_FALSE(watch.bearable(0.9)) << "another tone, which the new template will not have";
  watch.tried(false);
  EXPECT_TRUE(watch.bearable(0.9));
}

TEST(SupportWatch, ALossMuchWorseThanAtTheLastTryDoesNotWait) {
  SupportWatch watch({});
  watch.renewed(0.99, true);
  for (int i = 0; i < 8; ++i) {
    watch.trying(0.9);
    watch.tried(false);
  }
  watch.next_frame();
  EXPECT_FALSE(watch.outdated(0.85));
  EXPECT_TRUE(watch.outdated(0.5));
}

TEST(SupportWatch, AResultThatCannotBeUsedDoesNotLowerWhatIsExpected) {
  SupportWatch watch({});
  watch.renewed(1, true);
  watch.trying(0.9);
  watch.abandoned();
  EXPECT_EQ(watch.expected(), 1);
  EXPECT_TRUE(watch.outdated(0.9)) << "learning may begin again at once";
  watch.trying(0.9);
  watch.renewed(0.95, true);  // another template is in force when the result comes
  watch.abandoned();
  EXPECT_EQ(watch.expected(), 0.95);
}

TEST(SupportWatch, LearningThatDoesNotHelpWaits) {
  SupportWatch watch({});
  watch.renewed(1, true);
  double share = 1;
  int tries = 0;
  for (int i = 0; i < 1024; ++i) {  // energy leaves the support for good
    watch.next_frame();
    share *= 0.99;
    if (!watch.outdated(share)) continue;
    ++tries;
    watch.trying(share);
    watch.tried(false);
  }
  EXPECT_GE(tries, 5);
  EXPECT_LE(tries, 10) << "8, 16, 32, ... 256 frames from one to the next";
}

}  // namespace
}  // namespace sfft::detail::support_watch_test
