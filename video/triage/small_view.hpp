// SPDX-License-Identifier: Apache-2.0
// A small picture of each frame, drawn from the lowest frequencies of its spectrum.
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "sfft/dense.hpp"
#include "sfft/plan.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

/// Reads frames of one size through a sparse plan at every frequency of a low block. The first frame tells
/// the planner what aliases. One thread at a time.
class SmallView {
 public:
  /// About `k` coefficients, from at most `max_samples` of the pixels (0: automatic). Throws
  /// Error(invalid_argument) for a picture too small to have tiles, Error(type_mismatch) for one that is not
  /// of 8 or 16 bits.
  SmallView(const SignalView& first_frame, int k, double max_samples);

  /// Points of the small picture, which lie at equal distances over the frame.
  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  std::size_t points() const noexcept {
    return static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  }
  /// Place in the frame, in pixels, of a point of the small picture.
  double frame_x(double x) const noexcept;
  double frame_y(double y) const noexcept;

  /// Grey levels on a scale to 255, row-major. Throws Error(shape_mismatch) for a frame unlike the first.
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
  Workspace<float> workspace_;
  Spectrum<float> spectrum_;
  /// Where a coefficient goes in the small picture's half spectrum, and with which factor.
  struct Place {
    std::size_t at;
    std::ptrdiff_t mirrored;  ///< of its conjugate; -1: none is kept
    bool conjugate;
    float factor;
  };
  std::vector<Place> places_;
  std::vector<std::complex<float>> half_;
  std::vector<std::byte> drawing_workspace_;
};

}  // namespace sfft::video
