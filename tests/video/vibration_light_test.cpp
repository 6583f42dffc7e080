// SPDX-License-Identifier: Apache-2.0
// Tests that drawn stills under twelve kinds of light have no undoubted peak, and that drawn vibrations have
// one.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "bench/vibration/films.hpp"
#include "video/vibration/analysis.hpp"

namespace sfft::video::vibration_light_test {
namespace {

VibrationReport report_of(bench::DrawnFilm& film) {
  const std::atomic<bool> stop{false};
  const VibrationOptions options;
  const VibrationSeries series = follow(
      *film.source, options, [](std::int64_t, std::int64_t) {}, stop);
  return analyse(series, options);
}

class UnderLight : public testing::TestWithParam<int> {};

TEST_P(UnderLight, AStillHasNoUndoubtedPeak) {
  bench::DrawnFilm film = still_under(static_cast<bench::Light>(GetParam()), 2000006 + 12 + GetParam());
  const VibrationReport report = report_of(film);
  for (const VibrationPeak& peak : report.regions[0].motion.peaks)
    EXPECT_TRUE(peak.doubted()) << peak.frequency_hz << ": " << verdict(report);
  for (const auto& one : report.elsewhere)
    EXPECT_TRUE(one.peak.doubted()) << one.peak.frequency_hz << ": " << verdict(report);
}

INSTANTIATE_TEST_SUITE_P(Kinds, UnderLight, testing::Range(0, 12), [](const auto& kind) {
  return std::string(bench::kLightNames[static_cast<std::size_t>(kind.param)]);
});

TEST(VibrationLight, VibrationsAreNotDoubted) {
  for (const double amplitude : {0.05, 0.5, 1.0}) {
    for (std::size_t noise = 0; noise < bench::kNoiseLevels.size(); ++noise) {
      bench::DrawnFilm film = bench::vibrating(amplitude, noise, 5);
      const VibrationReport report = report_of(film);
      std::vector<VibrationPeak> peaks = report.regions[0].motion.peaks;
      for (const auto& one : report.elsewhere) peaks.push_back(one.peak);
      const bool found = std::ranges::any_of(peaks, [&](const VibrationPeak& peak) {
        return !peak.doubted() && std::abs(peak.frequency_hz - film.vibration.hz) < 2 / report.duration_s;
      });
      EXPECT_TRUE(found) << amplitude << " px, noise " << bench::kNoiseLevels[noise] << ": "
                         << verdict(report);
    }
  }
}

}  // namespace
}  // namespace sfft::video::vibration_light_test
