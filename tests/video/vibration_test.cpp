// SPDX-License-Identifier: Apache-2.0
// Tests the mathematics of vibration: drift, false alarms under white and coloured noise, stated against true
// errors, aliases, and clocks.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "video/vibration/analysis.hpp"
#include "video/vibration/spectrum_peaks.hpp"
#include "video/vibration/time_series.hpp"

namespace sfft::video::vibration_test {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
using Series = std::vector<double>;

/// Noise whose samples contain the share `memory` of the previous one; 1 makes a random walk.
Series noise(std::size_t n, double memory, double sigma, std::mt19937_64& draw) {
  std::normal_distribution<double> normal(0, sigma);
  const double settled = std::min(memory, 0.99);
  double state = normal(draw) / std::sqrt(1 - settled * settled);
  Series series(n);
  for (double& value : series) value = state = memory * state + normal(draw);
  return series;
}

void add_wave(Series& series, double cycles_per_sample, double amplitude, double phase) {
  for (std::size_t i = 0; i < series.size(); ++i)
    series[i] += amplitude * std::cos(kTurn * cycles_per_sample * static_cast<double>(i) + phase);
}

PeakSearch search(const std::vector<Series>& channels, const PeakOptions& options = {}) {
  std::vector<Series> rest;
  for (const Series& channel : channels) rest.push_back(remove_drift(channel, 2).rest);
  return find_peaks(rest, options);
}

TEST(Vibration, NoiseSoundsNoMoreAlarmsThanStated) {
  constexpr int kTrials = 150;
  for (const std::size_t channels : {1U, 2U}) {
    for (const double memory : {0.0, 0.7, 1.0}) {
      std::mt19937_64 draw(17);
      int found = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<Series> series;
        const std::size_t n = trial % 3 == 0 ? 60 : trial % 3 == 1 ? 250 : 700;
        for (std::size_t c = 0; c < channels; ++c) series.push_back(noise(n, memory, c == 0 ? 1 : 0.2, draw));
        PeakOptions options;
        options.false_alarm_probability = 0.05;
        found += search(series, options).peaks.empty() ? 0 : 1;
      }
      // At most 7.5 are expected; one of 100 such tests finds 15 or more.
      EXPECT_LT(found, 15) << channels << " channels, memory " << memory;
    }
  }
}

TEST(Vibration, FalseAlarmsFollowTheExtremeValueDistribution) {
  const SearchedBand one{1, 0};
  EXPECT_NEAR(false_alarm_probability(10, 1e9, one), std::exp(-10), 1e-9)
      << "a single frequency, known floor";
  const SearchedBand many{1, 1000};
  EXPECT_NEAR(false_alarm_probability(20, 1e9, many), std::exp(-20) * (1 + 1000 * std::sqrt(20)), 1e-9);
  EXPECT_GT(false_alarm_probability(20, 30, many), false_alarm_probability(20, 1e9, many))
      << "a floor that is not known well";
  for (const double p : {1e-2, 1e-4}) {
    const double height = significant_height(p, 50, many);
    EXPECT_NEAR(false_alarm_probability(height, 50, many), p, 1e-6 * p);
  }
}

TEST(Vibration, StandardErrorsAreTrue) {
  constexpr int kTrials = 250;
  for (const double memory : {0.0, 0.8}) {
    std::mt19937_64 draw(5);
    std::uniform_real_distribution<double> where(0.03, 0.45), phase(0, kTurn);
    double frequency = 0, amplitude = 0;
    int counted = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      const std::size_t n = 200 + 2 * static_cast<std::size_t>(trial);
      std::vector<Series> series{noise(n, memory, 1, draw), noise(n, memory, 1, draw)};
      const double f = where(draw);
      add_wave(series[0], f, 1.5, phase(draw));
      add_wave(series[1], f, 0.7, phase(draw));
      const PeakSearch found = search(series);
      if (found.peaks.empty()) continue;
      const Peak& peak = found.peaks[0];
      ++counted;
      frequency += std::pow((peak.frequency_hz - f) / peak.frequency_error_hz, 2);
      amplitude += std::pow((std::abs(peak.amplitude[0]) - 1.5) / peak.amplitude_error[0], 2);
    }
    EXPECT_GT(counted, 0.7 * kTrials) << "memory " << memory;
    // The root of a mean of 200 squares is right to 5 %; the floor is less exact if the noise has a slope.
    for (const double ratio : {std::sqrt(frequency / counted), std::sqrt(amplitude / counted)}) {
      EXPECT_GT(ratio, 0.75) << "memory " << memory;
      EXPECT_LT(ratio, 1.3) << "memory " << memory;
    }
  }
}

