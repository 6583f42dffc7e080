// SPDX-License-Identifier: Apache-2.0
// Compares a tracker's reported errors with dense transforms on streams that are hard for its model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <set>

#include "bench/known_signals.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::tracker_errors_test {
namespace {

constexpr std::int64_t kPoints = 4096;
constexpr int kFrames = 60;

/// Tones whose values are a function of the frame, in white noise of `snr_db`.
class ToneStream {
 public:
  using Value = std::function<std::complex<double>(std::size_t tone, int frame)>;
  ToneStream(std::size_t tones, double snr_db, std::uint64_t seed) : generator_(seed) {
    std::uniform_int_distribution<std::int64_t> place(0, kPoints - 1);
    std::set<std::int64_t> chosen;
    while (chosen.size() < tones) chosen.insert(place(generator_));
    support_.assign(chosen.begin(), chosen.end());
    // Tones have amplitude 1 per sample.
    noise_ = std::sqrt(static_cast<double>(tones) * std::pow(10, -snr_db / 10) / 2);
  }

  std::vector<std::complex<float>> frame(int t, const Value& value) {
    std::vector<std::complex<double>> x(kPoints);
    for (std::size_t i = 0; i < support_.size(); ++i) {
      const std::complex<double> amplitude = value(i, t);
      for (std::int64_t m = 0; m < kPoints; ++m) {
        const double turns = static_cast<double>(support_[i] * m % kPoints) / kPoints;
        x[static_cast<std::size_t>(m)] += amplitude * std::polar(1.0, 2 * std::numbers::pi * turns);
      }
    }
    std::normal_distribution<double> normal(0, noise_);
    for (auto& sample : x) sample += std::complex<double>(normal(generator_), normal(generator_));
    return {x.begin(), x.end()};
  }
  const std::vector<std::int64_t>& support() const { return support_; }

 private:
  std::mt19937_64 generator_;
  std::vector<std::int64_t> support_;
  double noise_ = 0;
};

/// The share of frames whose true error exceeds twice the reported one.
double beyond_twice(ToneStream& stream, const ToneStream::Value& value, const TrackerOptions& options) {
  const Shape shape{kPoints};
  const auto first = stream.frame(0, value);
  const Template tmpl =
      learn(SignalView(first, shape), {.keep = Largest{static_cast<std::int64_t>(stream.support().size())}});
  Tracker<float> tracker(tmpl, options);
  int beyond = 0;
  for (int t = 1; t <= kFrames; ++t) {
    const auto x = stream.frame(t, value);
    const auto& tracked = tracker.push(SignalView(x, shape));
    const auto truth =
        Plan<double>(tracker.current_template(), {.path = Path::dense}).execute(SignalView(x, shape));
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < truth.values.size(); ++i) {
      if ((*truth.support)[i] == 0) continue;
      error += std::norm(std::complex<double>(tracked.spectrum.values[i]) - truth.values[i]);
      norm += std::norm(truth.values[i]);
    }
    beyond += std::sqrt(error) > 2 * tracked.spectrum.quality.error_l2 + 1e-6 * std::sqrt(norm);
  }
  return static_cast<double>(beyond) / kFrames;
}

std::complex<double> advancing(std::size_t tone, int frame) {
  return std::polar(1.0, static_cast<double>(frame) * (0.3 + 0.17 * static_cast<double>(tone)));
}

TEST(TrackerErrors, PhasesThatAdvanceAreNotDifferenced) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const double accuracy : {0.0, 0.05}) {
      ToneStream stream(32, 20, seed);
      EXPECT_LE(beyond_twice(stream, advancing, {.accuracy = accuracy}), 0.05) << seed << " " << accuracy;
    }
  }
}

TEST(TrackerErrors, AmplitudesMayRiseAndFallAHundredfold) {
  for (const std::uint64_t seed : {4, 5, 6}) {
    ToneStream stream(24, 30, seed);
    const auto swelling = [](std::size_t tone, int frame) {
      return advancing(tone, frame) * std::pow(100.0, std::sin(frame * 0.1));
    };
    EXPECT_LE(beyond_twice(stream, swelling, {}), 0.05) << seed;
  }
}

