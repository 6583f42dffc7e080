// SPDX-License-Identifier: Apache-2.0
// Estimates the change of light between two small pictures of a scene.
#pragma once

#include <algorithm>
#include <span>

namespace sfft::video {

/// Points from this grey level on may be overexposed. White is 235 in the usual range of video, and edges
/// ring.
inline constexpr float kWhite = 228;

/// grey level = gain * reference + offset, for most of the picture.
struct Light {
  double gain = 1, offset = 0;

  template <class Archive>
  void archive(Archive& bytes) {
    bytes(gain, offset);
  }
};

/// Fits the light by iteratively reweighted least squares, so up to about half of the picture may show
/// something else. Returns gain 1 and offset 0 for a picture of another scene. `start`: initial value, such
/// as the light of the previous frame.
Light fit_light(std::span<const float> picture, std::span<const float> reference, const Light& start);

/// Moves a grey level, which was `scaled` to the light of the reference, as close to the reference as it may
/// be: a white point may be brighter than its level, and so may an overexposed reference.
inline float within_limits(float scaled, bool white, float reference, bool overexposed) {
  if (white) scaled = std::max(scaled, reference);
  if (overexposed) scaled = std::min(scaled, reference);
  return scaled;
}

}  // namespace sfft::video
