// SPDX-License-Identifier: Apache-2.0
// Tests vibration of artificial recordings: a scene computed at its true position in every frame, with drift,
// flicker and noise, rounded to 8 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <random>

#include "sfft/error.hpp"
#include "video/vibration/analysis.hpp"
#include "video/vibration/vibration_report.hpp"

namespace sfft::video::vibration_recording_test {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr std::int64_t kWidth = 128, kHeight = 96;

struct Blob {
  double x, y, size, light;
};

/// The film's contents over time: the picture's position, the lamp's brightness, and the motion of a part.
struct Film {
  int frames = 160;
  double rate = 250;
  double noise = 1;
  unsigned seed = 1;
  std::function<std::pair<double, double>(double)> place = [](double) { return std::pair(0.0, 0.0); };
  std::function<double(double)> lamp = [](double) { return 1.0; };
  double turn = 0;  ///< rotation of the scene about the picture's centre, in radians per second
  std::function<double(double)> part = nullptr;  ///< x shift of the blobs around (100, 30)
  int breaks_after = -1;                         ///< the frame after which reading throws InputError
  std::string name = "film";
};

class MadeUp final : public FrameSource {
 public:
  explicit MadeUp(Film film) : film_(std::move(film)), draw_(film_.seed) {
    std::mt19937 scene(7);
    std::uniform_real_distribution<double> x(-8, kWidth + 8), y(-8, kHeight + 8), size(1.8, 5),
        light(-50, 70);
    for (int i = 0; i < 220; ++i) blobs_.push_back({x(scene), y(scene), size(scene), light(scene)});
    info_.path = film_.name;
    info_.width = kWidth;
    info_.height = kHeight;
    info_.fps = film_.rate;
  }
  const SourceInfo& info() const noexcept override { return info_; }
  bool next(Frame& frame) override {
    if (count_ == film_.breaks_after) throw InputError("the film is torn");
    if (count_ == film_.frames) return false;
    const double t = count_ / film_.rate;
    const auto [dx, dy] = film_.place(t);
    std::vector<double> light(kWidth * kHeight, 110);
    for (const Blob& blob : blobs_) {
      const bool part = film_.part && std::hypot(blob.x - 100, blob.y - 30) < 24;
      Blob turned = blob;
      const std::complex<double> middle(kWidth / 2.0, kHeight / 2.0);
      const auto place = middle + (std::complex(blob.x, blob.y) - middle) * std::polar(1.0, film_.turn * t);
      turned.x = place.real();
      turned.y = place.imag();
      draw_blob(turned, dx + (part ? film_.part(t) : 0), dy, light);
    }
    frame.width = kWidth;
    frame.height = kHeight;
    frame.seconds = t;
    frame.samples.resize(light.size());
    std::normal_distribution<double> noise(0, std::max(film_.noise, 1e-9));
    for (std::size_t i = 0; i < light.size(); ++i)
      frame.samples[i] =
          static_cast<std::byte>(std::clamp(std::lround(light[i] * film_.lamp(t) + noise(draw_)), 0L, 255L));
    ++count_;
    return true;
  }

 private:
  static void draw_blob(const Blob& blob, double dx, double dy, std::vector<double>& light) {
    const double cx = blob.x + dx;
    const double cy = blob.y + dy;
    const auto reach = static_cast<std::int64_t>(5 * blob.size) + 2;
    const auto left = std::max<std::int64_t>(0, std::lround(cx) - reach);
    const auto right = std::min<std::int64_t>(kWidth, std::lround(cx) + reach);
    std::vector<double> row;
    for (auto x = left; x < right; ++x)
      row.push_back(std::exp(-std::pow((static_cast<double>(x) - cx) / blob.size, 2) / 2));
    for (auto y = std::max<std::int64_t>(0, std::lround(cy) - reach);
         y < std::min<std::int64_t>(kHeight, std::lround(cy) + reach); ++y) {
      const double across =
          std::exp(-std::pow((static_cast<double>(y) - cy) / blob.size, 2) / 2) * blob.light;
      for (std::size_t i = 0; i < row.size(); ++i)
        light[static_cast<std::size_t>(y * kWidth + left) + i] += across * row[i];
    }
  }

