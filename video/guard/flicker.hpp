// SPDX-License-Identifier: Apache-2.0
// Tells light that goes up and down from light that only changes.
#pragma once

#include <cstdint>
#include <vector>

namespace sfft::video {

/// Follows the light of one scene.
class Flicker {
 public:
  /// `brightening`: logarithm of the factor on the light since the frame before, `interval_s` ago. Returns by
  /// how much, in the same unit, the light has turned eight times within the latest 24 frames, at low rates
  /// within three seconds; 0 where it has not.
  double add(double brightening, double interval_s = 0.04);
  /// Frames since the light began to go up and down, with the latest; while it does.
  std::int64_t frames() const noexcept { return frames_; }
  /// Frames since it last turned round.
  std::int64_t steady_frames() const noexcept { return steady_; }

 private:
  std::vector<double> levels_;  ///< the latest
  std::int64_t frames_ = 0, steady_ = 0;
};

}  // namespace sfft::video
