// SPDX-License-Identifier: Apache-2.0
// Tests what a tracker decides from the statistics of its frames, on tables of cases.
#include "sfft/tracking/tracking_policy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sfft::detail::tracking_policy_test {
namespace {

using Change = StreamMemory::Change;
using Step = TrackingPolicy::Step;

TEST(ReferencePolicy, DecisionsAreDoubledIntervalsApart) {
  ReferencePolicy policy;
  EXPECT_TRUE(policy.may_decide(0));
  std::int64_t frame = 0;
  for (const std::int64_t interval : {2, 4, 8, 16, 32, 64, 128, 256, 256, 256}) {
    policy.decided(frame);
    EXPECT_FALSE(policy.may_decide(frame + interval - 1));
    EXPECT_TRUE(policy.may_decide(frame + interval));
    EXPECT_EQ(policy.next_decision(), frame + interval);
    frame += interval;
  }
}

TEST(ReferencePolicy, FramesRepeatIfLittleChanges) {
  struct Case {
    Change change;
    bool repeats;
  };
  for (const auto& [change, repeats] : std::vector<Case>{{{0.1, 0.1}, true},
                                                         {{0.9, 0.29}, true},
                                                         {{1.1, 0.1}, false},
                                                         {{0.1, 0.31}, false},
                                                         {{2, 2}, false}}) {
    EXPECT_EQ(ReferencePolicy::repeats(change, 1), repeats) << change.support << " " << change.outside;
    EXPECT_EQ(ReferencePolicy::repeats({100 * change.support, 100 * change.outside}, 100), repeats);
  }
}

TEST(ReferencePolicy, TwoComparisonsFindOutWhetherFramesRepeat) {
  ReferencePolicy policy;
  EXPECT_TRUE(policy.testing_repetition());
  EXPECT_TRUE(policy.may_take(0, 1));
  EXPECT_TRUE(policy.testing_repetition());
  EXPECT_FALSE(policy.may_take(1, 1e-6)) << "nothing to gain";
  EXPECT_FALSE(policy.testing_repetition());
  EXPECT_TRUE(policy.may_take(2, 1));
}

TEST(ReferencePolicy, ThreeDeparturesInARowEndTheReference) {
  const Change like{0.1, 0.9}, unlike{0.1, 1.1};
  ReferencePolicy policy;
  EXPECT_FALSE(policy.departs(like, 1));
  EXPECT_TRUE(policy.departs(unlike, 1));
  EXPECT_TRUE(policy.departs(unlike, 1));
  EXPECT_FALSE(policy.departed());
  EXPECT_FALSE(policy.departs(like, 1)) << "frames are like the reference again";
  EXPECT_FALSE(policy.departing());
  for (int i = 0; i < 3; ++i) policy.departs(unlike, 1);
  EXPECT_TRUE(policy.departed());
  policy.learned();
  EXPECT_FALSE(policy.departing());
}

TEST(ReferencePolicy, DifferencesFailAfterThreeLargeErrorsInCloseSuccession) {
  struct Case {
    std::vector<std::int64_t> frames;
    double error, support;
    bool fails;
  };
  for (const Case& c : std::vector<Case>{{{100, 150, 200}, 0.3, 2, true},
                                         {{100, 150}, 0.3, 2, false},
                                         {{100, 150, 214}, 0.3, 2, false},       // 64 frames: not close
                                         {{100, 150, 200}, 0.2, 2, false},       // the errors are small
                                         {{100, 150, 200}, 0.3, 0.5, false}}) {  // the support hardly changes
    ReferencePolicy policy;
    bool fails = false;
    for (const std::int64_t frame : c.frames)
      fails = policy.differences_fail({c.support, 0}, 1, c.error, frame);
    EXPECT_EQ(fails, c.fails) << c.frames.size() << " frames, error " << c.error << ", support " << c.support;
    const std::int64_t last = c.frames.back();
    EXPECT_EQ(policy.may_take(last + 1023, 1), !c.fails);
    EXPECT_TRUE(policy.may_take(last + 1024, 1));
  }
}

TEST(PlanAccuracy, GoesDownToAThirdAndStartsAgainWithANewSupport) {
  PlanAccuracy accuracy;
  std::vector<double> fractions;
  while (const auto smaller = accuracy.smaller()) {
    fractions.push_back(*smaller);
    accuracy.took(*smaller);
  }
  ASSERT_EQ(fractions.size(), 3u);
  EXPECT_NEAR(fractions.back(), 0.343, 1e-12);
  accuracy.renewed(1);
  EXPECT_TRUE(accuracy.smaller().has_value());
  accuracy.impossible();
  EXPECT_FALSE(accuracy.smaller().has_value());
}

/// A policy without scheduled comparisons whose errors have had the level 0.01 for 20 frames.
TrackingPolicy settled(double accuracy) {
  TrackingPolicy policy({.accuracy = accuracy, .calibrate = 0});
  for (std::int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(policy.after_sparse({.number = i, .report = {0.01}, .relative_error = 0.01}).step,
              Step::accept);
    policy.staleness.accepted();
  }
  return policy;
}

TEST(TrackingPolicy, OneFrameDecidesAboutOneStep) {
  struct Case {
    const char* name;
    double accuracy, error;
    bool lost, testing;
    Step step;
  };
  for (const Case& c : std::vector<Case>{{"good", 0.1, 0.02, false, false, Step::accept},
                                         {"above the accuracy", 0.1, 0.11, false, false, Step::compare},
                                         {"above one half", 0, 0.6, false, false, Step::compare},
                                         {"below one half", 0, 0.4, false, false, Step::accept},
                                         {"lost tones", 0.1, 0.02, true, false, Step::compare_suspect},
                                         {"lost and inaccurate", 0.1, 0.2, true, false, Step::compare},
                                         {"looking for repetition", 0.1, 0.02, false, true, Step::compare}}) {
    TrackingPolicy policy = settled(c.accuracy);
    const auto decision = policy.after_sparse({.number = 20,
                                               .report = {c.error},
                                               .relative_error = c.error,
                                               .tones_lost = c.lost,
                                               .testing_repetition = c.testing});
    EXPECT_EQ(decision.step, c.step) << c.name;
    EXPECT_EQ(decision.factor, 1) << c.name << ": nothing was compared";
  }
}

TEST(TrackingPolicy, ADriftIsComparedAfterPatienceAndOnlyIfItMayChangeTheReference) {
  struct Case {
    bool differencing, decided_just_before;
    Step step;
  };
  for (const Case& c : std::vector<Case>{{true, false, Step::compare},
                                         {true, true, Step::accept},
                                         {false, false, Step::compare_suspect},
                                         {false, true, Step::compare_suspect}}) {
    TrackingPolicy policy = settled(0);
    if (c.decided_just_before) policy.reference.decided(21);
    for (std::int64_t i = 20; i < 23; ++i) {
      const Step step =
          policy
              .after_sparse(
                  {.number = i, .report = {0.05}, .relative_error = 0.05, .differencing = c.differencing})
              .step;
      EXPECT_EQ(step, i < 22 ? Step::accept : c.step) << c.differencing << " " << c.decided_just_before;
    }
  }
}

}  // namespace
}  // namespace sfft::detail::tracking_policy_test
