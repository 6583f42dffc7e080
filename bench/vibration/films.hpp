// SPDX-License-Identifier: Apache-2.0
// Drawn recordings for `sfft-video vibration`: stills under light of many kinds, and things that vibrate.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "video/sources/source.hpp"

namespace sfft::bench {

/// What changes in a still without anything that moves.
enum class Light : std::uint8_t {
  flicker,     ///< lamps on the mains, over the whole picture
  bands,       ///< the same, by a rolling shutter: bands along rows or columns that move
  lamp,        ///< flicker of a part with a soft edge
  screen,      ///< flicker of a part with a sharp edge
  exposure,    ///< automatic exposure that hunts, in steps
  gamma,       ///< white balance and tone curve that change
  shadow,      ///< edge of a shadow that swings, soft or hard
  leaves,      ///< sun through leaves: patches that sway
  dimming,     ///< pulse-width modulation: fine bands with sharp edges
  fading,      ///< light that fades, and vignetting that changes
  highlights,  ///< bright spots that pulse, clipped
  pumping,     ///< quality of coding that changes with the groups of pictures
};
inline constexpr std::array<std::string_view, 12> kLightNames = {
    "flicker", "bands",  "lamp",    "screen", "exposure",   "gamma",
    "shadow",  "leaves", "dimming", "fading", "highlights", "pumping"};

/// A vibration of the whole picture or of a part.
struct Vibration {
  double amplitude_px = 0;
  double hz = 0;
  bool part = false;
};

/// Standard deviations of a mid-grey sample's noise, in levels.
inline constexpr std::array<double, 3> kNoiseLevels = {0.5, 1.5, 4.0};

struct DrawnFilm {
  std::unique_ptr<video::FrameSource> source;
  double rate_hz = 0;
  int frames = 0;
  Vibration vibration;  ///< what was set; amplitude 0 for a still
};

/// A still under this light. The same seed gives the same film everywhere.
DrawnFilm still_under(Light light, std::uint64_t seed);
/// A vibration of this amplitude (at its largest place) with noise of this index of kNoiseLevels.
DrawnFilm vibrating(double amplitude_px, std::size_t noise, std::uint64_t seed);

}  // namespace sfft::bench
