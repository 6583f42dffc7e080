// SPDX-License-Identifier: Apache-2.0
// Deviation that smooth light does not explain, in squares of one size.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "video/triage/moments.hpp"

namespace sfft::video {

/// The light is a plane or a polynomial of second degree, whose terms are orthogonal on the square, and a
/// change of contrast. One per thread.
class SmoothLight {
 public:
  static constexpr std::size_t kPlane = 3, kBent = 6;  ///< numbers of terms
  /// Light is never quite smooth: this share of the energy that it explains may remain.
  static constexpr double kImperfect = 0.05;
  static constexpr double kPrior = 1;  ///< grey levels of structure that say nothing

  /// Squares of `across` by `down` points in pictures that are `width` wide. `terms`: kPlane or kBent.
  SmoothLight(int width, int across, int down, std::size_t terms);

  /// Energy of the deviation in the square that begins there, less what light explains.
  double leaves(std::span<const float> deviation, std::span<const float> usual, int left, int top);

 private:
  struct Products {
    double terms_off[kBent] = {}, terms_level[kBent] = {};
    double off_off = 0, level_level = 0, off_level = 0;
  };
  template <std::size_t terms>
  Products multiply() const;
  template <int across>
  void cut_out(const float* off, const float* level, float middle);

  int width_, across_, down_;
  std::size_t terms_, padded_ = 0;
  std::vector<float> basis_;  ///< term by term, row by row, filled up with zeros to whole fours
  double per_norm_[kBent] = {};
  std::vector<float> off_, level_;  ///< of the square, in the same order
};

}  // namespace sfft::video
