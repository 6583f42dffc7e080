// SPDX-License-Identifier: Apache-2.0
// The rate at which an analysis takes frames, whatever the rate of the input.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "kernels/base/math/quantiles.hpp"

namespace sfft::video {

/// Frames above this rate per second are skipped: what a person would notice lasts longer than one frame at
/// this rate.
inline constexpr double kMaxJudgedRate = 30;
/// Frames per second that are assumed where nothing tells the rate.
inline constexpr double kUnknownRate = 25;

/// Decides which frames are due, and measures their usual interval. A timestamp that stands still or jumps
/// back counts as one step after the previous one, as long as the latest step forward: a stream with a broken
/// clock is paced by its frames.
class Pace {
 public:
  explicit Pace(double max_rate = kMaxJudgedRate) : min_(kEarly / max_rate) {}

  /// Takes the stamp of the next frame, which is not due if it is not `wanted`.
  bool due(double seconds, bool wanted = true) noexcept {
    const double step = seconds - stamp_;
    stamp_ = seconds;
    if (count_ > 0) {
      if (step > 0) step_ = step;
      clock_ += step_;
      const double since = clock_ - latest_;
      if (since < min_ || !wanted) return false;
      elapsed_ = since;
      intervals_[(count_ - 1) % kKept] = since;
    }
    ++count_;
    latest_ = clock_;
    return true;
  }
  /// Seconds between the last two frames that were due.
  double elapsed() const noexcept { return elapsed_; }
  /// Median of the latest of these intervals; 0.04 s while there are none.
  double interval() const noexcept {
    const std::size_t known = std::min(count_ > 0 ? count_ - 1 : 0, kKept);
    if (known == 0) return kUnknown;
    auto latest = intervals_;
    return detail::median_in_place(std::span(latest).first(known));
  }

 private:
  static constexpr std::size_t kKept = 15;
  static constexpr double kUnknown = 0.04;
  /// Part of the minimum interval after which a frame is due: timestamps are rounded.
  static constexpr double kEarly = 0.9;

  double min_;
  std::array<double, kKept> intervals_{};
  std::size_t count_ = 0;  ///< frames that were due
  double stamp_ = 0, clock_ = 0, latest_ = 0, step_ = kUnknown, elapsed_ = kUnknown;
};

/// Rate of the judged frames of a stream with `fps` frames per second.
inline double judged_rate(double fps) noexcept {
  return fps / std::max(1.0, std::ceil(0.9 * fps / kMaxJudgedRate - 1e-9));
}

/// Number of frames in this time, but at least `min`.
inline int frames_in(double seconds, double interval_s, int min = 1) noexcept {
  const double frames = std::min(seconds / std::max(interval_s, 1e-6), 1e6);
  return std::max(min, static_cast<int>(std::lround(frames)));
}

/// The share of a difference that is covered in an interval, if `share` of it is covered in a 25th of a
/// second.
inline double share_in(double share, double interval_s) noexcept {
  return 1 - std::pow(1 - share, 25 * interval_s);
}

}  // namespace sfft::video
