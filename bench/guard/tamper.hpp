// SPDX-License-Identifier: Apache-2.0
// Simulates camera tampering on frames in memory with OpenCV, independently of the code under test.
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::bench {

/// A recording in memory: grey 8-bit frames of one size.
struct Clip {
  std::string name;
  double fps = 0;
  std::vector<cv::Mat> frames;
};

/// Reads at most `limit` frames of any recording that OpenCV decodes; throws std::runtime_error.
Clip read_clip(const std::string& path, int limit);

SignalView view(const cv::Mat& frame);

/// The frame shifted by (x, y) pixels, rotated by `degrees` about the centre and scaled by `zoom`, with
/// mirrored borders.
cv::Mat warped(const cv::Mat& frame, double x, double y, double degrees = 0, double zoom = 1);
/// The frame shifted exactly by (x, y) pixels (25-tap windowed sinc). OpenCV's warps have only 32 positions
/// per pixel.
cv::Mat shifted(const cv::Mat& frame, double x, double y);
/// The frame out of focus: blurred by a Gaussian of this standard deviation in pixels.
cv::Mat blurred(const cv::Mat& frame, double sigma);
/// Grey level g becomes 255 * (gain * g/255 + offset)^gamma, plus noise of this standard deviation.
cv::Mat relit(const cv::Mat& frame, double gain, double offset, double gamma, double noise, cv::RNG& random);

/// Something in front of the lens that hides a share of the picture. It grows from a side or corner or as a
/// blob, and has one grey level with a little texture and a soft edge.
class Cover {
 public:
  Cover(cv::Size size, double share, cv::RNG& random);
  cv::Mat over(const cv::Mat& frame, cv::RNG& random) const;

 private:
  cv::Mat mask_;     ///< 0 to 1, float
  cv::Mat surface_;  ///< float
};

}  // namespace sfft::bench
