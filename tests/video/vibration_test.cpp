// SPDX-License-Identifier: Apache-2.0
// Spectra of time series: drift, false alarms under white and coloured noise, and stated against true errors.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "video/vibration/detrend.hpp"
#include "video/vibration/significance.hpp"
#include "video/vibration/spectrum_peaks.hpp"

namespace sfft::video {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
using Series = std::vector<double>;

/// Noise whose samples remember a share of the one before.
Series noise(std::size_t n, double memory, double sigma, std::mt19937_64& draw) {
  std::normal_distribution<double> normal(0, sigma);
  Series series(n);
  double state = normal(draw) / std::sqrt(1 - std::min(memory, 0.99) * std::min(memory, 0.99));
  for (double& value : series) value = state = memory * state + normal(draw);
  return series;
}

PeakSearch search(const std::vector<Series>& channels, PeakOptions options = {}) {
  std::vector<Series> rest;
  for (const Series& channel : channels) rest.push_back(remove_drift(channel, 2).rest);
  return find_peaks(rest, options);
}

/// Share of noisy pairs of series in which something is found.
double false_alarms(std::size_t n, double memory, double probability, int trials, std::size_t channels = 2) {
  std::mt19937_64 draw(n + 1000 * channels);
  int found = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<Series> pair;
    for (std::size_t c = 0; c < channels; ++c) pair.push_back(noise(n, memory, c == 0 ? 1 : 0.2, draw));
    PeakOptions options;
    options.false_alarm_probability = probability;
    found += search(pair, options).peaks.empty() ? 0 : 1;
  }
  return static_cast<double>(found) / trials;
}

TEST(Vibration, NoiseSoundsTheAlarmAsOftenAsStated) {
  for (const std::size_t n : {64U, 300U, 1500U}) {
    for (const double memory : {0.0, 0.7, 1.0}) {
      const double rate = false_alarms(n, memory, 0.05, 300);
      printf("n %zu memory %.1f: %.3f\n", n, memory, rate);
      EXPECT_LE(rate, 0.09) << n << " samples, memory " << memory;
    }
  }
}

}  // namespace
}  // namespace sfft::video
