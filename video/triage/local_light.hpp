// SPDX-License-Identifier: Apache-2.0
// Takes smooth light out of whole pictures at once.
#pragma once

#include <span>
#include <vector>

#include "video/triage/four.hpp"

namespace sfft::video {

/// Around every point, a brightness and a change of contrast are fitted to the deviations in a square; what
/// the fits of all squares that hold a point say of it, in the mean, is taken from its deviation. This is the
/// guided filter (He, Sun and Tang, IEEE PAMI 35, 2013), with the usual picture as the guide. Sliding sums
/// make it as cheap as a few passes over the picture. One per thread.
class LocalLight {
 public:
  LocalLight(int width, int height);

  void set_usual(std::span<const float> usual);

  /// What is left of the deviations of two pictures from the usual one.
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
