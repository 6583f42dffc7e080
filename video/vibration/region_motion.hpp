// SPDX-License-Identifier: Apache-2.0
// Follows the motion of a part of the picture, by a template of its own.
#pragma once

#include <cstdint>
#include <memory>

#include "sfft/types.hpp"
#include "video/motion/phase_shift.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

/// The part of a frame that a region covers.
SignalView part(const SignalView& frame, const Region& region);

struct RegionMotionOptions {
  std::int64_t k = 0;      ///< frequencies; 0: 1000, fewer for small regions
  double max_samples = 0;  ///< share of the pixels that may be read; 0: all
  double prior_px = 0;     ///< see PhaseShiftOptions
};

/// Where a region is, relative to the first frame. Shifts are measured against a reference frame, and added
/// up where a new reference was taken.
struct RegionSample {
  double x = 0, y = 0;                 ///< pixels
  std::array<double, 3> covariance{};  ///< xx, xy, yy in square pixels; of the phases alone
  double gain = 1;                     ///< contrast, relative to the reference
  double unlike = 0;  ///< amplitude that the motion leaves over, relative to the coefficients
  bool lost = false;  ///< the picture no longer resembles the reference: the place is the last one known
};

class RegionMotion {
 public:
  /// Learns from the region of the first frame. Throws Error for regions outside of it.
  RegionMotion(const SignalView& first, const Region& region, const RegionMotionOptions& options);
  ~RegionMotion();
  RegionMotion(RegionMotion&&) noexcept;
  RegionMotion& operator=(RegionMotion&&) noexcept;

  const Region& region() const noexcept;
  /// False for regions without structure whose motion could be seen, such as a clear sky or a black frame.
  bool structured() const noexcept;
  std::int64_t frequencies() const noexcept;
  double samples_fraction() const noexcept;  ///< of the region's pixels that are read per frame

  /// Largest apparent motion of the region under a change of light, in pixels per share of the light.
  double unevenness_px() const noexcept;
  /// Standard error of a place when samples that carry no other noise are rounded to whole levels.
  double rounding_px() const noexcept;

  /// The next frame. A region that drifts several pixels away from its reference takes a new one.
  RegionSample push(const SignalView& frame);
  /// Makes `frame` the reference, at the place where the region was last: after a change of scene.
  void renew(const SignalView& frame);
  std::int64_t renewals() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sfft::video
