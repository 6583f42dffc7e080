// SPDX-License-Identifier: Apache-2.0
// Tests what a tracker does with films, scene cuts, unattainable accuracies, repeating frames and NaN.
#include "sfft/tracker.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/template_access.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::tracker_test {
namespace {

using test::code_of;

constexpr std::int64_t kRows = 96, kColumns = 128;
const Shape kShape{kRows, kColumns};

std::vector<SignalView> views_of(const std::vector<std::vector<std::uint8_t>>& frames) {
  std::vector<SignalView> views;
  for (const auto& frame : frames) views.emplace_back(frame, kShape);
  return views;
}

std::vector<std::complex<double>> truth_at(const std::vector<std::uint8_t>& frame, const Template& tmpl) {
  return test::direct_at(std::vector<double>(frame.begin(), frame.end()), kShape,
                         {tmpl.support().begin(), tmpl.support().end()});
}

TEST(Tracker, FollowsAFilm) {
  const Template tmpl = learn(SignalView(test::film_frame(kRows, kColumns, 0), kShape),
                              {.keep = Largest{60}, .reference = true});
  Tracker<float> tracker(tmpl, {.plan = {.path = Path::comb}});
  for (int t = 1; t < 40; ++t) {
    const auto frame = test::film_frame(kRows, kColumns, t);
    const auto& tracked = tracker.push(SignalView(frame, kShape));
    EXPECT_EQ(tracked.index, t - 1);
    if (t % 13 != 0) continue;
    const auto truth = truth_at(frame, tracker.current_template());
    EXPECT_LE(test::relative_l2(tracked.spectrum.values, truth), 0.05);
  }
  EXPECT_EQ(tracker.relearned(), 0);
}

TEST(Tracker, ASceneCutIsNoticedAndRelearned) {
  const Template tmpl = learn(SignalView(test::film_frame(kRows, kColumns, 0, 1), kShape),
                              {.keep = Largest{40}, .reference = true});
  Tracker<float> tracker(tmpl, {.plan = {.path = Path::comb}});
  for (int t = 1; t <= 30; ++t) tracker.push(SignalView(test::film_frame(kRows, kColumns, t, 1), kShape));
  const auto before = tracker.dense_fallbacks();
  std::string reasons;
  for (int t = 31; t <= 45; ++t) {
    const auto frame = test::film_frame(kRows, kColumns, t, 2);  // another scene
    const auto& tracked = tracker.push(SignalView(frame, kShape));
    if (tracked.action == TrackedFrame::Action::relearned ||
        tracked.action == TrackedFrame::Action::refreshed) {
      reasons += tracked.reason;
      EXPECT_LE(test::relative_l2(tracked.spectrum.values, truth_at(frame, tracker.current_template())), 1e-5)
          << "a renewed frame is exact";
    }
  }
  EXPECT_GT(tracker.dense_fallbacks(), before);
  EXPECT_GE(tracker.relearned(), 1);
  EXPECT_FALSE(reasons.empty());
}

/// Another scene fades in, but not enough to spoil frames: they use the old template until the new one has
/// been learned. The support has nearly all of the energy, so that a loss is noticed before it is a tenth, at
/// which the tracker would learn at once.
TEST(Tracker, LearnsInTheBackground) {
  const auto frame_at = [](int t) {
    auto frame = test::film_frame(kRows, kColumns, t % 30, 1);
    const auto other = test::film_frame(kRows, kColumns, t % 30, 2);
    const double share = std::clamp((t - 40) / 200.0, 0.0, 0.5);
    for (std::size_t i = 0; i < frame.size(); ++i)
      frame[i] = static_cast<std::uint8_t>((1 - share) * frame[i] + share * other[i]);
    return frame;
  };
  const auto first = frame_at(0);
  const Template tmpl = learn(SignalView(first, kShape), {.keep = Largest{160}, .reference = true});
  const TrackerOptions options{
      .plan = {.path = Path::comb}, .relearn_below = 0.98, .background_learning = true};
  Tracker<float> tracker(tmpl, options), batched(tmpl, options);
  std::vector<std::vector<std::uint8_t>> frames;
  for (int t = 1; t <= 260; ++t) frames.push_back(frame_at(t));
  const std::vector<SignalView> views = views_of(frames);
  int relearned = 0;
  for (std::size_t t = 0; t < views.size(); ++t) {
    constexpr std::size_t kBatch = 26;
    if (t % kBatch == 0) batched.push(std::span(views).subspan(t, kBatch));
    const auto& tracked = tracker.push(views[t]);
    EXPECT_EQ(batched.results()[t % kBatch].action, tracked.action) << t;
    EXPECT_EQ(batched.results()[t % kBatch].spectrum.values, tracked.spectrum.values) << t;
    if (tracked.action != TrackedFrame::Action::relearned) continue;
    ++relearned;
    const auto at = tracked.reason.rfind("at frame ");
    ASSERT_NE(at, std::string::npos) << tracked.reason;
    EXPECT_EQ(tracked.index - std::stoll(tracked.reason.substr(at + 9)), 32) << tracked.reason;
    EXPECT_NE(detail::data_of(tracker.current_template()), detail::data_of(tmpl));
    EXPECT_LE(test::relative_l2(tracked.spectrum.values, truth_at(frames[t], tracker.current_template())),
              1e-5);
  }
  EXPECT_GE(relearned, 1);
  EXPECT_EQ(tracker.relearned(), relearned);
}

TEST(Tracker, UnattainableAccuracySettlesOnDense) {
  const Template tmpl = learn(SignalView(test::film_frame(kRows, kColumns, 0), kShape),
                              {.keep = Largest{60}, .reference = true});
  Tracker<float> tracker(tmpl, {.plan = {.path = Path::comb}, .accuracy = 1e-6});
  int dense = 0;
  for (int t = 1; t <= 40; ++t) {
    const auto frame = test::film_frame(kRows, kColumns, 3 * t);
    const auto& tracked = tracker.push(SignalView(frame, kShape));
    dense += tracked.action == TrackedFrame::Action::dense;
    EXPECT_NE(tracked.action, TrackedFrame::Action::sparse) << "frame " << t;
    EXPECT_LE(tracked.spectrum.quality.relative_error, 2e-6);
  }
  EXPECT_GE(dense, 20) << "most frames go straight to dense";
}

TEST(Tracker, TakesAReferenceWhereFramesRepeat) {
  const auto first = test::film_frame(kRows, kColumns, 0);
  const std::vector<std::int64_t> support{0, 1, 2, 130, 260};
  Tracker<float> tracker(Template::from_support(kShape, Domain::real, support),
                         {.plan = {.path = Path::comb}});
  const auto& tracked = tracker.push(SignalView(first, kShape));
  EXPECT_FALSE(tracked.differencing) << "one frame cannot show that frames repeat";
  EXPECT_EQ(tracker.push(SignalView(first, kShape)).action, TrackedFrame::Action::refreshed);
  EXPECT_TRUE(tracked.differencing);
  EXPECT_LE(test::relative_l2(tracked.spectrum.values, truth_at(first, tracker.current_template())), 1e-5);
  EXPECT_TRUE(tracker.current_template().has_reference());
  EXPECT_EQ(tracker.push(SignalView(first, kShape)).action, TrackedFrame::Action::sparse);
}

TEST(Tracker, NaNFramesAreReportedAndForgotten) {
  std::vector<float> frame(static_cast<std::size_t>(kShape.points()));
  const auto film = test::film_frame(kRows, kColumns, 0);
  std::copy(film.begin(), film.end(), frame.begin());
  const Template tmpl = learn(SignalView(frame, kShape), {.keep = Largest{30}, .reference = true});
  Tracker<float> tracker(tmpl, {.plan = {.path = Path::comb}});
  const std::vector<float> broken(frame.size(), std::numeric_limits<float>::quiet_NaN());
  for (int i = 0; i < 10; ++i) {
    const auto& tracked = tracker.push(SignalView(broken, kShape));
    EXPECT_FALSE(tracked.spectrum.quality.finite);
    EXPECT_FALSE(tracked.reason.empty());
  }
  EXPECT_EQ(tracker.refreshed() + tracker.relearned() + tracker.dense_fallbacks(), 0);
  EXPECT_LE(test::relative_l2(tracker.push(SignalView(frame, kShape)).spectrum.values, tmpl.values()), 1e-6);
}

TEST(Tracker, WorksWithoutDifferencing) {
  const Template tmpl =
      learn(SignalView(test::film_frame(kRows, kColumns, 0), kShape), {.keep = Largest{60}});
  Tracker<double> tracker(tmpl, {.plan = {.path = Path::comb}, .reference = false});
  const auto frame = test::film_frame(kRows, kColumns, 5);
  const auto& tracked = tracker.push(SignalView(frame, kShape));
  EXPECT_EQ(tracked.action, TrackedFrame::Action::sparse);
  EXPECT_FALSE(tracker.plan().info().reference);
  EXPECT_LE(test::relative_l2(tracked.spectrum.values, truth_at(frame, tmpl)), 0.2);
}

TEST(Tracker, RefusesBadOptionsAndFrames) {
  const Template tmpl = learn(SignalView(test::film_frame(kRows, kColumns, 0), kShape),
                              {.keep = Largest{6}, .reference = true});
  const auto with = [&](TrackerOptions options) { return code_of([&] { Tracker<float>(tmpl, options); }); };
  EXPECT_EQ(with({.accuracy = -1}), ErrorCode::invalid_argument);
  EXPECT_EQ(with({.drift = 0.5}), ErrorCode::invalid_argument);
  EXPECT_EQ(with({.patience = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(with({.relearn_below = 2}), ErrorCode::invalid_argument);
  EXPECT_EQ(with({.hold = 0}), ErrorCode::invalid_argument);
  Tracker<float> tracker(tmpl);
  const std::vector<std::uint8_t> small(16);
  EXPECT_EQ(code_of([&] { tracker.push(SignalView(small, Shape{4, 4})); }), ErrorCode::shape_mismatch);
}

}  // namespace
}  // namespace sfft::tracker_test
