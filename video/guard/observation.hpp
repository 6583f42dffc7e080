// SPDX-License-Identifier: Apache-2.0
// What the guard measures in one frame before it judges.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "video/guard/activity.hpp"
#include "video/guard/landmarks.hpp"
#include "video/guard/layout.hpp"
#include "video/guard/registration.hpp"

namespace sfft::video {

/// Share of the pixels near white above which a picture is white even if it shows a trace of the scene.
inline constexpr double kAllWhite = 0.9;

struct Observation {
  std::int64_t frame = 0;
  double interval_s = 0.04;  ///< usual time between judged frames
  double elapsed_s = 0.04;   ///< time since the previous one
  Registration registration;
  LandmarkReport landmarks;

  double changed = 0;       ///< share of the picture that does not show the scene at the registered pose
  double struck = 0;        ///< the same without parts that move from frame to frame
  bool rearranged = false;  ///< changed, still parts are as bright, structured and detailed as before
  double level = 0;         ///< mean grey level, as a share of the full range
  double brightening = 0;  ///< median natural logarithm of the tiles' levels over those of the previous frame
  double relighting = 0;   ///< the same of absolute values: other light may also darken tiles
  double relit_most = 0;   ///< what three quarters of these absolute values exceed
  double uneven = 0;       ///< median absolute deviation of the tiles' logarithms from `brightening`
  double spread = 0;       ///< standard deviation of grey levels, as a share of the full range
  double dark = 0;         ///< share of sampled pixels near black
  double bright = 0;       ///< share of sampled pixels near white
  double light = 0;        ///< change of the lighting: natural logarithm of the factor on the mean level
  double gain = 1;         ///< common factor on grey levels; 1 if unknown
  double sharpness = 1;    ///< amplitude of the finest rings relative to the reference's, divided by the gain
  double sharpness_error = 0;
  double detail = 1;  ///< differences of neighbouring pixels relative to the reference's, divided by the gain
  double texture = 0;   ///< median of these differences over the tiles, as a share of the full range
  double richness = 1;  ///< energy of coarse structure relative to the reference's, whatever it shows
  double change = 0;    ///< root mean square change of the coefficients since the previous frame, grey levels
  TileActivity activity{};  ///< activity of the pixels of each tile
  bool repeats = false;     ///< no coefficient differs from the previous frame's
  double returning = 0;     ///< Replay::strength(), frames() and period_s()
  std::int64_t returned_frames = 0;
  double period_s = 0;
  std::array<double, kRings> rings{};  ///< amplitude of each ring relative to the reference's, over the gain
};

}  // namespace sfft::video
