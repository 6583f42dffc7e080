// SPDX-License-Identifier: Apache-2.0
// Tests the times of live streams that freeze, are delayed in transit, or return.
#include "video/sources/frame_times.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfft::video::stream_clock_test {
namespace {

constexpr double kStep = 0.04;

/// A stream of 25 frames per second, received from some time on.
class StreamClockTest : public testing::Test {
 protected:
  double frame(double waited) {
    now_ += waited;
    const double time = clock_.next(stamp_, {now_, waited});
    stamp_ += kStep;
    EXPECT_GE(time, last_);
    return last_ = time;
  }
  void frames(int count, double waited) {
    for (int i = 0; i < count; ++i) frame(waited);
  }

  StreamClock clock_{25};
  double now_ = 1000, stamp_ = 77, last_ = 0;
};

TEST(FrameTimes, MissingFramesTakeTimeWhereThereAreNoStamps) {
  FrameTimes times(25);
  const double never = std::nan("");
  EXPECT_EQ(times.next(never), 0);
  EXPECT_NEAR(times.next(never), kStep, 1e-12);
  EXPECT_NEAR(times.next(never, 3), 5 * kStep, 1e-12);
  EXPECT_NEAR(times.next(never), 6 * kStep, 1e-12);
}

TEST_F(StreamClockTest, FollowsStamps) {
  EXPECT_EQ(frame(0.5), 0);
  frames(250, kStep);
  EXPECT_NEAR(last_, 10, 1e-9);
  frames(50, 1.5);  // slow, but no stall
  EXPECT_NEAR(last_, 12, 1e-9);
  EXPECT_EQ(clock_.stalled_seconds(), 0);
}

TEST_F(StreamClockTest, AServerThatStoodStillIsLateForGood) {
  frames(251, kStep);
  EXPECT_NEAR(frame(6), 16, 1e-9);
  EXPECT_NEAR(clock_.stalled_seconds(), 6, 1e-9);
  frames(250, kStep);
  EXPECT_NEAR(last_, 26, 1e-6);
  EXPECT_EQ(clock_.stalled_seconds(), 0);
  EXPECT_NEAR(frame(3), 29, 1e-6);
}

TEST_F(StreamClockTest, FramesThatWereHeldUpHaveTheirOwnTimesAgain) {
  frames(251, kStep);
  EXPECT_NEAR(frame(6), 16, 1e-9);  // it was recorded at 10.04, but arrived now
  frames(148, 0);                   // the missed frames arrive at once
  EXPECT_NEAR(last_, 16, 1e-9);
  frames(250, kStep);
  EXPECT_NEAR(last_, 26, 0.05);  // 10 + 399 steps
}

TEST_F(StreamClockTest, AStreamThatBeginsWithABurstMayStandStill) {
  frames(101, 0);  // the last four seconds arrive at once
  frames(150, kStep);
  EXPECT_NEAR(frame(6), 16, 1e-9);
  frames(250, kStep);
  EXPECT_NEAR(last_, 26, 1e-6);
}

TEST_F(StreamClockTest, CamerasOfAFrameAMinuteDoNotStall) {
  for (int i = 0; i < 20; ++i) {
    frame(60);
    stamp_ += 60 - kStep;
    EXPECT_EQ(clock_.stalled_seconds(), 0);
  }
  EXPECT_NEAR(last_, 19 * 60, 1e-6);
}

TEST_F(StreamClockTest, WhoReadsLateSeesNoStall) {
  frames(251, kStep);
  now_ += 30;  // no frame was requested
  frame(0);
  EXPECT_EQ(clock_.stalled_seconds(), 0);
  EXPECT_NEAR(last_, 10.04, 1e-9);
}

TEST_F(StreamClockTest, GoesOnAfterAStreamThatWasLateWasLost) {
  frames(251, kStep);
  frame(6);
  clock_.jump(20);
  stamp_ = 5;  // another clock
  now_ += 20;
  EXPECT_NEAR(frame(0), 36, 1e-9);
  frames(250, kStep);
  EXPECT_NEAR(last_, 46, 1e-6);
}

}  // namespace
}  // namespace sfft::video::stream_clock_test
