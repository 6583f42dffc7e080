// SPDX-License-Identifier: Apache-2.0
// Tests that pushing several frames at once equals pushing them one by one. A tracker that gets a stream in
// single frames is the reference for one that gets it in batches of any size.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "bench/known_signals.hpp"
#include "sfft/tracker.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::tracker_batch_test {
namespace {

using test::code_of;

const Shape kShape{36, 48};
using Frames = std::vector<std::vector<float>>;

/// A stream with everything that a tracker reacts to: a moving object, cuts to other scenes, drifting light,
/// noise, stills, and frames with NaN in all samples or in one.
Frames random_stream(unsigned seed, int count) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  Frames frames;
  unsigned scene = seed;
  int t = 0;
  std::vector<float> still;
  while (static_cast<int>(frames.size()) < count) {
    const int kind = below(6), length = 1 + below(kind == 3 ? 3 : 30);
    if (kind == 0) scene = 1 + random() % 1000;
    std::normal_distribution<float> noise(0, kind == 4 ? 40.0F : 1.0F);
    for (int i = 0; i < length && static_cast<int>(frames.size()) < count; ++i) {
      const auto film = test::film_frame(kShape[0], kShape[1], ++t % 80, scene);
      std::vector<float> frame(film.begin(), film.end());
      if (kind == 1 && !still.empty()) frame = still;
      for (float& sample : frame) {
        if (kind == 2) sample *= 1 + 0.03F * static_cast<float>(i);
        if (kind == 4) sample += noise(random);
      }
      constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
      if (kind == 3) std::fill(frame.begin(), frame.end(), kNaN);
      if (below(40) == 0) frame[random() % frame.size()] = kNaN;
      if (kind != 3) still = frame;
      frames.push_back(std::move(frame));
    }
  }
  return frames;
}

std::vector<SignalView> views_of(const Frames& frames) {
  std::vector<SignalView> views;
  for (const auto& frame : frames) views.emplace_back(frame, kShape);
  return views;
}

template <class Frame>
void expect_same(const Frame& got, const Frame& expected, const std::string& where) {
  EXPECT_EQ(got.index, expected.index) << where;
  ASSERT_EQ(got.action, expected.action) << where << ": " << got.reason << " / " << expected.reason;
  EXPECT_EQ(got.differencing, expected.differencing) << where;
  EXPECT_EQ(got.spectrum.quality.finite, expected.spectrum.quality.finite) << where;
  EXPECT_EQ(got.spectrum.path, expected.spectrum.path) << where;
  ASSERT_EQ(*got.spectrum.support, *expected.spectrum.support) << where;
  if (!expected.spectrum.quality.finite) return;
  EXPECT_EQ(got.reason, expected.reason) << where;
  EXPECT_EQ(got.calibration, expected.calibration) << where;
  EXPECT_EQ(got.spectrum.values, expected.spectrum.values) << where;
  EXPECT_EQ(got.spectrum.standard_error, expected.spectrum.standard_error) << where;
  EXPECT_EQ(got.spectrum.quality.error_l2, expected.spectrum.quality.error_l2) << where;
  EXPECT_EQ(got.spectrum.quality.relative_error, expected.spectrum.quality.relative_error) << where;
  EXPECT_EQ(got.spectrum.quality.tail_energy, expected.spectrum.quality.tail_energy) << where;
  EXPECT_EQ(got.spectrum.quality.residual, expected.spectrum.quality.residual) << where;
  ASSERT_EQ(got.similarity.has_value(), expected.similarity.has_value()) << where;
  if (!got.similarity || std::isnan(expected.similarity->correlation)) return;
  EXPECT_EQ(got.similarity->overlap, expected.similarity->overlap) << where;
  EXPECT_EQ(got.similarity->correlation, expected.similarity->correlation) << where;
  EXPECT_EQ(got.similarity->energy, expected.similarity->energy) << where;
}

template <class Real>
void expect_same_state(const Tracker<Real>& got, const Tracker<Real>& expected, const std::string& where) {
  EXPECT_EQ(got.refreshed(), expected.refreshed()) << where;
  EXPECT_EQ(got.relearned(), expected.relearned()) << where;
  EXPECT_EQ(got.dense_fallbacks(), expected.dense_fallbacks()) << where;
  EXPECT_EQ(got.calibrated(), expected.calibrated()) << where;
  EXPECT_EQ(got.plan().info().reference, expected.plan().info().reference) << where;
}

TrackerOptions random_options(std::mt19937& random) {
  const auto pick = [&](auto... choices) {
    const std::array all{choices...};
    return all[random() % all.size()];
  };
  TrackerOptions options;
  options.plan.path = pick(Path::automatic, Path::comb, Path::comb, Path::dense);
  options.plan.batch = pick(1, 8);
  options.reference = pick(true, true, false);
  options.accuracy = pick(0.0, 0.0, 0.05, 1e-6);
  options.calibrate = pick(256, 256, 12, 0);
  options.hold = pick(8, 2);
  options.patience = pick(3, 1);
  options.similarity = random() % 8 == 0;
  options.background_learning = pick(true, false);
  return options;
}

