// SPDX-License-Identifier: Apache-2.0
// Structure that moves to and fro in its place, as branches in the wind do.
#pragma once

#include <span>
#include <vector>

#include "video/triage/moments.hpp"

namespace sfft::video {

/// What swings leaves its place to one side and to the other: it shows a deviation, and soon the opposite of
/// it. Things that come, and people who move, do not. One per thread.
class Swinging {
 public:
  /// Whether the opposite of `deviation` is seen at other moments, in the square that is cut out of them.
  /// What a change of light does to the `usual` picture has no say. All are of one square, as
  /// Moments::shown().
  bool find(const Moments& moments, const PointSquare& square, std::span<const float> deviation,
            std::span<const float> usual);

 private:
  std::vector<float> even_, structure_, swing_;
};

}  // namespace sfft::video