  Film film_;
  std::mt19937 draw_;
  SourceInfo info_;
  std::vector<Blob> blobs_;
  int count_ = 0;
};

struct Result {
  VibrationSeries series;
  VibrationReport report;
};

Result watch(const Film& film, VibrationOptions options = {}) {
  if (options.tile_columns < 0) options.tile_columns = options.tile_rows = 0;
  MadeUp source(film);
  const std::atomic<bool> stop{false};
  Result result;
  result.series = follow(
      source, options, [](std::int64_t, std::int64_t) {}, stop);
  result.report = analyse(result.series, options);
  return result;
}

auto wave(double amplitude, double hz, double direction, double phase = 0.4) {
  return [=](double t) {
    const double s = amplitude * std::cos(kTurn * hz * t + phase);
    return std::pair(s * std::cos(direction), s * std::sin(direction));
  };
}

TEST(VibrationRecording, MeasuresKnownMotions) {
  std::mt19937 draw(11);
  std::uniform_real_distribution<double> hz(12, 115), direction(-1.4, 1.4);
  for (const double amplitude : {0.01, 0.05, 0.3, 2.0}) {
    Film film;
    film.seed = static_cast<unsigned>(1000 * amplitude);
    const double f = hz(draw);
    const double angle = direction(draw);
    film.place = wave(amplitude, f, angle);
    const Result result = watch(film);
    const auto& peaks = result.report.regions[0].motion.peaks;
    ASSERT_FALSE(peaks.empty()) << amplitude << " px at " << f << " Hz: " << verdict(result.report);
    EXPECT_NEAR(peaks[0].frequency_hz, f, 4 * peaks[0].standard_error_hz + 1e-3) << amplitude;
    EXPECT_NEAR(peaks[0].amplitude, amplitude, 3.5 * peaks[0].amplitude_error) << f << " Hz";
    EXPECT_LT(peaks[0].amplitude_error, 0.35 * amplitude);
    EXPECT_NEAR(std::abs(std::cos((peaks[0].direction_deg * std::numbers::pi / 180) - angle)), 1, 0.05);
  }
}

TEST(VibrationRecording, FollowsThePlace) {
  Film film;
  film.frames = 60;
  film.place = [](double t) { return std::pair(30 * t, 4 * std::sin(20 * t)); };  // 7 px to the right
  const Result result = watch(film);
  const RegionSeries& region = result.series.regions[0];
  EXPECT_GT(region.renewals, 0) << "a reference left behind";
  for (std::size_t i = 0; i < region.x.size(); ++i) {
    const auto [x, y] = film.place(static_cast<double>(i) / film.rate);
    EXPECT_NEAR(region.x[i], x, 0.03 + 0.03 * std::abs(x));
    EXPECT_NEAR(region.y[i], y, 0.03 + 0.03 * std::abs(y));
  }
}

TEST(VibrationRecording, ASceneThatTurnsSlowlyVibratesAsMuch) {
  Film film;
  film.frames = 600;
  film.part = [](double t) { return 0.5 * std::cos(kTurn * 31 * t); };
  const Result still = watch(film);
  film.turn = 0.05 / 2.4;  // 3 degrees within the film
  const Result turning = watch(film);
  ASSERT_FALSE(still.report.regions[0].motion.peaks.empty());
  ASSERT_FALSE(turning.report.regions[0].motion.peaks.empty());
  const auto& expected = still.report.regions[0].motion.peaks[0];
  const auto& peak = turning.report.regions[0].motion.peaks[0];
  EXPECT_NEAR(peak.frequency_hz, 31, 0.05);
  EXPECT_NEAR(peak.amplitude / expected.amplitude, 1, 0.05);
}

TEST(VibrationRecording, DriftAndFlickerAreNoVibration) {
  Film film;
  film.place = [](double t) { return std::pair(2 * t * t - t, 1.5 * t); };
  film.lamp = [](double t) { return 1 + 0.02 * std::cos(kTurn * 100 * t); };
  const Result result = watch(film);
  const RegionVibration& region = result.report.regions[0];
  EXPECT_TRUE(region.motion.peaks.empty()) << verdict(result.report);
  EXPECT_NE(verdict(result.report).find("No vibration above noise"), std::string::npos);
  ASSERT_FALSE(region.brightness.peaks.empty());
  EXPECT_NEAR(region.brightness.peaks[0].frequency_hz, 100, 0.05);
  EXPECT_NEAR(region.brightness.peaks[0].amplitude, 0.02, 0.001);
}

TEST(VibrationRecording, SeesVibrationUnderDriftAndFlicker) {
  Film film;
  film.frames = 240;
  const auto vibration = wave(0.05, 128, 0.9);
  film.place = [=](double t) {
    const auto [x, y] = vibration(t);
    return std::pair(x + 2 * t * t - t, y + 0.5 * std::sin(4 * t));
  };
  film.lamp = [](double t) { return 1 + 0.02 * std::cos(kTurn * 100 * t); };
  const Result result = watch(film);
  const auto& peaks = result.report.regions[0].motion.peaks;
  ASSERT_FALSE(peaks.empty());
  EXPECT_NEAR(peaks[0].frequency_hz, 122, 0.1) << "250 - 128";
  ASSERT_TRUE(peaks[0].alias);
  EXPECT_NEAR(peaks[0].alias->hz, 128, 0.1);
  VibrationOptions expecting;
  expecting.expect_hz = {128, 64};
  const Result told = watch(film, expecting);
  ASSERT_TRUE(told.report.regions[0].motion.peaks[0].alias);
  EXPECT_EQ(told.report.regions[0].motion.peaks[0].alias->hz, 128);
}

TEST(VibrationRecording, NoiseAloneVibratesNowhere) {
  VibrationOptions options;
  options.tile_columns = 4;
  options.tile_rows = 3;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    Film film;
    film.frames = 120;
    film.seed = seed;
    film.noise = seed;
    const Result result = watch(film, options);
    EXPECT_TRUE(result.report.regions[0].motion.peaks.empty()) << seed;
    EXPECT_TRUE(result.report.elsewhere.empty()) << seed;
    EXPECT_TRUE(result.report.regions[0].brightness.peaks.empty()) << seed;
  }
}

