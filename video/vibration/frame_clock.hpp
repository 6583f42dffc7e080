// SPDX-License-Identifier: Apache-2.0
// Times of frames, and whether their rate is steady.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace sfft::video {

struct FrameClock {
  double rate_hz = 1;       ///< of the samples that are analysed
  const char* source = "";  ///< "given", "capture", "container", "time_stamps", "unknown"
  bool steady = true;       ///< false: series are interpolated at even times
  double shortest_seconds = 0, longest_seconds = 0;  ///< intervals between frames, if they vary
  std::vector<std::string> warnings;
};

/// `given_hz`: the true rate as the user knows it, 0 if not; it overrules everything. `nominal_hz`: the
/// container's, 0 if unknown. `seconds`: time of every frame; NaN where there is none.
FrameClock frame_clock(double given_hz, double nominal_hz, std::span<const double> seconds);
/// The same for a file that may state the camera's rate, `capture_hz`, 0 if not: where that is not the rate
/// at which frames are stored, it overrules time stamps.
FrameClock frame_clock(double given_hz, double capture_hz, double nominal_hz,
                       std::span<const double> seconds);

/// A series at even times, from the first frame on, by straight lines between samples at `seconds` that are
/// no further apart than 1.8 steps; NaN where no frame is close.
std::vector<double> at_even_times(std::span<const double> series, std::span<const double> seconds,
                                  double rate_hz);

}  // namespace sfft::video