TEST(Vibration, StandardErrorsOfShortClipsCover) {
  constexpr int kTrials = 1000;
  for (const double drift : {0.0, 3.0}) {
    std::mt19937_64 draw(23);
    std::uniform_real_distribution<double> share(0, 1);
    int counted = 0;
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto n =
          static_cast<std::size_t>(75 + 75 * share(draw));  // 0.3 to 0.6 s at 250 frames per second
      std::vector<Series> series{noise(n, 0, 1, draw), noise(n, 0, 1, draw)};
      for (std::size_t i = 0; i < n; ++i) {
        const double place = static_cast<double>(i) / static_cast<double>(n);
        series[0][i] += drift * std::cos(2.5 * place + trial);
      }
      const double f = (8 + 20 * share(draw)) / static_cast<double>(n);
      add_wave(series[0], f, 1.5 + 8 * share(draw), kTurn * share(draw));
      const PeakSearch found = search(series);
      if (found.peaks.empty()) continue;
      ++counted;
      covered += std::abs(found.peaks[0].frequency_hz - f) <= 2 * found.peaks[0].frequency_error_hz ? 1 : 0;
    }
    EXPECT_GT(counted, 0.9 * kTrials);
    // A normal distribution has 0.954; a share of 1000 is right to 0.007.
    EXPECT_GT(covered, 0.94 * counted) << drift;
  }
}

TEST(Vibration, DriftHidesNothing) {
  std::mt19937_64 draw(3);
  for (int trial = 0; trial < 10; ++trial) {
    std::vector<Series> series{noise(900, 1, 0.002, draw), noise(900, 0, 0.01, draw)};
    for (std::size_t i = 0; i < 900; ++i) {
      const double t = static_cast<double>(i) / 900;
      series[0][i] += 5 * t * t - 3 * std::sin(4 * t);
    }
    add_wave(series[0], 0.128, 0.02, 1);
    PeakOptions options;
    options.rate_hz = 1000;
    const PeakSearch found = search(series, options);
    ASSERT_FALSE(found.peaks.empty());
    EXPECT_NEAR(found.peaks[0].frequency_hz, 128, 0.1);
    EXPECT_NEAR(std::abs(found.peaks[0].amplitude[0]), 0.02, 4 * found.peaks[0].amplitude_error[0]);
  }
}

TEST(Vibration, TellsNeighboursApart) {
  std::mt19937_64 draw(4);
  std::vector<Series> series{noise(1000, 0, 0.1, draw), noise(1000, 0, 0.1, draw)};
  add_wave(series[0], 0.100, 1, 0.3);
  add_wave(series[1], 0.106, 0.5, 1.3);
  add_wave(series[0], 0.300, 0.2, 2.3);
  const PeakSearch found = search(series);
  ASSERT_EQ(found.peaks.size(), 3U);
  const double truth[] = {0.100, 0.106, 0.300};
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(found.peaks[i].frequency_hz, truth[i], 5 * found.peaks[i].frequency_error_hz);
}

TEST(Vibration, SilenceIsSilent) {
  const std::vector<Series> nothing{Series(500, 0.25), Series(500, -1)};
  const PeakSearch found = search(nothing);
  EXPECT_TRUE(found.searched);
  EXPECT_TRUE(found.peaks.empty());
  EXPECT_FALSE(search({Series(kMinSamples - 1, 1)}).searched);
  EXPECT_TRUE(search({Series(kMinSamples, 1)}).peaks.empty());
}

