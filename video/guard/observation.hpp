// SPDX-License-Identifier: Apache-2.0
// What the guard measures in one frame, before it judges.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "video/guard/activity.hpp"
#include "video/guard/landmarks.hpp"
#include "video/guard/layout.hpp"
#include "video/guard/registration.hpp"

namespace sfft::video {

struct Observation {
  std::int64_t frame = 0;
  double interval_s = 0.04;  ///< usual time between frames that are judged
  Registration registration;
  LandmarkReport landmarks;

  double changed = 0;  ///< share of the picture that does not show the scene, where the registration says
  double struck = 0;   ///< the same without what moves from frame to frame
  bool rearranged = false;  ///< what has struck is as bright, structured and detailed as what was there
  double level = 0;         ///< mean grey level, 0 to 1 of what the samples can hold
  double brightening = 0;   ///< since the frame before: logarithm of the factor on most tiles' levels
  double relighting = 0;    ///< the same whatever its sign, which other light may change from tile to tile
  double spread = 0;        ///< standard deviation of grey levels, the same unit
  double dark = 0;          ///< share of sampled pixels near black
  double bright = 0;        ///< share of sampled pixels near white
  double light = 0;         ///< change of the lighting: natural logarithm of the factor on the mean level
  double gain = 1;          ///< common factor on grey levels; 1 where it is not known
  double sharpness = 1;     ///< amplitude of the finest rings over the reference's and over the gain
  double sharpness_error = 0;
  double detail = 1;    ///< differences of neighbouring pixels over the reference's, relative to the contrast
  double texture = 0;   ///< the same differences in half of the picture at least, unit of `level`
  double richness = 1;  ///< energy of coarse structure over the reference's, whatever it shows
  double change = 0;    ///< root mean square change of the coefficients since the frame before, grey levels
  TileActivity activity{};  ///< of pixels, tile by tile
  bool repeats = false;     ///< not one value differs from the frame before
  double returning = 0;     ///< Replay::strength(), frames() and period()
  std::int64_t returned_frames = 0, period = 0;
  std::array<double, kRings> rings{};  ///< amplitude of each ring over the reference's
};

}  // namespace sfft::video
