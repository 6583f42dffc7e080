// SPDX-License-Identifier: Apache-2.0
// Tests that a tracker's template has the tones of its stream soon after they change, and how many dense
// transforms that takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <random>

#include "bench/known_signals.hpp"
#include "bench/trust/tone_losses.hpp"
#include "sfft/sfft.hpp"
#include "sfft/tracking/renewal.hpp"

namespace sfft::tracker_tones_test {
namespace {

constexpr std::int64_t kPoints = 4096;
const Shape kShape{kPoints};

struct Tone {
  double frequency, amplitude, turn;
};

std::vector<std::complex<float>> frame_of(const std::vector<Tone>& tones, int t, double sigma,
                                          std::mt19937_64& generator) {
  std::normal_distribution<double> normal(0, sigma / std::numbers::sqrt2);
  std::vector<std::complex<float>> x;
  for (std::int64_t m = 0; m < kPoints; ++m) {
    std::complex<double> sample(normal(generator), normal(generator));
    for (const Tone& tone : tones)
      sample += std::polar(tone.amplitude, tone.turn * t + 2 * std::numbers::pi * tone.frequency *
                                                               static_cast<double>(m) / kPoints);
    x.emplace_back(sample);
  }
  return x;
}

bool holds(const Template& tmpl, double frequency) {
  const auto support = tmpl.support();
  return std::binary_search(support.begin(), support.end(), std::llround(frequency) % kPoints);
}

/// Runs streams of the population that `bench_trust tones` draws.
TEST(TrackerTones, TonesThatStartStopDriftAndHopAreFoundAgain) {
  std::int64_t streams = 0, frames = 0, dense = 0;
  std::vector<std::int64_t> since_comparison;
  for (std::int64_t i = 0; streams < 24; ++i) {
    trust::ChangingTones stream(4, i, 300);
    // If a sparse transform is not accurate enough, frames are dense whatever the template contains.
    if (stream.shape().points() > 5000 || stream.tracking().accuracy > 0) continue;
    const trust::ToneStreamResult result = watch(stream, 300, {});
    ++streams;
    EXPECT_LE(result.longest, 64) << i << " " << to_string(stream.change()) << " " << stream.words();
    since_comparison.insert(since_comparison.end(), result.since_comparison.begin(),
                            result.since_comparison.end());
    if (stream.change() == trust::ToneChange::drift || result.planned_dense) continue;
    frames += result.frames;
    dense += result.dense;
  }
  std::ranges::sort(since_comparison);
  ASSERT_FALSE(since_comparison.empty());
  EXPECT_LE(since_comparison[since_comparison.size() / 2], 3);
  // About ten of the first 300 frames are dense for calibration anyway.
  EXPECT_LE(dense, frames / 12);
}

TEST(TrackerTones, DifferencesThatFailAreGivenUp) {
  // Rotating phases change the support by more than a plan for differences expects; the little energy outside
  // changes less.
  std::mt19937_64 generator(3);
  const std::vector<Tone> tones{{300.1, 1, 0.9}, {1700.1, 1.4, -0.8}, {2901, 1, 0.7}};
  const auto first = frame_of(tones, 0, 0.1, generator);
  Tracker<float> tracker(learn(SignalView(first, kShape), {.keep = Largest{12}, .reference = true}));
  int dense = 0;
  for (int t = 1; t < 400; ++t) {
    const auto x = frame_of(tones, t, 0.1, generator);
    dense += tracker.push(SignalView(x, kShape)).action != TrackedFrame::Action::sparse;
  }
  EXPECT_FALSE(tracker.plan().info().reference);
  EXPECT_LE(dense, 40);
}

TEST(TrackerTones, APlanThatMissesTheAccuracyNarrowlyIsReplaced) {
  std::mt19937_64 generator(4);
  const std::vector<Tone> tones{{300, 1, 0.9}, {1700, 1.4, -0.8}, {2901, 1, 0.7}};
  const auto first = frame_of(tones, 0, 0.3, generator);
  Tracker<float> tracker(learn(SignalView(first, kShape), {.keep = Largest{4}}), {.accuracy = 0.1});
  int dense = 0;
  for (int t = 1; t < 400; ++t) {
    const auto x = frame_of(tones, t, 0.3, generator);
    dense += tracker.push(SignalView(x, kShape)).action != TrackedFrame::Action::sparse;
  }
  EXPECT_LE(dense, 40);
}

TEST(TrackerTones, AThirdToneIsLearned) {
  std::mt19937_64 generator(2);
  std::vector<Tone> tones{{300, 1, 0.3}, {1700, 1, -0.2}};
  const auto first = frame_of(tones, 0, 0.05, generator);
  Tracker<float> tracker(learn(SignalView(first, kShape), {.keep = AboveNoise{6}}), {.reference = false});
  for (int t = 1; t < 300; ++t) {
    if (t == 100) tones.push_back({999, 4.8, 0.1});
    const auto x = frame_of(tones, t, 0.05, generator);
    tracker.push(SignalView(x, kShape));
    if (t < 164) continue;
    for (const Tone& tone : tones)
      ASSERT_TRUE(holds(tracker.current_template(), tone.frequency)) << t << " " << tone.frequency;
  }
  EXPECT_EQ(tracker.relearned(), 1);
}

TEST(TrackerTones, ADriftingToneIsNeverLostForLong) {
  for (const double rate : {0.05, 0.3, 0.75}) {
    std::mt19937_64 generator(3);
    std::vector<Tone> tones{{300, 1, 0.3}, {1700, 1, -0.2}};
    const auto first = frame_of(tones, 0, 0.05, generator);
    TrackerOptions options{.reference = false};
    options.learn.keep = Largest{2};
    Tracker<float> tracker(learn(SignalView(first, kShape), {.keep = Largest{2}}), options);
    int lost = 0, longest = 0, dense = 0;
    for (int t = 1; t <= 400; ++t) {
      tones[1].frequency += rate;
      const auto x = frame_of(tones, t, 0.05, generator);
      dense += tracker.push(SignalView(x, kShape)).action != TrackedFrame::Action::sparse;
      lost = holds(tracker.current_template(), tones[1].frequency) ? 0 : lost + 1;
      longest = std::max(longest, lost);
    }
    EXPECT_LE(longest, 64) << rate;
    EXPECT_GE(tracker.relearned(), 2) << rate;
    EXPECT_LE(dense, 40) << rate << ": the template has the frequencies that the tone will use";
    EXPECT_LE(tracker.current_template().k(), kPoints / 12) << rate;
  }
}

/// Spectra of ideal tones, from the geometric series of their samples.
std::vector<std::complex<double>> spectrum_of(const std::vector<Tone>& tones) {
  std::vector<std::complex<double>> x(kPoints);
  for (std::int64_t f = 0; f < kPoints; ++f) {
    for (const Tone& tone : tones) {
      const double step = 2 * std::numbers::pi * (tone.frequency - static_cast<double>(f)) / kPoints;
      const std::complex<double> ratio = std::polar(1.0, step);
      const bool on_bin = std::abs(ratio - 1.0) < 1e-12;
      const auto sum =
          on_bin ? std::complex<double>(kPoints) : (1.0 - std::polar(1.0, step * kPoints)) / (1.0 - ratio);
      x[static_cast<std::size_t>(f)] += tone.amplitude * sum;
    }
  }
  return x;
}

/// A comb has some hundred buckets here. Within a template's time a drifting tone passes frequencies that
/// share a bucket with the standing tone, and a plan that cannot tell them apart is wrong in every frame.
TEST(TrackerTones, AToneThatPassesTheBucketOfAnotherKeepsFramesSparse) {
  int dense = 0, frames = 0;
  for (const double distance : {-170.0, -60.0, 60.0, 150.0, 230.0}) {
    std::mt19937_64 generator(11);
    const double turn = 0.4, step = 0.73;
    std::vector<Tone> tones{{1000, 1, turn}, {1000 + distance, 1.2, -turn}};
    const auto first = frame_of(tones, 0, 0.15, generator);
    Tracker<float> tracker(learn(SignalView(first, kShape), {.keep = Energy{0.969}, .reference = false}));
    for (int t = 1; t < 400; ++t, ++frames) {
      tones[1].frequency += step;
      const auto x = frame_of(tones, t, 0.15, generator);
      dense += tracker.push(SignalView(x, kShape)).action != TrackedFrame::Action::sparse;
    }
  }
  EXPECT_LE(dense, frames / 10);
}

/// Streams in which a template was learned but never used, or not learned, because frames were dense anyway.
TEST(TrackerTones, LostTonesAreLearnedWhileFramesAreDense) {
  for (const auto& [seed, index] : {std::pair{992, 103}, {992, 73}, {501, 73}, {501, 115}}) {
    trust::ChangingTones stream(static_cast<std::uint64_t>(seed), index, 300);
    const trust::ToneStreamResult result = watch(stream, 300, {});
    EXPECT_LE(result.longest, 64) << seed << " " << index << " " << stream.words();
  }
}

TEST(TrackerTones, VelocitiesAndTheFrequenciesAheadAreFound) {
  std::vector<std::int64_t> all(kPoints);
  std::iota(all.begin(), all.end(), 0);
  detail::TemplateData data;
  data.shape = kShape;
  data.support = std::make_shared<const std::vector<std::int64_t>>(all);
  const auto before = detail::find_tones(data, spectrum_of({{300, 2, 0}, {1700.2, 1, 0}}));
  data.values = spectrum_of({{300, 2, 0}, {1705.2, 1, 0}});
  auto now = detail::find_tones(data, data.values);
  ASSERT_EQ(before.size(), 2U);
  ASSERT_EQ(now.size(), 2U);
  EXPECT_NEAR(now[1].position[0], 1705.2, 0.01);
  EXPECT_NEAR(now[1].energy, std::pow(kPoints, 2), 0.02 * std::pow(kPoints, 2));
  ASSERT_TRUE(detail::find_velocities(kShape, before, 10, now));
  EXPECT_EQ(now[0].velocity[0], 0);
  EXPECT_NEAR(now[1].velocity[0], 0.5, 0.01);
  const detail::DriftSupport wide = detail::support_for_drift(data, now, 40, 8);
  const auto has = [&](std::int64_t f) { return std::ranges::binary_search(wide.support, f); };
  EXPECT_TRUE(has(300));
  for (std::int64_t f = 1698; f <= 1733; ++f) EXPECT_TRUE(has(f)) << f;
  EXPECT_FALSE(has(1690));
  EXPECT_FALSE(has(1740));
  // Neither a constant tone nor one without a predecessor drifts.
  auto hopped = detail::find_tones(data, spectrum_of({{300, 2, 0}, {2900, 1, 0}}));
  EXPECT_FALSE(detail::find_velocities(kShape, before, 10, hopped));
}

/// Sums over all samples at known frequencies see no other frequencies, so they report no energy outside.
TEST(TrackerTones, AToneThatHopsIsFoundAgainByDirectSums) {
  std::mt19937_64 generator(5);
  std::vector<Tone> tones{{300, 1, 0.3}, {1700, 1, -0.2}};
  const auto first = frame_of(tones, 0, 0.05, generator);
  Tracker<float> tracker(learn(SignalView(first, kShape), {.keep = Largest{2}}),
                         {.plan = {.path = Path::direct}, .reference = false});
  for (int t = 1; t <= 60; ++t) {
    if (t == 20) tones[0].frequency = 2345;
    const auto x = frame_of(tones, t, 0.05, generator);
    tracker.push(SignalView(x, kShape));
    if (t < 30) continue;
    ASSERT_TRUE(holds(tracker.current_template(), 2345)) << t;
  }
  EXPECT_EQ(tracker.relearned(), 1);
}

TEST(TrackerTones, NoiseAloneIsNoReasonToLearnOrToFail) {
  std::mt19937_64 generator(4);
  const std::vector<Tone> tones{{300, 1, 0.3}, {1700, 1, -0.2}};
  const auto first = frame_of(tones, 0, 0.05, generator);
  for (const LearnOptions& how : {LearnOptions{.keep = Largest{2}}, LearnOptions{.keep = AboveNoise{6}}}) {
    TrackerOptions options{.reference = false};
    options.learn = how;
    Tracker<float> tracker(learn(SignalView(first, kShape), how), options);
    for (int t = 1; t <= 60; ++t) {
      const bool silent = t > 20 && t <= 40;
      const auto x = frame_of(silent ? std::vector<Tone>{} : tones, t, 0.05, generator);
      tracker.push(SignalView(x, kShape));
    }
    EXPECT_EQ(tracker.relearned(), 0);
    EXPECT_TRUE(holds(tracker.current_template(), 300));
  }
}

TEST(TrackerTones, FramesThatRepeatAreDifferencedThoughThePlanIsDense) {
  const Shape shape{96, 128};
  const auto film = [](int t) { return test::film_frame(96, 128, t); };
  const Template tmpl = learn(SignalView(film(0), shape), {.keep = Largest{60}});
  Tracker<float> tracker(tmpl, {.accuracy = 0.02});
  ASSERT_EQ(tracker.plan().info().path, Path::dense) << "without a reference 2 % is out of reach";
  int dense = 0;
  for (int t = 1; t <= 60; ++t)
    dense += tracker.push(SignalView(film(t), shape)).action != TrackedFrame::Action::sparse;
  EXPECT_TRUE(tracker.plan().info().reference);
}

}  // namespace
}  // namespace sfft::tracker_tones_test
