// SPDX-License-Identifier: Apache-2.0
// A picture of floats, and the same picture moved by a fraction of a pixel.
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

/// Samples of 8 or 16 bits, or float.
Picture to_picture(const SignalView& view);

/// The picture without most of its white noise of the given variance: every coefficient of its spectrum loses
/// what noise of that power would have given it, several times over.
Picture denoised(const Picture& picture, double variance);

/// Moves a picture to the right by x and down by y pixels, by Lanczos' windowed sinc of eight samples; what
/// enters repeats the edge.
Picture shifted(const Picture& picture, double x, double y);

}  // namespace sfft::video