TEST(Vibration, WildSamplesHardlyMatter) {
  std::mt19937_64 draw(8);
  Series series = noise(400, 0, 0.01, draw);
  add_wave(series, 0.2, 0.1, 0);
  const Series clean = series;
  series[100] += 50;
  series[250] = std::nan("");
  const Detrended with = remove_drift(series, 2);
  const Detrended without = remove_drift(clean, 2);
  EXPECT_EQ(with.outliers, 2U);
  EXPECT_EQ(without.outliers, 0U);
  for (std::size_t i = 0; i < 400; ++i) EXPECT_NEAR(with.drift[i], without.drift[i], 0.02);
  const PeakSearch found = search({series});
  ASSERT_FALSE(found.peaks.empty());
  EXPECT_NEAR(found.peaks[0].frequency_hz, 0.2, 1e-4);
}

TEST(Vibration, FoldsAndUnfolds) {
  EXPECT_DOUBLE_EQ(folded(128, 250), 122);
  EXPECT_DOUBLE_EQ(folded(100, 30), 10);
  EXPECT_DOUBLE_EQ(folded(40, 100), 40);
  EXPECT_EQ(alias_candidates(122, 250, 3), (std::vector<double>{128, 372, 378}));
  const std::vector<KnownFrequency> none;
  const auto near_half = likely_alias(122.03, 0.01, 0.1, 250, none, none);
  ASSERT_TRUE(near_half);
  EXPECT_NEAR(near_half->hz, 127.97, 1e-9);
  EXPECT_FALSE(likely_alias(64, 0.01, 0.1, 250, none, none));
  const std::vector<KnownFrequency> fork{{64.03, 0.01, "a peak"}};
  const auto harmonic = likely_alias(121.94, 0.01, 0.1, 250, none, fork);
  ASSERT_TRUE(harmonic);
  EXPECT_NEAR(harmonic->hz, 128.06, 1e-9);
  EXPECT_FALSE(likely_alias(128.06, 0.01, 0.1, 500, none, fork)) << "an honest harmonic";
  const std::vector<KnownFrequency> lamp{{100, 0.1, "mains light"}, {300, 0.3, "mains light"}};
  const auto light = likely_alias(10, 0.01, 0.1, 30, lamp, none);
  ASSERT_TRUE(light);
  EXPECT_EQ(light->hz, 100);
  EXPECT_FALSE(likely_alias(100, 0.01, 0.1, 500, lamp, none)) << "shows where it is";
}

TEST(Vibration, ClocksAreBelievedInTurn) {
  Series steady, variable, milliseconds;
  for (int i = 0; i < 200; ++i) {
    steady.push_back(i / 50.0);
    milliseconds.push_back(std::round(1000 * i / 29.97) / 1000);
    variable.push_back(i / 50.0 + (i % 10 > 6 ? 0.015 : 0));
  }
  EXPECT_EQ(frame_clock(1000, 50, steady).rate_hz, 1000);
  EXPECT_EQ(frame_clock(0, 50, steady).rate_hz, 50);
  EXPECT_STREQ(frame_clock(0, 50, steady).source, "container");
  EXPECT_EQ(frame_clock(0, 29.97, milliseconds).rate_hz, 29.97);
  EXPECT_TRUE(frame_clock(0, 29.97, milliseconds).steady);
  const FrameClock wrong = frame_clock(0, 25, steady);
  EXPECT_NEAR(wrong.rate_hz, 50, 1e-9);
  EXPECT_EQ(wrong.warnings.size(), 1U);
  EXPECT_TRUE(frame_clock(1000, 50, steady).warnings.empty());
  const FrameClock taken_for_even = frame_clock(1000, 50, variable);
  EXPECT_EQ(taken_for_even.rate_hz, 1000);
  EXPECT_EQ(taken_for_even.warnings.size(), 1U);
  const FrameClock varies = frame_clock(0, 50, variable);
  EXPECT_FALSE(varies.steady);
  EXPECT_EQ(varies.warnings.size(), 1U);
  EXPECT_EQ(frame_clock(0, 240, 50, steady).rate_hz, 240);  // slow motion
  EXPECT_STREQ(frame_clock(0, 240, 50, steady).source, "capture");
  EXPECT_EQ(frame_clock(0, 50.2, 50, steady).rate_hz, 50);  // the capture rate
  EXPECT_EQ(frame_clock(120, 240, 50, steady).rate_hz, 120);
  const FrameClock unknown = frame_clock(0, 0, Series(10, std::nan("")));
  EXPECT_EQ(unknown.rate_hz, 1);
  EXPECT_EQ(unknown.warnings.size(), 1U);
  Series line;
  for (const double t : variable) line.push_back(3 * t);
  const Series even = at_even_times(line, variable, 50);
  for (std::size_t i = 0; i < even.size(); ++i) EXPECT_NEAR(even[i], 3 * static_cast<double>(i) / 50, 1e-9);
}

}  // namespace
TEST(CodingLinesTest, KeyFramesThatComeRegularlyHaveAPeriod) {
  std::vector<std::int64_t> keys;
  for (std::int64_t i = 0; i < 240; i += 12) keys.push_back(i);
  EXPECT_EQ(coding_period(keys, 240), 12);
  keys[3] += 5;  // a cut has moved this one
  EXPECT_EQ(coding_period(keys, 240), 12);
  EXPECT_EQ(coding_period(keys, 90), 0);  // too few cycles
  EXPECT_EQ(coding_period(std::vector<std::int64_t>{0, 10, 31, 45, 82, 90}, 900), 0);
  std::vector<std::int64_t> all(240);  // with intra coding every frame is a key frame
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(coding_period(all, 240), 0);
}

