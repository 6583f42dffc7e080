// SPDX-License-Identifier: Apache-2.0
// Detects structure that moves to and fro in its place, as branches in the wind do.
#pragma once

#include <span>
#include <vector>

#include "video/triage/moments.hpp"

namespace sfft::video {

/// Swinging structure leaves its place to one side and to the other: it shows a deviation, and soon the
/// opposite. Objects that arrive and people who move do not. Use one object per thread.
class Swinging {
 public:
  /// Whether other moments show the opposite of `deviation` in the `square` that Moments::cut_out() selected.
  /// What a change of light does to the `usual` picture does not count. `deviation` and `usual` are of that
  /// square, in the layout of Moments::shown().
  bool find(const Moments& moments, const PointSquare& square, std::span<const float> deviation,
            std::span<const float> usual);

 private:
  std::vector<float> even_, structure_, swing_;
};

}  // namespace sfft::video
