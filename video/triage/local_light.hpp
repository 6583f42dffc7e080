// SPDX-License-Identifier: Apache-2.0
// Removes smooth light from whole pictures.
#pragma once

#include <span>
#include <vector>

#include "video/triage/four.hpp"

namespace sfft::video {

/// Fits a brightness and a change of contrast to the deviations in a square around every point. From the
/// deviation of a point it subtracts the mean of the fits of all squares that contain the point. This is the
/// guided filter (He, Sun and Tang, IEEE PAMI 35, 2013), with the usual picture as the guide. With sliding
/// sums it costs a few passes over the picture. Use one object per thread.
class LocalLight {
 public:
  LocalLight(int width, int height);

  void set_usual(std::span<const float> usual);

  /// Computes what is left of the deviations of two pictures from the usual one.
  void remove(std::span<const float> first, std::span<const float> second, std::vector<float>& first_left,
              std::vector<float>& second_left);

 private:
  using Picture = std::vector<Four>;
  void average(const Picture& of, Picture& means);

  int width_, height_;
  std::vector<float> level_, mean_level_, per_variance_;
  Picture values_, means_, columns_;
};

}  // namespace sfft::video
