// SPDX-License-Identifier: Apache-2.0
// The change of light between two small pictures of a scene.
#pragma once

#include <algorithm>
#include <span>

namespace sfft::video {

/// Grey levels that may be overexposed. White is 235 in the usual range of video, and edges ring.
inline constexpr float kWhite = 228;

/// grey level = gain * reference + offset, for most of the picture.
struct Light {
  double gain = 1, offset = 0;

  template <class Archive>
  void archive(Archive& bytes) {
    bytes(gain, offset);
  }
};

/// Fits the light by iterated weighted least squares, so that up to about half of the picture may show
/// something else. A picture that is not of the same scene tells no light: its gain is 1, its offset 0.
/// `start`: where to begin, the light of the frame before.
Light fit_light(std::span<const float> picture, std::span<const float> reference, const Light& start);

/// A grey level that was `scaled` to the light of a reference. What was white may be any brighter, and so may
/// the reference where it is overexposed: they differ as far as they cannot be alike.
inline float within_limits(float scaled, bool white, float reference, bool overexposed) {
  if (white) scaled = std::max(scaled, reference);
  if (overexposed) scaled = std::min(scaled, reference);
  return scaled;
}

}  // namespace sfft::video
