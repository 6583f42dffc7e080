// SPDX-License-Identifier: Apache-2.0
// Follows the motion of a part of the picture, with a separate template.
#pragma once

#include <cstdint>
#include <memory>

#include "sfft/types.hpp"
#include "video/motion/phase_shift.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

struct RegionMotionOptions {
  std::int64_t k = 0;      ///< frequencies; 0: 1000, fewer for small regions
  double max_samples = 0;  ///< share of the pixels that may be read; 0: all
  double prior_px = 0;     ///< see PhaseShiftOptions
};

/// The place of a region relative to the first frame. Shifts are measured relative to a reference frame, and
/// accumulate when a new reference is taken.
struct RegionSample {
  double x = 0, y = 0;                 ///< pixels
  std::array<double, 3> covariance{};  ///< xx, xy, yy in square pixels, from the phases alone
  double gain = 1;                     ///< contrast, relative to the reference
  double unlike = 0;                   ///< residual amplitude relative to the coefficients
  bool lost = false;  ///< the picture no longer resembles the reference; the place is the last known one
};

class RegionMotion {
 public:
  /// Learns from the region in the first frame. Throws Error for regions outside the frame.
  RegionMotion(const SignalView& first, const Region& region, const RegionMotionOptions& options);
  ~RegionMotion();
  RegionMotion(RegionMotion&&) noexcept;
  RegionMotion& operator=(RegionMotion&&) noexcept;

  const Region& region() const noexcept;
  /// False for regions without visible structure, such as a clear sky or a black frame.
  bool structured() const noexcept;
  std::int64_t frequencies() const noexcept;
  double samples_fraction() const noexcept;  ///< share of the region's pixels that are read per frame

  /// Max. apparent motion of the region caused by a change of light, in pixels per relative change.
  double unevenness_px() const noexcept;
  /// Standard error of a place if samples have no noise except rounding to whole levels.
  double rounding_px() const noexcept;

  /// Returns the region's place in the next frame. A region that drifts several pixels away from its
  /// reference takes a new one.
  RegionSample push(const SignalView& frame);
  /// Makes `frame` the reference at the last known place of the region, after a change of scene.
  void renew(const SignalView& frame);
  std::int64_t renewals() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sfft::video
