// SPDX-License-Identifier: Apache-2.0
// Harmonics of one rate all have about the same height; what really vibrates at one of them has not.
#include "video/vibration/coding_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sfft::video {

namespace {

constexpr std::size_t kLeastIntervals = 4;
constexpr double kRegular = 0.8;
/// Cycles of the encoder in the recording: fewer, and its lines lie close to any other.
constexpr std::int64_t kLeastCycles = 8;
constexpr double kStandsOut = 5;
constexpr std::size_t kSeveral = 2;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::int64_t coding_period(std::span<const std::int64_t> key_frames, std::int64_t frames) {
  std::vector<std::int64_t> intervals;
  for (std::size_t i = 1; i < key_frames.size(); ++i) intervals.push_back(key_frames[i] - key_frames[i - 1]);
  if (intervals.size() < kLeastIntervals) return 0;
  const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
  std::ranges::nth_element(intervals, middle);
  const std::int64_t period = *middle;
  const auto alike = static_cast<double>(std::ranges::count(intervals, period));
  const bool regular = alike >= kRegular * static_cast<double>(intervals.size());
  return regular && period > 1 && frames >= kLeastCycles * period ? period : 0;
}

void mark_coding(std::vector<VibrationPeak>& peaks, double spacing_hz, double tolerance_hz,
                 double detectable) {
  std::vector<std::size_t> on_comb;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const double off = std::abs(std::remainder(peaks[i].frequency_hz, spacing_hz));
    if (off <= std::max(tolerance_hz, 3 * peaks[i].standard_error_hz)) on_comb.push_back(i);
  }
  for (const std::size_t i : on_comb) {
    std::vector<double> others;
    for (const std::size_t j : on_comb) {
      if (j != i) others.push_back(peaks[j].amplitude);
    }
    const double usual = others.size() >= kSeveral ? median(std::move(others)) : detectable;
    peaks[i].coding = peaks[i].amplitude < kStandsOut * usual;
  }
}

}  // namespace sfft::video
