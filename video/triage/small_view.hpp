// SPDX-License-Identifier: Apache-2.0
// Draws a small picture of each frame from the lowest frequencies of its spectrum.
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "sfft/dense.hpp"
#include "sfft/plan.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

/// Reads frames of one size with a sparse plan for a block of the lowest frequencies. The planner learns from
/// the first frame what aliases. Use an object from one thread at a time.
class SmallView {
 public:
  /// `k`: approximate number of coefficients; `max_samples`: max. share of the pixels to read (0: automatic).
  /// Throws Error(invalid_argument) for pictures below 32 by 32 pixels, and Error(type_mismatch) if samples
  /// do not have 8 or 16 bits.
  SmallView(const SignalView& first_frame, int k, double max_samples);

  /// Size of the small picture in points, which are evenly spaced over the frame.
  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  std::size_t points() const noexcept {
    return static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  }
  /// Converts a coordinate of the small picture to pixels of the frame.
  double frame_x(double x) const noexcept;
  double frame_y(double y) const noexcept;

  /// Draws a frame: grey levels on a scale of 255, row-major. Throws Error(shape_mismatch) for a frame that
  /// differs from the first in size or type.
  void read(const SignalView& frame, std::vector<float>& picture);

 private:
  SignalView region_of(const SignalView& frame) const;

  Shape shape_;
  ElementType type_;
  Region region_;
  double scale_ = 1;
  int width_ = 0, height_ = 0;
  std::optional<Plan<float>> plan_;
  std::optional<dense::Plan<float>> drawing_;
  Workspace workspace_;
  Spectrum<float> spectrum_;
  /// Where a coefficient goes in the small picture's half spectrum, and with which factor.
  struct Place {
    std::size_t at;
    std::ptrdiff_t mirrored;  ///< index of its conjugate; -1: not stored
    bool conjugate;
    float factor;
  };
  std::vector<Place> places_;
  std::vector<std::complex<float>> half_;
  std::vector<std::byte> drawing_workspace_;
};

}  // namespace sfft::video
