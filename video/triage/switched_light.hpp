// SPDX-License-Identifier: Apache-2.0
// Light that is switched: a part of the picture that is another from one moment to the next, and then stays.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sfft::video {

/// A rectangle of points.
struct PointSquare {
  int left = 0, top = 0, across = 0, down = 0;
};

/// Small pictures around a moment, in order of time. Things come into a place in several steps, of which each
/// shows something else. A lamp or a flash shows one pattern, more or less of it, and jumps.
class SwitchedLight {
 public:
  /// A picture of the period, row-major.
  struct Moment {
    std::span<const float> picture;
    bool gap = false;  ///< frames are missing before it: nothing is known about how it came
  };

  /// `step`: frames that a switch may take. Points from `white` on may be overexposed.
  SwitchedLight(int width, int step, float white) : width_(width), step_(step), white_(white) {}

  /// The pictures that are looked at from now on. The spans must stay valid.
  void look_at(std::vector<Moment> moments) { moments_ = std::move(moments); }

  /// Whether what differs between these pictures in the square was switched. If so, `pattern` begins with
  /// what came or went, row by row. `noise`: variance of the difference of two points of pictures that are
  /// alike.
  bool find(const PointSquare& square, float noise, std::vector<float>& pattern);

 private:
  void cut_out(const PointSquare& square);
  std::span<const float> shown(std::size_t moment) const;
  struct Fit {
    float share, left;
  };
  Fit fit(std::span<const float> shown, std::span<const float> before, std::span<const float> pattern) const;

  int width_, step_;
  float white_;
  std::vector<Moment> moments_;
  std::vector<float> shown_;  // of each moment the square, filled up to padded_ points
  std::size_t padded_ = 0;
};

}  // namespace sfft::video
