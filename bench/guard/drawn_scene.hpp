// SPDX-License-Identifier: Apache-2.0
// Draws a scene at any time, as a camera of any rate would see it. The true events are known.
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "bench/threads.hpp"

namespace sfft::bench {

/// Draws houses, windows, ground and foliage in grey levels (float).
cv::Mat drawn_place(cv::Size size, cv::RNG& random);

/// A person or object that moves through the picture, or stands in it.
struct Walker {
  double from_s = 0, until_s = 0;
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;  ///< its middle at both times, in pixels
  double width = 0, height = 0;
  double contrast = 0;  ///< difference from what is behind it, in grey levels
};
void draw_walker(cv::Mat& picture, const Walker& walker, double seconds);

/// An event as it happens or as it is reported; `end_s` is infinite if it does not end.
struct Stretch {
  std::string kind;
  double start_s = 0, end_s = 0;
  std::string detail{};
};

/// Adds sensor noise of this standard deviation and rounds to 8 bits.
cv::Mat exposed(const cv::Mat& picture, double noise, cv::RNG& random);

/// Codes frames as an encoder does: it takes 8x8 transforms of the difference from the frame before (at key
/// frames, of the frame itself) and drops small coefficients.
class DrawnCodec {
 public:
  /// `step` is the quantizer's step in grey levels; 0 turns the codec off.
  DrawnCodec(double step, int key_every) : step_(step), key_every_(key_every) {}
  cv::Mat code(const cv::Mat& frame);

 private:
  double step_;
  int key_every_, frames_ = 0;
  cv::Mat decoded_;
};

}  // namespace sfft::bench
