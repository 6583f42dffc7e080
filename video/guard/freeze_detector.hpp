// SPDX-License-Identifier: Apache-2.0
// Detects a frozen picture: a camera that hangs, or a recorder that repeats its last frame.
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

  /// Returns a strength that is 1 at the threshold. `usual_detail`: usual value of Observation::detail.
  /// `empty`: the picture is dark or white and shows nothing of the scene, so that nothing can stand still.
  double judge(const Observation& seen, double usual_detail, bool empty = false);
  /// Frames since the picture froze, or since it began to move again, including the latest.
  std::int64_t frames() const noexcept { return frames_; }
  /// Whether earlier pictures return in order: a replay instead of the live picture.
  bool replayed() const noexcept { return replayed_; }

 private:
  double repeating(const Observation& seen);
  /// Finds the frame in which the freeze began.
  void freeze(bool repeats);
  /// Returns 1 or more while the picture stands still, and 0 once it moves again.
  double remain(const Observation& seen, double strength, bool plain_picture);

  double sensitivity_;
  Thresholds thresholds_;
  Stillness stillness_;
  double lively_ = 0;  ///< share of the tiles with noise, before frames began to repeat
  bool frozen_ = false, replayed_ = false;
  double moves_ = 0;  ///< level of activity above which a frozen picture moves again
  std::int64_t frames_ = 0;
  int repeats_ = 0;           ///< successive frames that repeat the previous one
  double usual_repeats_ = 0;  ///< length of the longest such run that was not an event, with slow decay
  double long_run_ = 0;       ///< length of the latest run that was an event
  int same_runs_ = 0;         ///< number of successive events of about equal length
};

}  // namespace sfft::video
