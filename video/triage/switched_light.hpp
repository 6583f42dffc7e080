// SPDX-License-Identifier: Apache-2.0
// Switched light: a part of the picture changes from one moment to the next, and then stays.
#pragma once

#include <span>
#include <vector>

#include "video/triage/moments.hpp"

namespace sfft::video {

/// Small pictures around a moment, in order of time. Things come into a place in several steps, of which each
/// shows something else. A lamp or a flash shows one pattern, more or less of it, and jumps.
class SwitchedLight {
 public:
  /// `step`: frames that a switch may take. Points from `white` on may be overexposed.
  SwitchedLight(int step, float white) : step_(step), white_(white) {}

  /// Whether what differs between the moments in the square, which is cut out of them, was switched. If so,
  /// `pattern` begins with what came or went, row by row. `noise`: variance of the difference of two points
  /// of pictures that are alike.
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