VibrationPeak line_at(double hz, double standard_error, double amplitude) {
  VibrationPeak line;
  line.frequency_hz = hz;
  line.standard_error_hz = standard_error;
  line.amplitude = amplitude;
  return line;
}

TEST(CodingLinesTest, MultiplesOfTheirRateAreMarkedUnlessOneStandsOut) {
  const auto peak = [](double hz, double amplitude) { return line_at(hz, 0.01, amplitude); };
  std::vector<VibrationPeak> peaks{peak(20.83, 0.007), peak(41.67, 0.004), peak(62.5, 0.003),
                                   peak(64.03, 0.002)};
  mark_coding(peaks, 1 / 12.0, {}, 250, 0.1, 0.001);
  EXPECT_TRUE(peaks[0].coding && peaks[1].coding && peaks[2].coding);
  EXPECT_FALSE(peaks[3].coding);
  // A machine may also vibrate at a multiple.
  peaks[2].amplitude = 0.05;
  mark_coding(peaks, 1 / 12.0, {}, 250, 0.1, 0.001);
  EXPECT_FALSE(peaks[2].coding);
  std::vector<VibrationPeak> alone{peak(62.5, 0.05)};
  mark_coding(alone, 1 / 12.0, {}, 250, 0.1, 0.001);
  EXPECT_FALSE(alone[0].coding);
}

TEST(CodingLinesTest, ADriftThatLagsUntilTheKeyFrameLeavesASawtooth) {
  const auto peak = [](double hz, double amplitude) { return line_at(hz, 0.005, amplitude); };
  // The first harmonic is much stronger than the others, but not stronger than in a sawtooth.
  std::vector<VibrationPeak> peaks{peak(10, 0.05), peak(15.4, 0.02), peak(20, 0.024)};
  for (int m = 3; m <= 12; ++m) peaks.push_back(peak(10 * m, 0.05 / m));
  mark_coding(peaks, 1 / 25.0, {}, 250, 0.1, 0.001);
  EXPECT_TRUE(peaks[0].coding);
  EXPECT_FALSE(peaks[1].coding);
  // Drift back and forth splits the lines; a single line has to be weak.
  std::vector<VibrationPeak> split{peak(9.7, 0.05), peak(20.3, 0.025), peak(29.7, 0.017), peak(47, 0.01)};
  mark_coding(split, 1 / 25.0, {}, 250, 0.1, 0.001);
  EXPECT_TRUE(split[0].coding && split[1].coding && split[2].coding);
  EXPECT_FALSE(split[3].coding);
  std::vector<VibrationPeak> one{peak(40.3, 0.01)};
  mark_coding(one, 1 / 25.0, {}, 250, 0.1, 0.001);
  EXPECT_FALSE(one[0].coding);
  // Every second group is alike.
  std::vector<VibrationPeak> halves{peak(5, 0.04), peak(15, 0.014), peak(25, 0.009)};
  mark_coding(halves, 1 / 25.0, {}, 250, 0.1, 0.001);
  EXPECT_TRUE(halves[0].coding && halves[1].coding && halves[2].coding);
}

