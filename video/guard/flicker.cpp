// SPDX-License-Identifier: Apache-2.0
// Counts how often the light turns round, for larger and larger swings. What rises or falls on the whole, as
// an exposure does, turns seldom.
#include "video/guard/flicker.hpp"

#include <algorithm>
#include <cstddef>

namespace sfft::video {

namespace {

constexpr std::size_t kFrames = 24;
constexpr std::size_t kTurns = kFrames / 3;
/// The smallest swing, and the factor between one trial and the next.
constexpr double kLeastSwing = 0.005;
constexpr double kFiner = 1.1;

/// How often a series turns round and goes back by at least `swing`.
std::size_t turns(const std::vector<double>& levels, double swing) {
  std::size_t count = 0;
  double low = levels.front();
  double high = low;
  int direction = 0;
  for (const double level : levels) {
    low = std::min(low, level);
    high = std::max(high, level);
    const bool falls = direction >= 0 && level <= high - swing;
    const bool rises = direction <= 0 && level >= low + swing;
    if (!falls && !rises) continue;
    count += direction != 0 ? 1 : 0;
    direction = falls ? -1 : 1;
    low = high = level;
  }
  return count;
}

}  // namespace

double Flicker::add(double brightening) {
  levels_.push_back((levels_.empty() ? 0 : levels_.back()) + brightening);
  if (levels_.size() > kFrames) levels_.erase(levels_.begin());
  if (levels_.size() < kFrames) return 0;
  double swing = 0;
  for (double next = kLeastSwing; turns(levels_, next) >= kTurns; next *= kFiner) swing = next;
  return swing;
}

}  // namespace sfft::video
