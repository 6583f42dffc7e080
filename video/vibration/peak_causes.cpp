// SPDX-License-Identifier: Apache-2.0
// Aliases are folded at half the frame rate. An encoder's harmonics all have about the same height, or fall
// like those of a sawtooth, because a drifting picture lags behind until the next key frame. A real vibration
// at one of these frequencies stands out. The lag is proportional to the drift, so slow changes of the drift
// split the lines. Some encoders treat every second group of frames alike, which adds lines halfway between.
// Encoders that choose frame kinds adaptively leave broad lines.
#include "video/vibration/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>

#include "kernels/base/math/quantiles.hpp"
#include "sfft/dense.hpp"
#include "video/vibration/line_fit.hpp"

namespace sfft::video {

double folded(double hz, double rate_hz) {
  const double rest = std::abs(std::remainder(hz, rate_hz));
  return rest;
}

std::vector<double> alias_candidates(double hz, double rate_hz, std::size_t count) {
  std::vector<double> candidates;
  for (double turns = 1; candidates.size() < count; ++turns) {
    candidates.push_back(turns * rate_hz - hz);
    if (candidates.size() < count) candidates.push_back(turns * rate_hz + hz);
  }
  return candidates;
}

std::optional<Alias> likely_alias(double hz, double error_hz, double resolution_hz, double rate_hz,
                                  std::span<const KnownFrequency> known,
                                  std::span<const KnownFrequency> stronger) {
  const double half = 0.5 * rate_hz;
  const auto meets = [&](double frequency, double error) {
    return std::abs(folded(frequency, rate_hz) - hz) <=
           std::max(resolution_hz, 3 * std::hypot(error, error_hz));
  };
  for (const KnownFrequency& one : known) {
    if (one.hz > half && meets(one.hz, one.error_hz))
      return Alias{one.hz, fmt::format("{} folds to this", one.name)};
  }
  constexpr int kMultiples = 4;
  for (const KnownFrequency& one : stronger) {
    for (int m = 2; m <= kMultiples; ++m) {
      if (!meets(m * one.hz, m * one.error_hz)) continue;
      if (m * one.hz <= half) return std::nullopt;
      return Alias{m * one.hz, fmt::format("{} times the peak at {:.2f} Hz folds to this", m, one.hz)};
    }
  }
  constexpr double kClose = 0.9;
  if (hz > kClose * half)
    return Alias{rate_hz - hz, "close to half the frame rate, where both look the same"};
  return std::nullopt;
}

namespace {

constexpr std::size_t kMinIntervals = 4;
constexpr double kRegular = 0.8;
/// Min. number of the encoder's cycles in the recording. With fewer, its lines are too dense: any other line
/// is near one.
constexpr std::int64_t kMinCycles = 8;
constexpr double kStandsOut = 5;
constexpr std::size_t kSeveral = 2;
/// Max. distance by which drift splits lines, in multiples of the tolerance, and as a share of the spacing of
/// the lines.
constexpr double kSplit = 10;
constexpr double kMaxSplit = 0.15;
constexpr double kStandsOutSplit = 2;  ///< for split lines
/// A line in the spectrum of the sequence of kinds has this many times the median power. By chance this
/// happens at one in 4000 frequencies.
constexpr double kLine = 12;
constexpr std::size_t kMinFrames = 64;

}  // namespace

std::int64_t coding_period(std::span<const std::int64_t> key_frames, std::int64_t frames) {
  std::vector<std::int64_t> intervals;
  for (std::size_t i = 1; i < key_frames.size(); ++i) intervals.push_back(key_frames[i] - key_frames[i - 1]);
  if (intervals.size() < kMinIntervals) return 0;
  const std::int64_t period = detail::median_in_place(intervals);
  const auto alike = static_cast<double>(std::ranges::count(intervals, period));
  const bool regular = alike >= kRegular * static_cast<double>(intervals.size());
  return regular && period > 1 && frames >= kMinCycles * period ? period : 0;
}

std::vector<CodingBand> coding_rhythm(const std::vector<bool>& between) {
  const std::size_t n = between.size();
  const auto number = static_cast<double>(std::ranges::count(between, true));
  if (n < kMinFrames || number == 0) return {};
  const Taper taper(n);
  const std::size_t length = std::bit_ceil(2 * n);
  std::vector<double> series(length);
  for (std::size_t i = 0; i < n; ++i)
    series[i] = taper.weight[i] * ((between[i] ? 1 : 0) - number / static_cast<double>(n));
  dense::Plan<double> plan(Shape(static_cast<std::int64_t>(length)), Domain::real);
  std::vector<std::complex<double>> spectrum(plan.spectrum_points());
  plan.forward(SignalView::line(series), spectrum);
  std::vector<double> power;
  for (const auto& value : spectrum) power.push_back(std::norm(value));
  // The lower limit is for a sequence that repeats exactly: it has no power between its lines.
  const double line = kLine * std::max(detail::median(power), 1e-4 * number * number);
  std::vector<CodingBand> bands;
  const double step = 1 / static_cast<double>(length);
  for (std::size_t i = 1; i < power.size(); ++i) {
    if (power[i] < line) continue;
    const double at = static_cast<double>(i) * step;
    if (!bands.empty() && at - bands.back().highest < 3 * step) {
      bands.back().highest = at;
    } else {
      bands.push_back({at, at});
    }
  }
  return bands;
}

void mark_coding(std::vector<VibrationPeak>& peaks, double spacing, std::span<const CodingBand> rhythm,
                 double rate_hz, double tolerance_hz, double detectable) {
  struct Line {
    std::size_t peak;
    double harmonic;  ///< n or n + 1/2 times the key frames' rate; 0: from the sequence of frame kinds
    bool exact;
  };
  std::vector<Line> lines;
  const double base = spacing * rate_hz;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const double reach = std::max(tolerance_hz, 3 * peaks[i].standard_error_hz);
    const double hz = peaks[i].frequency_hz;
    const double harmonic = base > 0 ? std::round(hz / base) : 0;
    const double apart = std::abs(hz - harmonic * base);
    const bool rhythmic = std::ranges::any_of(rhythm, [&](const CodingBand& band) {
      return hz > band.lowest * rate_hz - reach && hz < band.highest * rate_hz + reach;
    });
    if (harmonic > 0 && apart <= reach) {
      lines.push_back({i, harmonic, true});
    } else if (rhythmic) {
      lines.push_back({i, 0, true});
    } else if (harmonic > 0 && apart <= std::min(kSplit * tolerance_hz, kMaxSplit * base) + reach) {
      lines.push_back({i, harmonic, false});
    } else if (base > 0 && std::abs(apart - 0.5 * base) <= reach) {
      lines.push_back({i, std::floor(hz / base) + 0.5, false});
    }
  }
  const auto exact = static_cast<std::size_t>(std::ranges::count_if(lines, &Line::exact));
  for (const Line& line : lines) {
    std::vector<double> heights;
    std::vector<double> of_sawtooth;
    // Lines split by drift are weaker than exact ones, so exact lines are compared only with exact lines.
    const bool exact_alone = line.exact && exact > kSeveral;
    for (const Line& other : lines) {
      if (other.peak == line.peak || (line.harmonic > 0 && other.harmonic == line.harmonic)) continue;
      if (exact_alone && !other.exact) continue;
      heights.push_back(peaks[other.peak].amplitude);
      if (line.harmonic > 0 && other.harmonic > 0)
        of_sawtooth.push_back(peaks[other.peak].amplitude * other.harmonic / line.harmonic);
    }
    double usual = detectable;
    const double stands_out = line.exact ? kStandsOut : kStandsOutSplit;
    if (heights.size() >= kSeveral) usual = detail::median(std::move(heights));
    if (of_sawtooth.size() >= kSeveral) {  // split lines always come from a sawtooth
      const double sawtooth = detail::median(std::move(of_sawtooth));
      usual = line.exact ? std::max(usual, sawtooth) : sawtooth;
    }
    peaks[line.peak].coding = peaks[line.peak].amplitude < stands_out * usual;
  }
}

}  // namespace sfft::video
