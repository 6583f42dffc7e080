// SPDX-License-Identifier: Apache-2.0
// Resamples series at even times, removes drift and finds lines. Then names aliases, and compares motion with
// brightness.
#include "video/vibration/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "kernels/base/math/quantiles.hpp"
#include "video/vibration/time_series.hpp"

namespace sfft::video {

namespace {

constexpr double kDriftPeriods = 2;  ///< in the whole recording; slower motion is drift
constexpr double kMinPeriods = 3;    ///< in the whole recording; faster motion is searched
constexpr double kSlowPeriods = 10;  ///< with fewer, motion is sway if the noise rises towards drift
constexpr double kFollowed = 0.5;    ///< min. share of followed frames for "nothing moves"
constexpr double kMinNoise = 1e-5;   ///< pixels; smaller values are rounding
/// Relative error of motion amplitudes, caused by noise in the reference and by frequencies outside the
/// template. Measured with pictures that were moved by known amounts.
constexpr double kScaleError = 0.05;
constexpr double kMinFlicker = 2e-4;  ///< share of the mean, per frame; smaller changes come from coding
/// Max. ratio of a tile's flicker to that of the whole picture: encoders omit flicker in some blocks and
/// exaggerate it in others. Measured with synthetic light on coded scenes.
constexpr double kCoarseLight = 5;

/// Describes the ellipse that two components trace.
void describe_path(const Peak& line, double pixel_aspect, VibrationPeak& peak) {
  const std::complex<double> x = pixel_aspect * line.amplitude[0];
  const std::complex<double> y = line.amplitude[1];
  const double sum = std::norm(x) + std::norm(y);
  const double difference = std::abs(x * x + y * y);
  const double major = std::sqrt(0.5 * (sum + difference));
  const double minor = std::sqrt(std::max(0.0, 0.5 * (sum - difference)));
  const double angle = 0.5 * std::atan2(2 * (x * std::conj(y)).real(), std::norm(x) - std::norm(y));
  peak.amplitude = major;
  peak.roundness = major > 0 ? minor / major : 0;
  peak.direction_deg = angle * 180 / std::numbers::pi;
  peak.x = std::abs(line.amplitude[0]);
  peak.y = std::abs(y);
  peak.phase = std::arg(y * std::conj(x));
  const double noise = std::hypot(std::cos(angle) * pixel_aspect * line.amplitude_error[0],
                                  std::sin(angle) * line.amplitude_error[1]);
  peak.certainty = noise > 0 ? major / noise : 0;
  peak.amplitude_error = std::hypot(noise, kScaleError * major);
}

VibrationPeak describe(const Peak& line, double duration, double pixel_aspect) {
  VibrationPeak peak;
  peak.frequency_hz = line.frequency_hz;
  peak.standard_error_hz = line.frequency_error_hz;
  peak.false_alarm_probability = line.false_alarm_probability;
  peak.signal_to_noise = std::sqrt(line.height);
  if (line.amplitude.size() == 2) {
    describe_path(line, pixel_aspect, peak);
  } else {
    peak.amplitude = std::abs(line.amplitude[0]);
    peak.amplitude_error = line.amplitude_error[0];
    peak.certainty = peak.amplitude_error > 0 ? peak.amplitude / peak.amplitude_error : 0;
  }
  constexpr double kSlope = 3;
  peak.slow = line.frequency_hz * duration < kSlowPeriods && line.floor_ratio > kSlope;
  return peak;
}

/// Sorts the most certain peaks first, and doubtful vibrations last. Amplitude is no criterion, because drift
/// has large amplitudes, but equally large ones at neighbouring frequencies.
bool before(const VibrationPeak& a, const VibrationPeak& b) {
  const auto doubt = [](const VibrationPeak& peak) {
    return peak.slow ? 2 : peak.coding || peak.perhaps_brightness ? 1 : 0;
  };
  return doubt(a) != doubt(b) ? doubt(a) < doubt(b) : a.certainty > b.certainty;
}

/// Frequencies of lamps on 50 and 60 Hz mains, which deviate by a few tenths of a hertz at the harmonics.
std::vector<KnownFrequency> mains_light() {
  std::vector<KnownFrequency> known;
  for (const double base : {100.0, 120.0}) {
    for (int m = 1; m <= 3; ++m)
      known.push_back({m * base, 0.001 * m * base,
                       fmt::format("light on {:.0f} Hz mains, {:.0f} Hz,", base / 2, m * base)});
  }
  return known;
}

class Analysis {
 public:
  Analysis(const VibrationSeries& series, const VibrationOptions& options, VibrationReport& report)
      : series_(series), options_(options), report_(report) {
    for (const double hz : options.expect_hz)
      expected_.push_back({hz, 0, fmt::format("the expected {:.6g} Hz", hz)});
    const std::int64_t period = coding_period(series.key_frames, series.frames);
    if (period > 0) coding_spacing_ = 1 / static_cast<double>(period);
    coding_rhythm_ = coding_rhythm(series.between);
  }

