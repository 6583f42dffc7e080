// SPDX-License-Identifier: Apache-2.0
// A landmark: a patch of the scene that is easily distinguished from its surroundings.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "video/guard/patch.hpp"

namespace sfft::video {

struct Landmark {
  int x = 0, y = 0;                              ///< top left corner of the patch in the scene
  double from_x = 0, from_y = 0;                 ///< offset of its centre from the scene's
  Patch expected{};                              ///< reference patch, slightly smoothed, with zero mean
  Patch coarse{};                                ///< the same, strongly smoothed
  Patch by_x{}, by_y{};                          ///< gradients of `expected`
  double energy = 0;                             ///< of `expected`
  double coarse_energy = 0, coarse_product = 0;  ///< energy of `coarse`, and its product with `expected`
  double along_x = 0, along_y = 0;               ///< products of `expected` with its gradients
  int tile = 0;                                  ///< tile of the scene in which it lies
  double usual = 0.9;                            ///< correlation in ordinary frames
  // In the latest frame:
  Patch seen{};  ///< smoothed like `expected`, with zero mean
  bool inside = false;
  double correlation = 0;  ///< of `seen` with `expected` or with `coarse`, whichever is larger
  double gain = 1;
  double rest = 0;                ///< energy that `expected` does not explain
  double step_x = 0, step_y = 0;  ///< shift that this landmark alone shows
  double xx = 0, xy = 0, yy = 0, tx = 0, ty = 0;

  /// Whether it correlates well enough in ordinary frames to be relied on, and lies inside the latest one.
  bool usable() const noexcept { return inside && usual > 0.55; }
  bool there() const noexcept { return correlation > 0.6 * usual; }

  /// Replaces `expected` and everything derived from it; `patch` has zero mean.
  void expect(const Patch& patch);
  /// Compares with a patch of the latest frame, whose mean is removed here.
  void compare(const Patch& patch);
};

/// Cells of the grid over the scene that has one landmark in each cell.
inline constexpr int kCellColumns = 12, kCellRows = 7;

/// The best patch of each cell of a grid over `scene`, row-major grey levels of `width` x `height` pixels:
/// the one whose structure tensor has the largest smaller eigenvalue (Shi and Tomasi, CVPR 1994). A cell
/// whose best patch has a root mean square gradient below half a grey level per pixel, in its weaker
/// direction, has none. `unit`: a 255th of the full range.
std::vector<Landmark> choose_landmarks(std::span<const float> scene, std::int64_t width, std::int64_t height,
                                       double unit);

}  // namespace sfft::video
