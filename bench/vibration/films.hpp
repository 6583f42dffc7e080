// SPDX-License-Identifier: Apache-2.0
// Draws recordings for `sfft-video vibration`: stills under light of many kinds, and objects that vibrate.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "video/sources/source.hpp"

namespace sfft::bench {

/// How light changes a still in which nothing moves.
enum class Light : std::uint8_t {
  flicker,     ///< lamps on the mains light the whole picture
  bands,       ///< the same with a rolling shutter, which shows moving bands along rows or columns
  lamp,        ///< flicker in an area with a soft edge
  screen,      ///< flicker in an area with a sharp edge
  exposure,    ///< automatic exposure that hunts in steps
  gamma,       ///< white balance and tone curve that change
  shadow,      ///< swinging edge of a shadow, soft or hard
  leaves,      ///< sun through leaves: patches that sway
  dimming,     ///< pulse-width modulation: fine bands with sharp edges
  fading,      ///< light that fades, and vignetting that changes
  highlights,  ///< bright spots that pulse, clipped
  pumping,     ///< coding quality that varies with the groups of pictures
};
inline constexpr std::array<std::string_view, 12> kLightNames = {
    "flicker", "bands",  "lamp",    "screen", "exposure",   "gamma",
    "shadow",  "leaves", "dimming", "fading", "highlights", "pumping"};

/// A vibration of the whole picture or of a part of it.
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
  Vibration vibration;  ///< the true vibration; amplitude 0 for a still
};

/// Draws a still under this light. A seed gives the same film on every machine.
DrawnFilm still_under(Light light, std::uint64_t seed);
/// Draws a vibration of this maximum amplitude over the picture. `noise` is an index into kNoiseLevels.
DrawnFilm vibrating(double amplitude_px, std::size_t noise, std::uint64_t seed);

}  // namespace sfft::bench