  Signal signal(std::vector<std::vector<double>> channels, double probability, double min_noise) const {
    Signal result;
    std::vector<bool> present;  // used only if frames are not evenly spaced
    for (std::vector<double>& channel : channels) {
      if (!report_.clock.steady) {
        channel = at_even_times(channel, series_.seconds, report_.clock.rate_hz);
        present.resize(channel.size(), true);
        for (std::size_t i = 0; i < channel.size(); ++i) present[i] = present[i] && std::isfinite(channel[i]);
      }
      const auto absent = static_cast<std::size_t>(std::ranges::count(present, false));
      Detrended part = remove_drift(channel, kDriftPeriods);
      part.outliers -= std::min(part.outliers, absent);
      result.drift_range.push_back(part.drift_range);
      result.outliers = std::max(result.outliers, part.outliers);
      result.drift.push_back(std::move(part.drift));
      result.rest.push_back(std::move(part.rest));
    }
    PeakOptions search;
    search.rate_hz = report_.clock.rate_hz;
    search.false_alarm_probability = probability;
    search.min_periods = kMinPeriods;
    search.min_noise = min_noise;
    search.present = std::move(present);
    for (const KnownFrequency& one : expected_)
      search.expected_hz.push_back(folded(one.hz, report_.clock.rate_hz));
    result.search = find_peaks(result.rest, search);
    for (const Peak& line : result.search.peaks)
      result.peaks.push_back(describe(line, report_.duration_s, series_.input.pixel_aspect));
    mark_coding(result.peaks, coding_spacing_, coding_rhythm_, report_.clock.rate_hz, tolerance(),
                result.search.detectable);
    std::ranges::stable_sort(result.peaks, before);
    return result;
  }

  void name_aliases(std::vector<VibrationPeak>& peaks, bool brightness) const {
    std::vector<KnownFrequency> known = expected_;
    if (brightness) {
      const std::vector<KnownFrequency> mains = mains_light();
      known.insert(known.end(), mains.begin(), mains.end());
    }
    std::vector<KnownFrequency> stronger;
    for (VibrationPeak& peak : peaks) {
      peak.alias_candidates_hz = alias_candidates(peak.frequency_hz, report_.clock.rate_hz);
      peak.alias = likely_alias(peak.frequency_hz, peak.standard_error_hz, tolerance(), report_.clock.rate_hz,
                                known, stronger);
      if (stronger.empty())
        stronger.push_back({peak.frequency_hz, peak.standard_error_hz, "the strongest peak"});
    }
  }

  /// Quantisation to whole levels limits the accuracy, even if frames repeat bit for bit.
  static double min_noise(const RegionSeries& from) { return std::max(kMinNoise, from.rounding_px); }

  /// Whether the places scatter less than min_noise().
  static bool at_floor(const Signal& motion, const RegionSeries& from) {
    double squares = 0;
    std::size_t count = 0;
    for (const std::vector<double>& channel : motion.rest) {
      for (const double value : channel) squares += value * value;
      count += channel.size();
    }
    const double floor = min_noise(from);
    return squares <= floor * floor * static_cast<double>(count);
  }

  bool same(const VibrationPeak& a, const VibrationPeak& b) const {
    return std::abs(a.frequency_hz - b.frequency_hz) <=
           std::max(0.5 / report_.duration_s, 3 * std::hypot(a.standard_error_hz, b.standard_error_hz));
  }

  /// Compares motions with light at the same frequency. Sorts motions that light explains behind the others.
  void hold_against(const std::vector<VibrationPeak>& lights, double unevenness_px,
                    std::vector<VibrationPeak>& motions) const {
    for (VibrationPeak& motion : motions) {
      for (const VibrationPeak& light : lights) {
        if (!same(motion, light)) continue;
        motion.other_amplitude = light.amplitude;
        motion.perhaps_brightness =
            motion.perhaps_brightness || motion.amplitude < light.amplitude * unevenness_px;
      }
    }
    std::ranges::stable_sort(motions, before);
  }

