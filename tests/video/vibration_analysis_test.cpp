// SPDX-License-Identifier: Apache-2.0
// Tests what the report says about lines that light or coding may have caused.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "video/vibration/analysis.hpp"

namespace sfft::video::vibration_analysis_test {
namespace {

constexpr std::int64_t kFrames = 1000;
constexpr double kUnevenness = 2;

std::vector<double> noise(double sigma, std::mt19937_64& draw) {
  std::normal_distribution<double> normal(0, sigma);
  std::vector<double> series(kFrames);
  for (double& value : series) value = normal(draw);
  return series;
}

/// Adds a line at 30 Hz.
void add_line(std::vector<double>& series, double amplitude) {
  for (std::size_t i = 0; i < series.size(); ++i)
    series[i] += amplitude * std::cos(2 * std::numbers::pi * 0.3 * static_cast<double>(i));
}

/// Reports on a still picture of two tiles, of which the first moves at 30 Hz by `amplitude` pixels. The
/// light flickers at the same frequency by the share `light`.
VibrationReport report_of(double amplitude, double light, std::vector<std::int64_t> key_frames = {}) {
  std::mt19937_64 draw(41);
  VibrationSeries series;
  series.frames = kFrames;
  series.key_frames = std::move(key_frames);
  for (std::int64_t i = 0; i < kFrames; ++i) series.seconds.push_back(static_cast<double>(i) / 100);
  const auto part = [&] {
    RegionSeries region;
    region.region = {0, 0, 100, 100};
    region.structured = true;
    region.unevenness_px = kUnevenness;
    region.x = noise(0.01, draw);
    region.y = noise(0.01, draw);
    return region;
  };
  series.regions.push_back(part());
  series.regions[0].brightness = noise(0.1, draw);
  for (double& level : series.regions[0].brightness) level += 100;
  add_line(series.regions[0].brightness, 100 * light);
  series.tile_columns = 2;
  series.tile_rows = 1;
  series.tiles.push_back(part());
  series.tiles.push_back(part());
  add_line(series.tiles[0].x, amplitude);
  VibrationOptions options;
  options.fps = 100;
  return analyse(series, options);
}

TEST(VibrationAnalysis, WhatLightMayDoInATileIsDoubted) {
  constexpr double kLight = 0.02;
  for (const double times : {0.5, 3.0, 8.0}) {  // multiples of the largest effect of light before coding
    const VibrationReport report = report_of(times * kLight * kUnevenness, kLight);
    ASSERT_FALSE(report.elsewhere.empty()) << times;
    const VibrationPeak& peak = report.elsewhere[0].peak;
    EXPECT_NEAR(peak.frequency_hz, 30, 0.05);
    EXPECT_EQ(peak.perhaps_brightness, times < 5) << times;
    EXPECT_EQ(verdict(report).find("light") != std::string::npos, times < 5) << verdict(report);
  }
}

TEST(VibrationAnalysis, LowPeaksOfASingleTileAreDoubtedWhereFramesWereCodedFromOthers) {
  double amplitude = 1e-3;  // the smallest amplitude that is seen
  while (report_of(amplitude, 0).elsewhere.empty()) amplitude *= 1.05;
  std::vector<std::int64_t> all(kFrames);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_FALSE(report_of(amplitude, 0).elsewhere[0].peak.doubted());
  EXPECT_FALSE(report_of(amplitude, 0, all).elsewhere[0].peak.doubted());
  const VibrationReport coded = report_of(amplitude, 0, {0, 700});
  EXPECT_TRUE(coded.elsewhere[0].peak.coding);
  EXPECT_NE(verdict(coded).find("coding"), std::string::npos) << verdict(coded);
  EXPECT_FALSE(report_of(2 * amplitude, 0, {0, 700}).elsewhere[0].peak.doubted());
}

}  // namespace
}  // namespace sfft::video::vibration_analysis_test
