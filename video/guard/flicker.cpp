// SPDX-License-Identifier: Apache-2.0
// Counts how often the light reverses, for larger and larger swings. Light that rises or falls overall, as it
// does with the exposure, seldom reverses.
#include "video/guard/flicker.hpp"

#include <algorithm>
#include <cstddef>

#include "video/events/pace.hpp"

namespace sfft::video {

namespace {

/// Number of frames examined; at low rates as many as last kLongest_s, but at least kMinFrames.
constexpr std::size_t kFrames = 24;
constexpr double kLongest_s = 3;
constexpr int kMinFrames = 12;
constexpr std::size_t kTurns = kFrames / 3;
/// The smallest swing that is tried, and the factor from one trial to the next.
constexpr double kMinSwing = 0.005;
constexpr double kFiner = 1.1;

struct Turns {
  std::size_t count = 0;
  std::size_t first = 0, last = 0;  ///< indices: before the first swing, at the last reversal
};

/// Counts the reversals of a series by at least `swing`.
Turns turns(const std::vector<double>& levels, double swing) {
  Turns found;
  std::size_t low = 0;
  std::size_t high = 0;
  int direction = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] <= levels[low]) low = i;
    if (levels[i] >= levels[high]) high = i;
    const bool falls = direction >= 0 && levels[i] <= levels[high] - swing;
    const bool rises = direction <= 0 && levels[i] >= levels[low] + swing;
    if (!falls && !rises) continue;
    found.last = falls ? high : low;
    if (direction == 0) found.first = found.last;
    found.count += direction != 0 ? 1 : 0;
    direction = falls ? -1 : 1;
    low = high = i;
  }
  return found;
}

}  // namespace

double Flicker::add(double brightening, double interval_s) {
  const auto max = std::min(kFrames, static_cast<std::size_t>(frames_in(kLongest_s, interval_s, kMinFrames)));
  levels_.push_back((levels_.empty() ? 0 : levels_.back()) + brightening);
  while (levels_.size() > max) levels_.erase(levels_.begin());
  if (levels_.size() < max) return 0;
  double swing = 0;
  ++steady_;
  for (double next = kMinSwing;; next *= kFiner) {
    const Turns found = turns(levels_, next);
    if (found.count < kTurns) break;
    swing = next;
    frames_ = static_cast<std::int64_t>(levels_.size() - 1 - found.first);
    steady_ = static_cast<std::int64_t>(levels_.size() - 1 - found.last);
  }
  return swing;
}

}  // namespace sfft::video