  /// Evidence of light and motion at a frequency; null if frames are not evenly spaced.
  std::optional<LightEvidence> evidence(const LocalChanges& changes, double hz, const Region& area,
                                        std::complex<double> x, std::complex<double> y) const {
    if (!report_.clock.steady) return std::nullopt;
    return LightTest(changes).at(hz / report_.clock.rate_hz, area, x, y);
  }

  /// Tests with the cells of `area` whether light explains the motions.
  void hold_against(const LocalChanges& changes, const Region& area,
                    std::vector<VibrationPeak>& motions) const {
    for (VibrationPeak& motion : motions) {
      motion.evidence =
          evidence(changes, motion.frequency_hz, area, motion.x, std::polar(motion.y, motion.phase));
      const double height = motion.signal_to_noise * motion.signal_to_noise;
      if (motion.evidence && motion.evidence->light_explains(height, motion.amplitude))
        motion.perhaps_brightness = true;
    }
    std::ranges::stable_sort(motions, before);
  }

  /// Bands of light cross the whole region. If light outweighs all motion of the region at a frequency, a
  /// tile's motion there is not vibration.
  void hold_against_whole(std::vector<VibrationPeak>& motions) {
    const RegionSeries& whole = series_.regions[0];
    for (VibrationPeak& motion : motions) {
      if (motion.doubted()) continue;
      const auto bin = std::lround(2 * motion.frequency_hz * report_.duration_s);
      const auto known = outweighed_.find(bin);
      bool& light = outweighed_[bin];
      if (known == outweighed_.end()) {
        const auto found = evidence(whole.changes, motion.frequency_hz, whole.region, 0, 0);
        light = found && found->light_outweighs();
      }
      motion.perhaps_brightness = light;
    }
  }

  /// Records the frequencies of motion and brightness peaks at which strong light was found.
  void note_lights(const LocalChanges& changes, const RegionVibration& region) {
    for (const VibrationPeak& motion : region.motion.peaks) note_light(motion.evidence, motion);
    for (const VibrationPeak& light : region.brightness.peaks)
      note_light(evidence(changes, light.frequency_hz, region.region, 0, 0), light);
  }
  void note_light(const std::optional<LightEvidence>& evidence, const VibrationPeak& peak) {
    if (evidence && evidence->light > evidence->motion)
      lights_.push_back({peak.frequency_hz, peak.standard_error_hz, evidence->light});
  }

  /// Light is not quite a sine, and its effect on a place is not quite linear. Weak motions at multiples of
  /// strong light's frequency are therefore attributed to the light.
  void hold_against_multiples(std::vector<VibrationPeak>& motions) const {
    constexpr int kMultiples = 8;
    constexpr double kWeak = 60;       // power over the noise
    constexpr double kStronger = 100;  // ratio of light to motion
    for (VibrationPeak& motion : motions) {
      if (!motion.evidence || motion.signal_to_noise * motion.signal_to_noise > kWeak) continue;
      const double energy = std::max(motion.evidence->motion, motion.evidence->claimed);
      for (const StrongLight& light : lights_) {
        if (light.energy < kStronger * energy) continue;
        for (int m = 2; m <= kMultiples; ++m) {
          const double hz = folded(m * light.hz, report_.clock.rate_hz);
          const double errors = 3 * std::hypot(m * light.error_hz, motion.standard_error_hz);
          if (std::abs(hz - motion.frequency_hz) <= std::max(0.5 / report_.duration_s, errors))
            motion.perhaps_brightness = true;
        }
      }
    }
    std::ranges::stable_sort(motions, before);
  }

  /// Compares motion and brightness peaks of the same frequency.
  void compare(RegionVibration& region, double unevenness_px) const {
    for (VibrationPeak& light : region.brightness.peaks) {
      for (const VibrationPeak& motion : region.motion.peaks) {
        if (same(motion, light)) light.other_amplitude = motion.amplitude;
      }
    }
    hold_against(region.brightness.peaks, unevenness_px, region.motion.peaks);
    // Motion can change the brightness at most by the light of a strip as wide as the motion.
    const double edge = 1 / static_cast<double>(std::min(region.region.width, region.region.height));
    auto& lights = region.brightness.peaks;
    const auto by_motion =
        std::stable_partition(lights.begin(), lights.end(), [&](const VibrationPeak& light) {
          return !light.other_amplitude || light.amplitude > edge * *light.other_amplitude;
        });
    region.brightness.by_motion.assign(by_motion, lights.end());
    lights.erase(by_motion, lights.end());
  }

