// SPDX-License-Identifier: Apache-2.0
// Warps are bicubic and blurs Gaussian; covers are drawn from a seeded generator.
#include "bench/guard/tamper.hpp"

#include <cmath>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <stdexcept>

namespace sfft::bench {

Clip read_clip(const std::string& path, int limit) {
  cv::VideoCapture capture(path, cv::CAP_FFMPEG);
  if (!capture.isOpened()) throw std::runtime_error("'" + path + "' cannot be decoded");
  Clip clip;
  clip.name = path.substr(path.rfind('/') + 1);
  clip.fps = capture.get(cv::CAP_PROP_FPS);
  cv::Mat image;
  while (static_cast<int>(clip.frames.size()) < limit && capture.read(image)) {
    cv::Mat grey;
    cv::cvtColor(image, grey, cv::COLOR_BGR2GRAY);
    clip.frames.push_back(grey);
  }
  if (clip.frames.empty()) throw std::runtime_error("'" + path + "' holds no frames");
  return clip;
}

SignalView view(const cv::Mat& frame) {
  return SignalView::rows(frame.ptr<std::uint8_t>(), Shape{frame.rows, frame.cols},
                          static_cast<std::int64_t>(frame.step1()));
}

cv::Mat warped(const cv::Mat& frame, double x, double y, double degrees, double zoom) {
  const cv::Point2f middle(0.5F * static_cast<float>(frame.cols), 0.5F * static_cast<float>(frame.rows));
  cv::Mat matrix = cv::getRotationMatrix2D(middle, degrees, zoom);
  matrix.at<double>(0, 2) += x;
  matrix.at<double>(1, 2) += y;
  cv::Mat out;
  cv::warpAffine(frame, out, matrix, frame.size(), cv::INTER_CUBIC, cv::BORDER_REFLECT_101);
  return out;
}

cv::Mat shifted(const cv::Mat& frame, double x, double y) {
  constexpr int kReach = 12;
  const auto kernel = [](double fraction) {
    cv::Mat taps(1, 2 * kReach + 1, CV_64F);
    double sum = 0;
    for (int i = -kReach; i <= kReach; ++i) {
      const double at = i + fraction;  // filter2D correlates: out(p) = sum of taps(i) in(p + i)
      const double sinc = at == 0 ? 1.0 : std::sin(CV_PI * at) / (CV_PI * at);
      const double window = std::pow(std::cos(0.5 * CV_PI * at / (kReach + 1)), 2);
      taps.at<double>(i + kReach) = sinc * window;
      sum += sinc * window;
    }
    return cv::Mat(taps / sum);
  };
  const double whole_x = std::round(x);
  const double whole_y = std::round(y);
  const int rim = static_cast<int>(std::max(std::abs(whole_x), std::abs(whole_y))) + 1;
  cv::Mat padded;
  cv::copyMakeBorder(frame, padded, rim, rim, rim, rim, cv::BORDER_REFLECT_101);
  cv::Mat moved = padded(cv::Rect(rim - static_cast<int>(whole_x), rim - static_cast<int>(whole_y),
                                  frame.cols, frame.rows))
                      .clone();
  moved.convertTo(moved, CV_64F);
  cv::Mat out;
  cv::sepFilter2D(moved, out, CV_64F, kernel(x - whole_x), kernel(y - whole_y), {-1, -1}, 0,
                  cv::BORDER_REFLECT_101);
  out.convertTo(out, CV_8U);
  return out;
}

cv::Mat blurred(const cv::Mat& frame, double sigma) {
  cv::Mat out;
  cv::GaussianBlur(frame, out, {}, sigma, sigma, cv::BORDER_REFLECT_101);
  return out;
}

cv::Mat relit(const cv::Mat& frame, double gain, double offset, double gamma, double noise, cv::RNG& random) {
  cv::Mat table(1, 256, CV_8U);
  for (int i = 0; i < 256; ++i) {
    const double light = std::max(0.0, gain * i / 255.0 + offset);
    table.at<std::uint8_t>(i) = cv::saturate_cast<std::uint8_t>(255 * std::pow(light, gamma));
  }
  cv::Mat out;
  cv::LUT(frame, table, out);
  if (noise > 0) {
    cv::Mat grain(frame.size(), CV_16S);
    random.fill(grain, cv::RNG::NORMAL, 0, noise);
    cv::add(out, grain, out, cv::noArray(), CV_8U);
  }
  return out;
}

Cover::Cover(cv::Size size, double share, cv::RNG& random) {
  // The height mixes a random direction with the distance from a random point. The cover is the level set
  // that contains `share` of the picture.
  cv::Mat height(size, CV_32F);
  const double angle = random.uniform(0.0, 2 * CV_PI);
  const double px = random.uniform(0.0, 1.0);
  const double py = random.uniform(0.0, 1.0);
  const double blob = random.uniform(0.0, 1.0);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const double u = static_cast<double>(x) / size.width;
      const double v = static_cast<double>(y) / size.height;
      const double slope = std::cos(angle) * u + std::sin(angle) * v;
      height.at<float>(y, x) = static_cast<float>((1 - blob) * slope + blob * std::hypot(u - px, v - py));
    }
  }
  cv::Mat sorted;
  cv::sort(height.reshape(1, 1), sorted, cv::SORT_EVERY_ROW | cv::SORT_ASCENDING);
  const int last = static_cast<int>(sorted.total()) - 1;
  const float cut = sorted.at<float>(std::clamp(static_cast<int>(share * last), 0, last));
  mask_ = height <= cut;
  mask_.convertTo(mask_, CV_32F, 1 / 255.0);
  if (share < 1) cv::GaussianBlur(mask_, mask_, {}, random.uniform(1.0, 8.0));
  const double level = random.uniform(5.0, 200.0);
  const double texture = random.uniform(0.0, 6.0);
  surface_.create(size, CV_32F);
  random.fill(surface_, cv::RNG::NORMAL, 0, 1);
  cv::GaussianBlur(surface_, surface_, {}, 5);
  surface_ = surface_ * (texture * 10) + level;
}

cv::Mat Cover::over(const cv::Mat& frame, cv::RNG& random) const {
  cv::Mat scene;
  frame.convertTo(scene, CV_32F);
  cv::Mat grain(frame.size(), CV_32F);
  random.fill(grain, cv::RNG::NORMAL, 0, 1.0);
  cv::Mat out = scene.mul(1 - mask_) + (surface_ + grain).mul(mask_);
  out.convertTo(out, CV_8U);
  return out;
}

}  // namespace sfft::bench
