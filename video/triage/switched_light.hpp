// SPDX-License-Identifier: Apache-2.0
// Detects switched light: a part of the picture changes from one moment to the next, and then stays.
#pragma once

#include <span>
#include <vector>

#include "video/triage/moments.hpp"

namespace sfft::video {

/// Tells lamps and flashes from objects by the small pictures around a moment. Objects arrive in several
/// steps, each of which shows something else. A lamp or a flash jumps, and shows more or less of one pattern.
class SwitchedLight {
 public:
  /// `step`: max. frames that switching takes. Points from the grey level `white` on may be overexposed.
  SwitchedLight(int step, float white) : step_(step), white_(white) {}

  /// Whether switched light explains the differences between the moments, in the `square` that
  /// Moments::cut_out() selected. If so, `pattern` begins with the light that came or went, row by row.
  /// `noise`: variance of the difference of a point between two pictures of the same content.
  bool find(const Moments& moments, const PointSquare& square, float noise,
            std::vector<float>& pattern) const;

 private:
  struct Fit {
    float share, left;
  };
  Fit fit(std::span<const float> shown, std::span<const float> before, std::span<const float> pattern) const;

  int step_;
  float white_;
};

}  // namespace sfft::video
