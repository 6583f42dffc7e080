// SPDX-License-Identifier: Apache-2.0
// Stores the squares of all moments one after another.
#include "video/triage/moments.hpp"

#include <algorithm>

#include "video/triage/four.hpp"

namespace sfft::video {

namespace {

std::size_t padded(const PointSquare& square) {
  return (square.points() + kFour - 1) / kFour * kFour;
}

void copy(std::span<const float> picture, int width, const PointSquare& square, float* to) {
  for (int y = square.top; y < square.top + square.down; ++y)
    to = std::copy_n(picture.begin() + y * width + square.left, square.across, to);
}

}  // namespace

void Moments::cut_out(const PointSquare& square) {
  padded_ = padded(square);
  shown_.assign(padded_ * moments_.size(), 0);
  float* to = shown_.data();
  for (const Moment& moment : moments_) {
    copy(moment.picture, width_, square, to);
    to += padded_;
  }
}

void Moments::cut_out(std::span<const float> picture, const PointSquare& square,
                      std::vector<float>& to) const {
  to.assign(padded(square), 0);
  copy(picture, width_, square, to.data());
}

std::span<const float> Moments::shown(std::size_t moment) const {
  return std::span(shown_).subspan(moment * padded_, padded_);
}

}  // namespace sfft::video
