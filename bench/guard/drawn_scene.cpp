// SPDX-License-Identifier: Apache-2.0
// Grey levels are kept as float until a camera exposes them.
#include "bench/guard/drawn_scene.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace sfft::bench {

cv::Mat drawn_place(cv::Size size, cv::RNG& random) {
  cv::Mat place(size, CV_32F, cv::Scalar(random.uniform(70.0, 130.0)));
  // Adds structure of every size, with less contrast at fine sizes.
  for (int octave = 2; octave <= size.width / 2; octave *= 2) {
    cv::Mat coarse(std::max(2, size.height * octave / size.width), octave, CV_32F);
    random.fill(coarse, cv::RNG::NORMAL, 0, random.uniform(6.0, 14.0) * std::pow(octave, -0.15));
    cv::Mat fine;
    cv::resize(coarse, fine, size, 0, 0, cv::INTER_CUBIC);
    place += fine;
  }
  const int houses = random.uniform(6, 14);
  for (int i = 0; i < houses; ++i) {
    const cv::Rect house(random.uniform(-20, size.width - 20), random.uniform(-20, size.height - 30),
                         random.uniform(size.width / 16, size.width / 4),
                         random.uniform(size.height / 12, size.height / 3));
    const double level = random.uniform(-45.0, 45.0);
    if (const cv::Rect seen = house & cv::Rect({}, size); seen.area() > 0) place(seen) += level;
    for (int x = house.x + 4; x < house.x + house.width - 8; x += 12) {
      for (int y = house.y + 4; y < house.y + house.height - 8; y += 14) {
        const cv::Rect window = cv::Rect(x, y, 6, 8) & cv::Rect({}, size);
        if (window.area() > 0) place(window) += level > 0 ? -30 : 30;
      }
    }
  }
  for (int i = 0; i < 8; ++i)
    cv::line(place, {random.uniform(0, size.width), random.uniform(0, size.height)},
             {random.uniform(0, size.width), random.uniform(0, size.height)}, random.uniform(40.0, 200.0),
             random.uniform(1, 3), cv::LINE_AA);
  cv::min(cv::max(place, 12), 240, place);
  return place;
}

void draw_walker(cv::Mat& picture, const Walker& walker, double seconds) {
  if (seconds < walker.from_s || seconds >= walker.until_s) return;
  const double way = (seconds - walker.from_s) / (walker.until_s - walker.from_s);
  const double x = walker.x0 + way * (walker.x1 - walker.x0);
  const double y = walker.y0 + way * (walker.y1 - walker.y0);
  cv::Mat mask(picture.size(), CV_32F, cv::Scalar(0));
  // Draws a body, a head and two swinging legs.
  const auto at = [&](double dx, double dy) {
    return cv::Point(static_cast<int>(std::lround(16 * (x + dx * walker.width))),
                     static_cast<int>(std::lround(16 * (y + dy * walker.height))));
  };
  const auto axes = [&](double w, double h) {
    return cv::Size(std::max(8, static_cast<int>(16 * w * walker.width)),
                    std::max(8, static_cast<int>(16 * h * walker.height)));
  };
  const double swing = 0.22 * std::sin(6.28 * 1.8 * (seconds - walker.from_s));
  const auto blob = [&](double dx, double dy, double w, double h) {
    cv::ellipse(mask, at(dx, dy), axes(w, h), 0, 0, 360, cv::Scalar(1), cv::FILLED, cv::LINE_8, 4);
  };
  blob(0, -0.1, 0.4, 0.26);
  blob(0, -0.42, 0.2, 0.09);
  blob(swing, 0.3, 0.16, 0.22);
  blob(-swing, 0.3, 0.16, 0.22);
  cv::GaussianBlur(mask, mask, {}, 0.7);
  picture += mask * walker.contrast;
}

cv::Mat exposed(const cv::Mat& picture, double noise, cv::RNG& random) {
  cv::Mat grain(picture.size(), CV_32F);
  random.fill(grain, cv::RNG::NORMAL, 0, std::max(1e-3, noise));
  cv::Mat frame;
  cv::Mat(picture + grain).convertTo(frame, CV_8U);
  return frame;
}

cv::Mat DrawnCodec::code(const cv::Mat& frame) {
  if (!(step_ > 0)) return frame;
  const bool key = frames_++ % key_every_ == 0;
  cv::Mat now;
  frame.convertTo(now, CV_32F);
  if (decoded_.empty()) decoded_ = cv::Mat::zeros(frame.size(), CV_32F);
  cv::Mat predicted = key ? cv::Mat(cv::Mat::zeros(frame.size(), CV_32F)) : decoded_.clone();
  cv::Mat block, spectrum;
  for (int y = 0; y + 8 <= frame.rows; y += 8) {
    for (int x = 0; x + 8 <= frame.cols; x += 8) {
      const cv::Rect at(x, y, 8, 8);
      cv::subtract(now(at), predicted(at), block);
      // A block whose difference is small is skipped.
      if (!key && cv::norm(block, cv::NORM_L1) < 64 * 0.33 * step_) continue;
      cv::dct(block, spectrum);
      for (int i = 0; i < 64; ++i) {
        float& value = spectrum.at<float>(i / 8, i % 8);
        const double levels = std::floor(std::abs(value) / step_ + (key ? 0.4 : 0.25));
        value = static_cast<float>(std::copysign(levels * step_, value));
      }
      cv::idct(spectrum, block);
      predicted(at) += block;
    }
  }
  cv::Mat out;
  predicted.convertTo(out, CV_8U);
  out.convertTo(decoded_, CV_32F);
  return out;
}

}  // namespace sfft::bench