/// Pushes the stream both ways; counts the actions that occurred.
template <class Real>
void compare_streams(unsigned seed, int threads, std::map<TrackedFrame::Action, int>& actions) {
  std::mt19937 random(seed);
  TrackerOptions options = random_options(random);
  options.plan.threads = threads;
  const Frames frames = random_stream(seed, 90);
  const std::vector<SignalView> views = views_of(frames);
  const auto first = test::film_frame(kShape[0], kShape[1], 0, seed);
  const bool bare = random() % 4 == 0;
  const std::vector<std::int64_t> support{0, 1, 2, 3, 50, 51, 97};
  const Template tmpl =
      bare ? Template::from_support(kShape, Domain::real, support)
           : learn(SignalView(first, kShape), {.keep = Largest{24}, .reference = random() % 2 == 0});
  Tracker<Real> single(tmpl, options), batched(tmpl, options);
  const std::string stream =
      std::to_string(seed) + (sizeof(Real) == 4 ? " float, frame " : " double, frame ");
  for (std::size_t at = 0; at < views.size();) {
    const std::size_t max = random() % 5 == 0 ? 1 : 40;
    const std::size_t count = std::min(views.size() - at, 1 + random() % max);
    const auto results = batched.push(std::span(views).subspan(at, count));
    ASSERT_EQ(results.size(), count);
    EXPECT_EQ(batched.results().data(), results.data());
    for (std::size_t i = 0; i < count; ++i) {
      const auto& expected = single.push(views[at + i]);
      ++actions[expected.action];
      expect_same(results[i], expected, stream + std::to_string(at + i));
      if (testing::Test::HasFatalFailure()) return;
    }
    expect_same_state(batched, single, stream + std::to_string(at));
    at += count;
  }
}

TEST(TrackerBatch, IsOneFrameAfterAnother) {
  std::map<TrackedFrame::Action, int> actions;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    compare_streams<float>(seed, 1, actions);
    compare_streams<double>(seed + 100, 1, actions);
    if (HasFatalFailure()) return;
  }
  for (const TrackedFrame::Action action :
       {TrackedFrame::Action::sparse, TrackedFrame::Action::refreshed, TrackedFrame::Action::relearned,
        TrackedFrame::Action::dense, TrackedFrame::Action::calibrated})
    EXPECT_GT(actions[action], 5) << to_string(action) << " hardly occurs: the streams test too little";
}

TEST(TrackerBatch, IsTheSameOnSeveralThreads) {
  std::map<TrackedFrame::Action, int> actions;
  for (unsigned seed = 201; seed <= 206; ++seed) compare_streams<float>(seed, 3, actions);
}

TEST(TrackerBatch, ExactlySparseFramesRunAheadAllTheWay) {
  const auto signal = test::SparseSignal::random(Shape{4096}, false, 20, 3);
  const auto frame = signal.as<std::complex<float>>();
  const std::vector<SignalView> views(300, SignalView::line(frame));
  Tracker<float> tracker(Template::from_support(Shape{4096}, Domain::complex, signal.support));
  for (const Tracker<float>::Frame& tracked : tracker.push(views)) {
    EXPECT_EQ(tracked.action, TrackedFrame::Action::sparse);
    EXPECT_LE(test::relative_l2(tracked.spectrum.values, signal.values), 1e-5);
  }
  EXPECT_EQ(tracker.results().back().index, 299);
}

TEST(TrackerBatch, AnEmptyPushDoesNothing) {
  const Frames frames = random_stream(1, 3);
  Tracker<float> tracker(learn(SignalView(frames[0], kShape), {.keep = Largest{9}, .reference = true}));
  EXPECT_TRUE(tracker.results().empty());
  EXPECT_TRUE(tracker.push(std::span<const SignalView>()).empty());
  EXPECT_EQ(tracker.push(views_of(frames)[0]).index, 0);
}

TEST(TrackerBatch, AFrameThatFailsComesAfterTheResultsOfThoseBeforeIt) {
  std::vector<std::vector<std::uint8_t>> films;
  for (int t = 0; t < 12; ++t) films.push_back(test::film_frame(kShape[0], kShape[1], t));
  const Template tmpl = learn(SignalView(films[0], kShape), {.keep = Largest{24}, .reference = true});
  const std::vector<std::complex<float>> complex(static_cast<std::size_t>(kShape.points()));
  const std::vector<std::uint8_t> small(16);
  const std::pair<SignalView, ErrorCode> failures[] = {
      {SignalView(small, Shape{4, 4}), ErrorCode::shape_mismatch},
      {SignalView(complex, kShape), ErrorCode::type_mismatch}};
  for (const auto& [bad, code] : failures) {
    for (const std::size_t at : {0, 1, 6, 11}) {
      Tracker<float> batched(tmpl), single(tmpl);
      std::vector<SignalView> views;
      for (const auto& film : films) views.emplace_back(film, kShape);
      views[at] = bad;
      EXPECT_EQ(code_of([&] { batched.push(views); }), code);
      ASSERT_EQ(batched.results().size(), at);
      for (std::size_t i = 0; i < at; ++i)
        expect_same(batched.results()[i], single.push(views[i]), std::to_string(i));
      // That frame is skipped, and the stream continues as if it had never come.
      const auto rest = std::span(views).subspan(at + 1);
      const auto results = batched.push(rest);
      for (std::size_t i = 0; i < rest.size(); ++i)
        expect_same(results[i], single.push(rest[i]), std::to_string(at + 1 + i));
      expect_same_state(batched, single, "after a failure");
    }
  }
}

TEST(TrackerBatch, AMovedTrackerKeepsNoResults) {
  const Frames frames = random_stream(2, 4);
  Tracker<float> tracker(learn(SignalView(frames[0], kShape), {.keep = Largest{9}, .reference = true}));
  tracker.push(views_of(frames));
  Tracker<float> other(std::move(tracker));
  EXPECT_EQ(other.results().size(), 4u);
  EXPECT_EQ(code_of([&] { static_cast<void>(tracker.results()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { tracker.push(views_of(frames)); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sfft::tracker_batch_test
