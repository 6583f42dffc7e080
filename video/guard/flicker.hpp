// SPDX-License-Identifier: Apache-2.0
// Tells light that goes up and down from light that only changes.
#pragma once

#include <cstdint>
#include <vector>

namespace sfft::video {

/// Follows the light of one scene.
class Flicker {
 public:
  /// `brightening`: logarithm of the factor on the light since the frame before. Returns by how much, in the
  /// same unit, the light goes up and down in a third of the latest second's frames; 0 where it does not.
  double add(double brightening);
  /// Frames since the light began to go up and down, with the latest; while it does.
  std::int64_t frames() const noexcept { return frames_; }
  /// Frames since it last turned round.
  std::int64_t steady_frames() const noexcept { return steady_; }

 private:
  std::vector<double> levels_;  ///< the latest
  std::int64_t frames_ = 0, steady_ = 0;
};

}  // namespace sfft::video
