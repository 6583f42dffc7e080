// SPDX-License-Identifier: Apache-2.0
// The change of light between two small pictures of a scene.
#pragma once

#include <span>

namespace sfft::video {

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

}  // namespace sfft::video
