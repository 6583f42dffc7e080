// SPDX-License-Identifier: Apache-2.0
// The picture that the low block of a template describes, with a few dozen points per side.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "sfft/dense.hpp"
#include "video/guard/layout.hpp"
#include "video/guard/pose.hpp"

namespace sfft::video {

/// Draws small pictures. Points lie at equal distances over the region, row-major; the values are grey
/// levels.
class SmallPictures {
 public:
  explicit SmallPictures(const Layout& layout);

  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  std::size_t points() const noexcept { return static_cast<std::size_t>(width_ * height_); }
  /// Pixels of the frame between neighbouring points.
  double step_x() const noexcept { return step_x_; }
  double step_y() const noexcept { return step_y_; }

  /// Draws the scene moved back by (x, y) pixels. `low` is in the order of Layout::block. `structure`:
  /// subtracts the picture blurred over a few points, which is the lighting.
  void draw(std::span<const std::complex<float>> low, double x, double y, bool structure,
            std::vector<float>& picture);
  /// Derivatives of the structure by x and y, per pixel of the frame.
  void gradients(std::span<const std::complex<float>> low, std::vector<float>& by_x,
                 std::vector<float>& by_y);
  /// The low block of the structure in `low`, up to a factor, with a rotation and a zoom removed.
  void turn_back(std::span<const std::complex<float>> low, const Pose& turn,
                 std::vector<std::complex<float>>& turned);
  /// Correlation of two scenes over shifts of whole steps. Both are under a Hann window, and each frequency
  /// is weighted by the square root of its amplitude. Row-major, shift (0, 0) first, negative shifts wrapped.
  void correlate(std::span<const std::complex<float>> reference, std::span<const std::complex<float>> low,
                 std::vector<float>& surface);

 private:
  void transform(std::vector<float>& picture);
  std::span<std::byte> room();
  std::size_t half_at(int fx, int fy) const noexcept {
    return static_cast<std::size_t>((fy < 0 ? fy + height_ : fy) * (width_ / 2 + 1) + fx);
  }
  /// A scene's low block under a Hann window, in the same order; invalid at the block's limits.
  void window(std::span<const std::complex<float>> low, std::vector<std::complex<float>>& windowed);

  int columns_, rows_;
  int width_, height_;
  double step_x_, step_y_;
  std::int64_t region_width_, region_height_;
  dense::Plan<float> plan_;
  /// Tapers in the order of Layout::block, divided by the number of points of the region: for the whole
  /// picture, and for the structure.
  std::vector<float> taper_, structure_taper_;
  std::vector<float> upright_, turned_;
  std::vector<std::complex<float>> half_, ramp_x_, ramp_y_, lines_, windowed_, reference_;
  std::vector<std::byte> workspace_;
};

}  // namespace sfft::video
