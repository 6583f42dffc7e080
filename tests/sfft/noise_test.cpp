// SPDX-License-Identifier: Apache-2.0
// Tests plans in white noise: errors reach the least-squares floor, and standard errors have the claimed
// coverage.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "bench/known_signals.hpp"
#include "sfft/sfft.hpp"

namespace sfft::noise_test {
namespace {

struct Tally {
  double squares = 0, floor = 0, tail = 0, tail_truth = 0;
  std::int64_t covered = 0, parts = 0;
};

/// Transforms noisy copies of a sparse signal at its support, with a template learned from another noisy
/// copy.
Tally run(const Shape& shape, bool real, std::int64_t k, Path path, double max_samples, int frames) {
  Tally tally;
  for (int seed = 1; seed <= frames; ++seed) {
    const auto signal = test::SparseSignal::random(shape, real, k, static_cast<unsigned>(seed));
    const auto clean = signal.samples();
    const double sigma = std::sqrt(static_cast<double>(k) * 0.02);  // about 20 dB below the signal
    std::mt19937 random(static_cast<unsigned>(seed));
    std::normal_distribution<double> noise(0, real ? sigma : sigma / std::numbers::sqrt2);
    const auto noisy = [&] {
      std::vector<std::complex<double>> x = clean;
      for (auto& sample : x) sample += std::complex<double>(noise(random), real ? 0 : noise(random));
      return x;
    };
    const auto as_real = [](const std::vector<std::complex<double>>& x) {
      std::vector<float> re;
      for (const auto& sample : x) re.push_back(static_cast<float>(sample.real()));
      return re;
    };
    const auto first = noisy();
    const auto frame = noisy();
    const Template learned = real ? learn(SignalView(as_real(first), shape), {.keep = Largest{k}})
                                  : learn(SignalView(first, shape), {.keep = Largest{k}});
    const Plan<float> plan(
        learned, {.max_samples = max_samples > 0 ? std::optional(max_samples) : std::nullopt, .path = path});
    const Spectrum<float> spectrum =
        real ? plan.execute(SignalView(as_real(frame), shape)) : plan.execute(SignalView(frame, shape));
    const auto points = static_cast<double>(shape.points());
    for (std::size_t i = 0; i < spectrum.values.size(); ++i) {
      const std::int64_t f = (*spectrum.support)[i];
      const auto at = std::find(signal.support.begin(), signal.support.end(), f);
      const auto mirrored = std::find(signal.support.begin(), signal.support.end(), test::negated(shape, f));
      std::complex<double> truth = 0;
      if (at != signal.support.end()) {
        truth = signal.values[static_cast<std::size_t>(at - signal.support.begin())];
      } else {
        EXPECT_TRUE(real && mirrored != signal.support.end());
        truth = std::conj(signal.values[static_cast<std::size_t>(mirrored - signal.support.begin())]);
      }
      const std::complex<double> miss = std::complex<double>(spectrum.values[i]) - truth;
      tally.squares += std::norm(miss);
      const double two_sigma = 2 * spectrum.standard_error[i] / std::numbers::sqrt2;
      tally.covered += (std::abs(miss.real()) <= two_sigma) + (std::abs(miss.imag()) <= two_sigma);
      tally.parts += 2;
    }
    // m samples and orthogonal columns: E|error|² = N² sigma² / m per coefficient.
    tally.floor +=
        static_cast<double>(k) * points * points * sigma * sigma / static_cast<double>(plan.info().samples);
    tally.tail += spectrum.quality.tail_energy;
    tally.tail_truth += (points - static_cast<double>(real ? 2 * k : k)) * points * sigma * sigma;
  }
  return tally;
}

/// `tail_bound`: four standard deviations of the mean over these frames and empty buckets.
void expect_honest(const Tally& tally, double tail_bound) {
  EXPECT_GE(static_cast<double>(tally.covered), 0.93 * static_cast<double>(tally.parts));
  EXPECT_LE(static_cast<double>(tally.covered), 0.97 * static_cast<double>(tally.parts));
  EXPECT_NEAR(tally.tail / tally.tail_truth, 1, tail_bound);
}

TEST(WhiteNoise, CombReachesTheFloorAndCoversIt) {
  const Tally tally = run(Shape{1 << 16}, false, 64, Path::comb, 0.03, 20);
  EXPECT_LE(std::sqrt(tally.squares / tally.floor), 1.15);
  EXPECT_GE(std::sqrt(tally.squares / tally.floor), 0.85);
  expect_honest(tally, 0.05);
}

TEST(WhiteNoise, CombOnRealImages) {
  const Tally tally = run(Shape{160, 192}, true, 50, Path::comb, 0.1, 20);
  EXPECT_LE(std::sqrt(tally.squares / tally.floor), 1.15);
  EXPECT_GE(std::sqrt(tally.squares / tally.floor), 0.85);
  expect_honest(tally, 0.05);
}

TEST(WhiteNoise, FlatWindowCoversItsError) {
  expect_honest(run(Shape{65537}, false, 40, Path::flat_window, 0.5, 25),
                0.2);  // about sixteen probes per frame
}

}  // namespace
}  // namespace sfft::noise_test