  RegionVibration region(const RegionSeries& from) {
    RegionVibration result;
    result.region = from.region;
    result.structured = from.structured;
    result.frequencies = from.frequencies;
    result.renewals = from.renewals;
    result.samples_fraction = from.samples_fraction;
    result.place_error_px = detail::median({from.error.begin(), from.error.end()}, 0);
    const double probability = options_.false_alarm_probability;
    result.followed = std::ranges::count_if(from.x, [](double place) { return std::isfinite(place); });
    if (from.structured) {
      result.motion = signal({from.x, from.y}, probability, min_noise(from));
      // Interpolated places have less noise than measured ones, so their spectrum proves nothing.
      if (result.motion.peaks.empty() && result.followed < kFollowed * static_cast<double>(from.x.size()))
        result.motion.search = PeakSearch{};
      result.at_floor = result.motion.search.searched && at_floor(result.motion, from);
    }
    std::vector<double> light = from.brightness;
    const double mean = detail::median(light, 0);
    for (double& value : light) value = mean > 0 ? value / mean - 1 : 0;
    result.brightness = signal({std::move(light)}, probability, kMinFlicker);
    hold_against(from.changes, from.region, result.motion.peaks);
    compare(result, from.unevenness_px);
    note_lights(from.changes, result);
    hold_against_multiples(result.motion.peaks);
    name_aliases(result.motion.peaks, false);
    name_aliases(result.brightness.peaks, true);
    name_aliases(result.brightness.by_motion, true);
    return result;
  }

  void tiles(std::size_t max_bytes) {
    report_.tile_columns = series_.tile_columns;
    report_.tile_rows = series_.tile_rows;
    const double probability = options_.false_alarm_probability /
                               static_cast<double>(std::max<std::size_t>(1, series_.tiles.size()));
    std::vector<Signal> signals;
    for (const RegionSeries& from : series_.tiles) {
      TileVibration tile;
      tile.region = from.region;
      tile.structured = from.structured;
      signals.emplace_back();
      if (from.structured) {
        Signal motion = signal({from.x, from.y}, probability, min_noise(from));
        tile.noise_px = motion.search.noise;
        tile.detectable_px = motion.search.detectable;
        if (!series_.regions.empty()) hold_against(series_.regions[0].changes, from.region, motion.peaks);
        hold_against_whole(motion.peaks);
        for (const VibrationPeak& peak : motion.peaks) note_light(peak.evidence, peak);
        hold_against_multiples(motion.peaks);
        if (!report_.regions.empty())
          hold_against(report_.regions[0].brightness.peaks, kCoarseLight * from.unevenness_px, motion.peaks);
        name_aliases(motion.peaks, false);
        tile.peaks = motion.peaks;
        const PeakSearch& search = motion.search;
        if (search.searched &&
            search.frequency_hz.size() * sizeof(float) * series_.tiles.size() <= max_bytes) {
          for (std::size_t i = 0; i < search.frequency_hz.size(); ++i)
            tile.spectrum.push_back(static_cast<float>(
                std::hypot(std::abs(search.amplitude[0][i]), std::abs(search.amplitude[1][i]))));
        }
        motion.search.noise_amplitude.clear();
        signals.back() = std::move(motion);
      }
      report_.tiles.push_back(std::move(tile));
    }
    collect_elsewhere();
    if (report_.in_a_part_alone()) {
      report_.map_hz = report_.elsewhere[0].peak.frequency_hz;
    } else if (!report_.regions.empty() && !report_.regions[0].motion.peaks.empty()) {
      report_.map_hz = report_.regions[0].motion.peaks[0].frequency_hz;
    }
    if (report_.map_hz) draw_map(signals);
  }

 private:
  /// Frequencies closer than this count as one.
  double tolerance() const { return report_.duration_s > 0 ? 0.3 / report_.duration_s : 0; }

  bool close(double a, double b) const { return std::abs(a - b) * report_.duration_s <= 2; }

  /// Whether frames were coded as differences to others. Residuals then persist until the encoder spends bits
  /// on them. Such steps are not Gaussian noise, and cause low peaks more often than Gaussian noise would.
  bool coded_from_others() const {
    return !series_.key_frames.empty() && std::ssize(series_.key_frames) < series_.frames;
  }

