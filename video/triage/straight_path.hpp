// SPDX-License-Identifier: Apache-2.0
// Finds weak changes that move through the picture in a straight line, as people who walk do.
#pragma once

#include <cstddef>
#include <deque>

namespace sfft::video {

/// Sums up the evidence of single pictures along a path ("track before detect"). Noise and what sways are
/// largest now here and now there, or come back. A person whose contrast is too weak for single pictures
/// still is the largest change of most of them, and moves on steadily.
class StraightPath {
 public:
  static constexpr double kSeconds = 1.5;  ///< length of the path that is tested

  /// `fps`: rate of the pictures. Places are in points of a small picture of width by height points.
  StraightPath(int width, int height, double fps);

  /// Takes the largest change of the next picture. Returns the median score on a straight path in that third
  /// of the last kSeconds in which it is smallest, but at most the score of this picture. Scores off the path
  /// count as 0. Returns 0 if the change has hardly moved, or if this one is not on the path.
  double add(double seconds, double score, double x, double y);

  template <class Archive>
  void archive(Archive& bytes) {
    bytes(places_);
  }

 private:
  struct Place {
    double seconds = 0, score = 0, x = 0, y = 0;

    template <class Archive>
    void archive(Archive& bytes) {
      bytes(seconds, score, x, y);
    }
  };
  /// The medians over half of the path.
  Place middle_of(std::size_t first, std::size_t count) const;

  std::size_t count_;            ///< pictures on a path
  double along_, across_, way_;  ///< points
  std::deque<Place> places_;
};

}  // namespace sfft::video
