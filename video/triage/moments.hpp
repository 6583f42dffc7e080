// SPDX-License-Identifier: Apache-2.0
// Gives access to one square of the small pictures before and after a moment.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sfft::video {

/// A rectangle of points.
struct PointSquare {
  int left = 0, top = 0, across = 0, down = 0;

  std::size_t points() const noexcept {
    return static_cast<std::size_t>(across) * static_cast<std::size_t>(down);
  }
};

/// Pictures in order of time.
class Moments {
 public:
  struct Moment {
    std::span<const float> picture;  ///< row-major; must stay valid
    double seconds = 0;
    bool gap = false;  ///< frames are missing before it, so how a change came is unknown
  };

  explicit Moments(int width) : width_(width) {}

  void take(std::vector<Moment> moments) { moments_ = std::move(moments); }
  std::size_t size() const noexcept { return moments_.size(); }
  bool gap(std::size_t moment) const { return moments_[moment].gap; }
  double seconds(std::size_t moment) const { return moments_[moment].seconds; }
  std::span<const float> picture(std::size_t moment) const { return moments_[moment].picture; }

  /// Selects the square that shown() returns.
  void cut_out(const PointSquare& square);
  /// The square at that moment row by row, padded with zeros to a multiple of four.
  std::span<const float> shown(std::size_t moment) const;
  /// Copies a square of another picture of this size, in the layout of shown().
  void cut_out(std::span<const float> picture, const PointSquare& square, std::vector<float>& to) const;

 private:
  int width_;
  std::vector<Moment> moments_;
  std::vector<float> shown_;
  std::size_t padded_ = 0;
};

}  // namespace sfft::video