  /// Collects each peak of the tiles that the first region does not have.
  void collect_elsewhere() {
    for (std::size_t t = 0; t < report_.tiles.size(); ++t) {
      for (const VibrationPeak& peak : report_.tiles[t].peaks) {
        const auto is_it = [&](const VibrationPeak& other) {
          return close(other.frequency_hz, peak.frequency_hz);
        };
        if (std::ranges::any_of(report_.regions[0].motion.peaks, is_it)) continue;
        auto& list = report_.elsewhere;
        const auto known = std::ranges::find_if(list, [&](const auto& e) { return is_it(e.peak); });
        if (known == list.end()) {
          list.push_back({peak, t, 1});
          continue;
        }
        ++known->tiles;
        if (peak.amplitude > known->peak.amplitude) {
          known->peak = peak;
          known->tile = t;
        }
      }
    }
    if (coded_from_others()) {
      for (VibrationReport::Elsewhere& one : report_.elsewhere)
        one.peak.coding = one.peak.coding || !one.clear();
    }
    std::ranges::stable_sort(report_.elsewhere,
                             [](const auto& a, const auto& b) { return before(a.peak, b.peak); });
  }

  void draw_map(const std::vector<Signal>& signals) {
    for (std::size_t t = 0; t < report_.tiles.size(); ++t) {
      TileVibration& tile = report_.tiles[t];
      for (const VibrationPeak& peak : tile.peaks) {
        if (!close(peak.frequency_hz, *report_.map_hz)) continue;
        tile.moves = true;
        tile.amplitude_px = std::max(tile.amplitude_px, peak.amplitude);
      }
      const PeakSearch& search = signals[t].search;
      if (!search.searched) continue;
      const double step = search.frequency_hz[1];
      const auto bin = std::min(static_cast<std::size_t>(std::lround(*report_.map_hz / step)),
                                search.frequency_hz.size() - 1);
      const std::complex<double> x = search.amplitude[0][bin];
      const std::complex<double> y = search.amplitude[1][bin];
      if (!tile.moves)
        tile.amplitude_px = std::sqrt(0.5 * (std::norm(x) + std::norm(y) + std::abs(x * x + y * y)));
      tile.phase_rad = std::arg(std::abs(x) > std::abs(y) ? x : y);
    }
  }

  const VibrationSeries& series_;
  const VibrationOptions& options_;
  VibrationReport& report_;
  std::vector<KnownFrequency> expected_;
  struct StrongLight {
    double hz, error_hz, energy;
  };
  std::vector<StrongLight> lights_;
  std::map<long, bool> outweighed_;  ///< key: number of half periods in the recording
  double coding_spacing_ = 0;        ///< frequency of key frames, in cycles per frame; 0: unknown
  std::vector<CodingBand> coding_rhythm_;
};

}  // namespace

VibrationReport analyse(const VibrationSeries& series, const VibrationOptions& options,
                        std::size_t max_tile_spectra_bytes) {
  VibrationReport report;
  report.status = series.status;
  report.message = series.message;
  report.input = series.input;
  report.frames = series.frames;
  report.warnings = series.warnings;
  report.input_log = series.input_log;
  report.false_alarm_probability = options.false_alarm_probability;
  if (series.frames == 0) return report;
  const double per_frame = series.fields ? 2 : 1;
  report.clock = frame_clock(per_frame * options.fps, per_frame * series.input.capture_fps,
                             per_frame * series.input.fps, series.seconds);
  report.warnings.insert(report.warnings.end(), report.clock.warnings.begin(), report.clock.warnings.end());
  report.duration_s = report.clock.steady ? static_cast<double>(series.frames) / report.clock.rate_hz
                                          : series.seconds.back() - series.seconds.front();
  Analysis analysis(series, options, report);
  for (const RegionSeries& region : series.regions) report.regions.push_back(analysis.region(region));
  if (!series.tiles.empty()) analysis.tiles(max_tile_spectra_bytes);
  add_warnings(report);
  return report;
}

bool VibrationReport::in_a_part_alone() const noexcept {
  if (regions.empty() || elsewhere.empty()) return false;
  const std::vector<VibrationPeak>& whole = regions[0].motion.peaks;
  if (whole.empty()) return true;
  return whole[0].doubted() && !elsewhere[0].peak.doubted() && elsewhere[0].clear();
}

bool VibrationReport::Elsewhere::clear() const noexcept {
  constexpr double kClear = 6;
  return tiles > 1 || peak.signal_to_noise >= kClear;
}

}  // namespace sfft::video