TEST(TrackerErrors, WhiteNoiseSettlesOnDenseWithinTenFrames) {
  const Shape shape{96, 128};
  std::mt19937 generator(3);
  std::normal_distribution<float> normal(128, 30);
  const auto frame = [&] {
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(shape.points()));
    for (std::uint8_t& pixel : pixels)
      pixel = static_cast<std::uint8_t>(std::clamp(normal(generator), 0.0F, 255.0F));
    return pixels;
  };
  const Template tmpl = learn(SignalView(frame(), shape), {.keep = Largest{150}, .reference = true});
  Tracker<float> tracker(tmpl);
  for (int t = 0; t < 40; ++t) {
    const auto& tracked = tracker.push(SignalView(frame(), shape));
    if (t < 10) continue;
    EXPECT_EQ(tracked.spectrum.path, Path::dense) << t << ": " << to_string(tracked.action);
    EXPECT_LE(tracked.spectrum.quality.relative_error, 1e-5);
  }
}

TEST(TrackerErrors, CalibrationCanBeGivenUp) {
  const auto film = [](int t) { return test::film_frame(96, 128, t); };
  const Shape shape{96, 128};
  const Template tmpl = learn(SignalView(film(0), shape), {.keep = Largest{60}, .reference = true});
  Tracker<float> with(tmpl, {.plan = {.path = Path::comb}}),
      without(tmpl, {.plan = {.path = Path::comb}, .calibrate = 0});
  for (int t = 1; t <= 12; ++t) {
    with.push(SignalView(film(t), shape));
    without.push(SignalView(film(t), shape));
  }
  EXPECT_GE(with.calibrated(), 2);
  EXPECT_EQ(without.calibrated(), 0);
}

TEST(TrackerErrors, ChecksFindTheTrueErrorAndLeaveTheAnswerAsItIs) {
  const Shape shape{96, 128};
  const auto film = [](int t) { return test::film_frame(96, 128, t); };
  const Template tmpl = learn(SignalView(film(0), shape), {.keep = Largest{60}, .reference = true});
  TrackerOptions options{.plan = {.path = Path::comb}};
  options.check = [](std::int64_t frame) { return frame % 4 == 3; };
  Tracker<float> tracker(tmpl, options);
  int sparse = 0, wanted = 0;
  for (int t = 1; t <= 80; ++t) {
    const auto pixels = film(t);
    const auto& tracked = tracker.push(SignalView(pixels, shape));
    ASSERT_EQ(tracked.check.has_value(), t % 4 == 0) << t;
    if (!tracked.check) continue;
    ++wanted;
    const Spectrum<float>& got = tracked.spectrum;
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < got.values.size(); ++i) {
      const std::int64_t flat = (*got.support)[i];
      if (flat == 0) continue;
      std::complex<double> truth = 0;  // by definition
      for (std::int64_t m = 0; m < shape.points(); ++m) {
        const double turns = static_cast<double>(flat / 128 * (m / 128) % 96) / 96 +
                             static_cast<double>(flat % 128 * (m % 128) % 128) / 128;
        truth += std::polar(static_cast<double>(pixels[static_cast<std::size_t>(m)]),
                            -2 * std::numbers::pi * turns);
      }
      error += std::norm(std::complex<double>(got.values[i]) - truth);
      norm += std::norm(truth);
    }
    const double rounding = 1e-5 * std::sqrt(norm);
    EXPECT_NEAR(tracked.check->norm_l2, std::sqrt(norm), rounding) << t;
    EXPECT_NEAR(tracked.check->error_l2, std::sqrt(error), rounding) << t << to_string(tracked.action);
    if (tracked.action != TrackedFrame::Action::sparse) continue;
    ++sparse;
    EXPECT_EQ(got.path, Path::comb);
    EXPECT_LE(tracked.check->error_l2, 2 * got.quality.error_l2) << t;
    EXPECT_GT(tracked.check->us, 0);
  }
  EXPECT_EQ(wanted, 20);
  EXPECT_GE(sparse, 15);
  // They replace the tracker's own comparisons.
  Tracker<float> alone(tmpl, {.plan = {.path = Path::comb}});
  for (int t = 1; t <= 80; ++t) alone.push(SignalView(film(t), shape));
  EXPECT_LT(tracker.calibrated(), alone.calibrated());
}

}  // namespace
}  // namespace sfft::tracker_errors_test
