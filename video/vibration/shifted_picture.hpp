// SPDX-License-Identifier: Apache-2.0
// A picture of floats, which can be moved by a fraction of a pixel.
#pragma once

#include <cstdint>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::video {

struct Picture {
  std::int64_t width = 0, height = 0;
  std::vector<float> samples;

  SignalView view() const { return {samples, Shape{height, width}}; }
};

/// Converts 8-bit, 16-bit or float samples.
Picture to_picture(const SignalView& view);

/// Removes most of the picture's white noise of the given variance: every coefficient of its spectrum loses
/// several times the power that this noise adds.
Picture denoised(const Picture& picture, double variance);

/// Moves a picture by x pixels to the right and y down, with Lanczos' windowed sinc of eight samples. Pixels
/// that enter repeat the edge.
Picture shifted(const Picture& picture, double x, double y);

}  // namespace sfft::video
