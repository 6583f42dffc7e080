// SPDX-License-Identifier: Apache-2.0
// A scene drawn at any moment, as a camera of any rate would see it: the truth about what happens is known.
#pragma once

#include <cstdint>
#include <functional>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

namespace sfft::bench {

/// Houses, windows, ground and foliage: grey levels, float.
cv::Mat drawn_place(cv::Size size, cv::RNG& random);

/// Something that moves through the picture, or stands in it.
struct Walker {
  double from_s = 0, until_s = 0;
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;  ///< middle at both times, in pixels
  double width = 0, height = 0;
  double contrast = 0;  ///< grey levels from what is behind
};
void draw_walker(cv::Mat& picture, const Walker& walker, double seconds);

/// An event as it happens or as it is reported; `end_s` is infinite while it lasts.
struct Stretch {
  std::string kind;
  double start_s = 0, end_s = 0;
  std::string detail{};
};

/// Sensor noise of this deviation, and rounding to 8 bits.
cv::Mat exposed(const cv::Mat& picture, double noise, cv::RNG& random);

/// What an encoder leaves: 8x8 transforms of the difference from the frame before, of which small
/// coefficients are dropped; of the frame itself at key frames.
class DrawnCodec {
 public:
  /// `step`: of the quantizer, grey levels; 0: none.
  DrawnCodec(double step, int key_every) : step_(step), key_every_(key_every) {}
  cv::Mat code(const cv::Mat& frame);

 private:
  double step_;
  int key_every_, frames_ = 0;
  cv::Mat decoded_;
};

/// Runs `work(i)` for 0 … count-1 on that number of threads.
void each_of(int count, int threads, const std::function<void(int)>& work);

}  // namespace sfft::bench
