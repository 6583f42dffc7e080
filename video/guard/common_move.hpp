// SPDX-License-Identifier: Apache-2.0
// The move that landmarks agree on.
#pragma once

#include <span>

#include "video/guard/landmark.hpp"
#include "video/guard/pose.hpp"

namespace sfft::video {

/// Leads from the positions where the landmarks were compared to their present ones.
struct CommonMove {
  Pose step;
  double standard_error = 0;  ///< pixels, of the larger of x and y
  int agreeing = 0;           ///< landmarks that are there and within a pixel of the move
  bool found = false;         ///< false: there are too few landmarks
};

/// Landmarks with a lower correlation are ignored.
inline constexpr double kMinCorrelation = 0.3;

/// `turning`: always fits rotation and zoom; otherwise only if they halve the mean square distance. `reach`:
/// half a diagonal of the picture, in pixels. `unit`: a 255th of the full range.
CommonMove common_move(std::span<const Landmark> landmarks, bool turning, double reach, double unit);

/// Sorts its argument. Returns 0 if it is empty.
double weighted_median(std::vector<std::array<double, 2>>& values_and_weights);

}  // namespace sfft::video