TEST(VibrationRecording, WhatDoesNotMoveIsKnownAsWellAsRoundingLets) {
  Film still;
  still.noise = 0;
  const Result silent = watch(still);
  const double floor = silent.report.regions[0].motion.search.noise;
  EXPECT_TRUE(silent.report.regions[0].motion.peaks.empty());
  EXPECT_TRUE(silent.report.regions[0].at_floor);
  EXPECT_NE(verdict(silent.report).find("whole levels"), std::string::npos) << verdict(silent.report);
  // Rounded noise has the variance of the noise plus that of rounding.
  Film film;
  film.noise = 0.6;
  const Result noisy = watch(film);
  const double measured = noisy.report.regions[0].motion.search.noise;
  EXPECT_NEAR(measured / floor, std::sqrt(12 * (0.36 + 1.0 / 12)), 0.7);
  EXPECT_FALSE(noisy.report.regions[0].at_floor);
}

TEST(VibrationRecording, MapShowsWhere) {
  Film film;
  film.part = [](double t) { return 0.6 * std::cos(kTurn * 40 * t); };
  VibrationOptions options;
  options.tile_columns = 4;
  options.tile_rows = 3;
  const Result result = watch(film, options);
  ASSERT_TRUE(result.report.map_hz);
  EXPECT_NEAR(*result.report.map_hz, 40, 0.1);
  ASSERT_EQ(result.report.tiles.size(), 12U);
  EXPECT_TRUE(result.report.tiles[3].moves) << "the tile at the right on top";
  EXPECT_GT(result.report.tiles[3].amplitude_px, 0.2);
  EXPECT_FALSE(result.report.tiles[8].moves) << "the tile at the left below";
  EXPECT_FALSE(result.report.tiles[4].moves);

  VibrationOptions regions;
  regions.regions = {{0, 40, 60, 50}, {80, 8, 44, 44}};
  const Result split = watch(film, regions);
  EXPECT_TRUE(split.report.regions[0].motion.peaks.empty());
  ASSERT_FALSE(split.report.regions[1].motion.peaks.empty());
  EXPECT_NEAR(split.report.regions[1].motion.peaks[0].frequency_hz, 40, 0.1);
  regions.regions = {{100, 8, 44, 44}};
  EXPECT_THROW(watch(film, regions), Error);
}

