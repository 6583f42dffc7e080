// SPDX-License-Identifier: Apache-2.0
// A bounded record of a measurement over time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sfft::video {

struct TimelinePoint {
  double seconds = 0, value = 0;

  template <class Archive>
  void archive(Archive& bytes) {
    bytes(seconds, value);
  }
};

/// Keeps the maximum over each of equally long intervals. When full, it merges neighbours.
class Timeline {
 public:
  explicit Timeline(std::size_t max_points = 1200) : max_(max_points) {}

  void add(double seconds, double value) {
    if (in_last_ > 0 && in_last_ < stretch_) {
      ++in_last_;
      points_.back().value = std::max(points_.back().value, value);
      return;
    }
    if (points_.size() >= max_) {
      const std::size_t half = points_.size() / 2;
      for (std::size_t i = 0; i < half; ++i)
        points_[i] = {points_[2 * i].seconds, std::max(points_[2 * i].value, points_[2 * i + 1].value)};
      points_.resize(half);
      stretch_ *= 2;
    }
    points_.push_back({seconds, value});
    in_last_ = 1;
  }
  const std::vector<TimelinePoint>& points() const noexcept { return points_; }

  template <class Archive>
  void archive(Archive& bytes) {
    bytes(points_, stretch_, in_last_);
  }

 private:
  std::size_t max_;  // even
  std::vector<TimelinePoint> points_;
  std::int64_t stretch_ = 1, in_last_ = 0;
};

}  // namespace sfft::video
