// SPDX-License-Identifier: Apache-2.0
// Distinguishes flicker, light that rises and falls again and again, from a single change of light.
#pragma once

#include <cstdint>
#include <vector>

namespace sfft::video {

/// Tracks the light of one scene.
class Flicker {
 public:
  /// `brightening`: natural logarithm of the light's ratio to that of the previous frame, `interval_s`
  /// earlier. Returns the largest swing, in the same unit, by which the light has reversed at least eight
  /// times within the latest 24 frames (at low rates, within three seconds), or 0 if there is none.
  double add(double brightening, double interval_s = 0.04);
  /// While the light flickers: frames since it began to, including the latest.
  std::int64_t frames() const noexcept { return frames_; }
  /// Frames since the light last reversed.
  std::int64_t steady_frames() const noexcept { return steady_; }

 private:
  std::vector<double> levels_;  ///< logarithms of the light in the latest frames
  std::int64_t frames_ = 0, steady_ = 0;
};

}  // namespace sfft::video