TEST(VibrationRecording, TornShortAndFlatInputsAreReported) {
  Film film;
  film.place = wave(0.3, 40, 0);
  film.breaks_after = 100;
  const Result torn = watch(film);
  EXPECT_EQ(torn.report.status, RunStatus::input_damaged);
  EXPECT_EQ(torn.report.message, "the film is torn");
  ASSERT_FALSE(torn.report.regions[0].motion.peaks.empty()) << "what was read is kept";
  EXPECT_NEAR(torn.report.regions[0].motion.peaks[0].frequency_hz, 40, 0.2);
  film.breaks_after = -1;
  film.frames = 20;
  const Result brief = watch(film);
  EXPECT_FALSE(brief.report.regions[0].motion.search.searched);
  ASSERT_EQ(brief.report.warnings.size(), 1U);
  EXPECT_NE(brief.report.warnings[0].find("too few"), std::string::npos);
  film.frames = 0;
  EXPECT_EQ(watch(film).report.status, RunStatus::input_damaged);
  film.frames = 40;
  film.noise = 0;
  film.lamp = [](double) { return 0.0; };
  const Result black = watch(film);
  EXPECT_NE(verdict(black.report).find("no structure"), std::string::npos);
}

TEST(VibrationRecording, SilenceOfWhatCouldNotBeFollowedIsNone) {
  Film film;
  std::mt19937 random(4);
  std::uniform_real_distribution<double> anywhere(-300, 300);
  film.place = [&](double) { return std::pair(anywhere(random), anywhere(random)); };
  const Result result = watch(film);
  const RegionVibration& region = result.report.regions[0];
  EXPECT_TRUE(region.motion.peaks.empty());
  EXPECT_FALSE(region.motion.search.searched);
  EXPECT_LT(region.followed, film.frames / 2);
  EXPECT_NE(verdict(result.report).find("cannot be said"), std::string::npos);
}

TEST(VibrationRecording, ReportsAreSafeAndWhole) {
  Film film;
  film.frames = 64;
  film.place = wave(0.3, 40, 0);
  film.name = "<script>alert('x')</script>\x1b[31m";
  VibrationOptions options;
  options.tile_columns = options.tile_rows = 2;
  const Result result = watch(film, options);
  const std::string page = vibration_page(result.series, result.report);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_NE(page.find("Where it vibrates"), std::string::npos);
  const std::string json = vibration_json(result.report);
  for (const char* key : {"\"vibration\"", "\"motion\"", "\"brightness\"", "\"peaks\"", "\"frequency_hz\"",
                          "\"standard_error_hz\"", "\"amplitude_px\"", "\"alias_of_hz\""})
    EXPECT_NE(json.find(key), std::string::npos) << key;
  const std::string csv = vibration_csv(result.series, result.report);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 65);
  EXPECT_EQ(vibration_summary(result.report).find('\x1b'), std::string::npos);
  EXPECT_EQ(vibration_picture(result.report).rfind("<svg", 0), 0U);
}

}  // namespace
}  // namespace sfft::video::vibration_recording_test
