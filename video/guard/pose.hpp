// SPDX-License-Identifier: Apache-2.0
// Where a scene lies in a frame.
#pragma once

#include <array>

namespace sfft::video {

/// Where the scene went: the shift at the picture's centre in pixels, x to the right and y down, and the
/// rotation and zoom about the centre. Turns are small, so poses add up.
struct Pose {
  double x = 0, y = 0;
  double rotation = 0;  ///< radians, clockwise as seen
  double zoom = 0;      ///< 0.01: one per cent larger

  bool turned() const noexcept { return rotation != 0 || zoom != 0; }
  /// Shift of a point at this distance from the picture's centre.
  std::array<double, 2> shift_at(double from_x, double from_y) const noexcept {
    return {x - rotation * from_y + zoom * from_x, y + rotation * from_x + zoom * from_y};
  }
  friend Pose operator+(const Pose& a, const Pose& b) noexcept {
    return {a.x + b.x, a.y + b.y, a.rotation + b.rotation, a.zoom + b.zoom};
  }
  friend Pose operator-(const Pose& a, const Pose& b) noexcept {
    return {a.x - b.x, a.y - b.y, a.rotation - b.rotation, a.zoom - b.zoom};
  }
  friend Pose operator*(double factor, const Pose& a) noexcept {
    return {factor * a.x, factor * a.y, factor * a.rotation, factor * a.zoom};
  }
};

}  // namespace sfft::video