TEST(CodingLinesTest, WhatDriftSplitsOffHidesNoSawtooth) {
  // A synthetic tuning fork at 500 frames per second, which drifts by 3 pixels. Every 12th frame is a key
  // frame.
  std::vector<VibrationPeak> peaks;
  for (int n = 1; n <= 5; ++n) {
    peaks.push_back(line_at(n * 500 / 12.0, 0.08, 0.026 / n));
    for (const double off : {-3.4, 3.4}) peaks.push_back(line_at(n * 500 / 12.0 + off, 0.57, 0.003 / n));
  }
  mark_coding(peaks, 1 / 12.0, {}, 500, 0.26, 0.0006);
  for (const VibrationPeak& peak : peaks) EXPECT_TRUE(peak.coding) << peak.frequency_hz;
}

TEST(SpectrumPeaksTest, AnExpectedFrequencyNeedsLessEvidence) {
  std::mt19937 random(21);
  std::normal_distribution<double> normal;
  const auto series = [&](double amplitude) {
    std::vector<std::vector<double>> channels(2, std::vector<double>(1200));
    for (auto& channel : channels)
      for (double& value : channel) value = normal(random);
    for (std::size_t i = 0; i < 1200; ++i)
      channels[1][i] += amplitude * std::sin(2 * std::numbers::pi * 62 * static_cast<double>(i) / 240);
    return channels;
  };
  PeakOptions options;
  options.rate_hz = 240;
  int blind = 0;
  int told = 0;
  int wrong = 0;
  for (int i = 0; i < 40; ++i) {
    const auto weak = series(0.19);
    options.expected_hz.clear();
    blind += find_peaks(weak, options).peaks.empty() ? 0 : 1;
    options.expected_hz = {62.05};
    for (const Peak& peak : find_peaks(weak, options).peaks)
      told += std::abs(peak.frequency_hz - 62) < 0.2 ? 1 : 0;
    wrong += static_cast<int>(find_peaks(series(0), options).peaks.size());
  }
  EXPECT_GT(told, blind + 5);
  EXPECT_LE(wrong, 1);
}

TEST(CodingLinesTest, TheOrderOfKindsOfFramesHasLines) {
  EXPECT_TRUE(coding_rhythm(std::vector<bool>(300, false)).empty());
  EXPECT_TRUE(coding_rhythm({true, false, true}).empty());  // too few
  std::vector<bool> between(800);
  for (std::size_t i = 0; i < between.size(); ++i) between[i] = i % 4 != 0;  // P B B B
  const std::vector<CodingBand> bands = coding_rhythm(between);
  ASSERT_EQ(bands.size(), 2U);
  EXPECT_NEAR(bands[0].lowest, 0.25, 0.003);
  EXPECT_NEAR(bands[0].highest, 0.25, 0.003);
  EXPECT_NEAR(bands[1].highest, 0.5, 0.003);
  std::vector<VibrationPeak> peaks(2);
  peaks[0].frequency_hz = 62.4;
  peaks[1].frequency_hz = 64.0;
  for (VibrationPeak& peak : peaks) peak.amplitude = 0.003;
  mark_coding(peaks, 0, bands, 250, 0.1, 0.001);
  EXPECT_TRUE(peaks[0].coding);
  EXPECT_FALSE(peaks[1].coding);

  // An encoder chooses the groups: three in four have three such frames, the others one or two.
  std::mt19937 random(4);
  between.clear();
  while (between.size() < 800) {
    const unsigned length = random() % 4 == 0 ? 1 + random() % 2 : 3;
    between.push_back(false);
    between.insert(between.end(), length, true);
  }
  const std::vector<CodingBand> broad = coding_rhythm(between);
  ASSERT_FALSE(broad.empty());
  for (const CodingBand& band : broad) EXPECT_LT(band.highest - band.lowest, 0.05);
}

}  // namespace sfft::video::vibration_test
