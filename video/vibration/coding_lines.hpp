// SPDX-License-Identifier: Apache-2.0
// Lines that an encoder leaves in a spectrum: errors of coding come again with every key frame, and with the
// order of the kinds of frames between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "video/vibration/analysis.hpp"

namespace sfft::video {

/// Frames from one key frame to the next where nearly all are as far apart, and several lines of the spectrum
/// lie between two of the encoder's; otherwise 0. `key_frames`: their numbers, rising.
std::int64_t coding_period(std::span<const std::int64_t> key_frames, std::int64_t frames);

/// Frequencies at which frames that are coded from others before and after come again: lines of their
/// sequence, in turns per frame, as ranges.
struct CodingBand {
  double lowest, highest;
};
std::vector<CodingBand> coding_rhythm(const std::vector<bool>& between);

/// Marks peaks at multiples of `spacing` (0: none), and those in `rhythm`, all in turns per frame; `rate_hz`:
/// frames per second. Within `tolerance_hz` or their errors. One that stands out among them, or far above the
/// `detectable` amplitude where they are few, is none of the encoder's.
void mark_coding(std::vector<VibrationPeak>& peaks, double spacing, std::span<const CodingBand> rhythm,
                 double rate_hz, double tolerance_hz, double detectable);

}  // namespace sfft::video
