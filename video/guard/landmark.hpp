// SPDX-License-Identifier: Apache-2.0
// One patch of the scene that is easily told from its surroundings.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "video/guard/patch.hpp"

namespace sfft::video {

struct Landmark {
  int x = 0, y = 0;                              ///< of the patch's corner in the scene
  double from_x = 0, from_y = 0;                 ///< of its centre from the scene's
  Patch expected{};                              ///< smoothed a little, without its mean
  Patch coarse{};                                ///< the same smoothed a lot
  Patch by_x{}, by_y{};                          ///< gradients of `expected`
  double energy = 0;                             ///< of `expected`
  double coarse_energy = 0, coarse_product = 0;  ///< of `coarse`, and with `expected`
  double along_x = 0, along_y = 0;               ///< of `expected` with its gradients
  int tile = 0;                                  ///< of the scene
  double usual = 0.9;                            ///< correlation in ordinary frames
  // In the latest frame:
  Patch seen{};  ///< smoothed as `expected`, without its mean
  bool inside = false;
  double correlation = 0;  ///< of `seen` with `expected` or with `coarse`, whichever is more
  double gain = 1;
  double rest = 0;                ///< energy that `expected` does not explain
  double step_x = 0, step_y = 0;  ///< shift by this landmark alone
  double xx = 0, xy = 0, yy = 0, tx = 0, ty = 0;

  /// It correlates well enough in ordinary frames to be relied on, and lies in the latest one.
  bool usable() const noexcept { return inside && usual > 0.55; }
  bool there() const noexcept { return correlation > 0.6 * usual; }

  /// Replaces what is expected and all that follows from it; `patch` has no mean.
  void expect(const Patch& patch);
  /// Compares with a patch of the latest frame, which need not be without its mean.
  void compare(const Patch& patch);
};

/// The best patch of each cell of a grid over `scene`, row-major grey levels of `width` x `height` pixels:
/// the one whose smaller eigenvalue of the structure tensor is the largest (Shi and Tomasi, CVPR 1994). Cells
/// without one of at least half a grey level a pixel have none. `unit`: a 255th of the full range.
std::vector<Landmark> choose_landmarks(std::span<const float> scene, std::int64_t width, std::int64_t height,
                                       double unit);

}  // namespace sfft::video
