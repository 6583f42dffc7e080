// SPDX-License-Identifier: Apache-2.0
// Measures the deviation that smooth light does not explain, in squares of one size.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "video/triage/moments.hpp"

namespace sfft::video {

/// Models light as a plane or a polynomial of second degree, plus a change of contrast. The terms are
/// orthogonal on the square. Use one object per thread.
class SmoothLight {
 public:
  static constexpr std::size_t kPlane = 3, kBent = 6;  ///< numbers of terms
  /// Light is never quite smooth: this share of the energy that it explains may remain.
  static constexpr double kImperfect = 0.05;
  static constexpr double kPrior = 1;  ///< grey levels of structure that determine no contrast

  /// For squares of `across` by `down` points in pictures of `width` columns. `terms`: kPlane or kBent.
  SmoothLight(int width, int across, int down, std::size_t terms);

  /// Returns the energy of the deviation that light does not explain in the square with this first column and
  /// row.
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
  std::vector<float> basis_;  ///< by term, then row; padded with zeros to a multiple of four
  double per_norm_[kBent] = {};
  std::vector<float> off_, level_;  ///< of the square, in the same order
};

}  // namespace sfft::video
