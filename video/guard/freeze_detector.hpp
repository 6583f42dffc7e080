// SPDX-License-Identifier: Apache-2.0
// Detects a frozen picture: a camera that hangs, or a recorder that repeats what it got last.
#pragma once

#include <cstdint>

#include "video/events/thresholds.hpp"
#include "video/guard/activity.hpp"
#include "video/guard/observation.hpp"

namespace sfft::video {

/// Copies continue independently.
class FreezeDetector {
 public:
  explicit FreezeDetector(double sensitivity, const Thresholds& thresholds = {})
      : sensitivity_(sensitivity), thresholds_(thresholds) {}

  /// 1 at the threshold. `usual_detail`: of Observation::detail.
  double judge(const Observation& seen, double usual_detail);
  /// Frames since which the picture stands still, where it does, or moves again, where it did; with the
  /// latest.
  std::int64_t frames() const noexcept { return frames_; }
  /// Pictures return in their order: it is a replay that does not show the camera's.
  bool replayed() const noexcept { return replayed_; }

 private:
  double repeating(const Observation& seen);
  /// Dates what has begun.
  void freeze(bool repeats);
  /// 1 or more while a picture stands still.
  double remain(const Observation& seen, double strength, bool plain_picture);

  double sensitivity_;
  Thresholds thresholds_;
  Stillness stillness_;
  double lively_ = 0;  ///< share of the tiles with noise before frames began to repeat
  bool frozen_ = false, replayed_ = false;
  double moves_ = 0;  ///< level of activity above which a frozen picture moves again
  std::int64_t frames_ = 0;
  int repeats_ = 0;           ///< frames in a row that repeat the one before
  double usual_repeats_ = 0;  ///< longest such run that was no event, forgotten slowly
  double long_run_ = 0;       ///< the latest that was one
  int same_runs_ = 0;         ///< how many of those were as long as each other
};

}  // namespace sfft::video
