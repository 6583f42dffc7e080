// SPDX-License-Identifier: Apache-2.0
// Recognises lines that an encoder leaves in a spectrum: coding errors recur with every key frame, and with
// the sequence of frame kinds between key frames.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "video/vibration/analysis.hpp"

namespace sfft::video {

/// The number of frames between key frames, if nearly all intervals are equal and the recording spans at
/// least eight of them. Several spectral lines then lie between two of the encoder's. Otherwise 0.
/// `key_frames`: their frame numbers, ascending.
std::int64_t coding_period(std::span<const std::int64_t> key_frames, std::int64_t frames);

/// The frequency range of a spectral line, in cycles per frame.
struct CodingBand {
  double lowest, highest;
};
/// The lines in the spectrum of `between`, which marks frames coded from both earlier and later frames.
std::vector<CodingBand> coding_rhythm(const std::vector<bool>& between);

/// Marks peaks at multiples of `spacing` (0: none) and in the bands of `rhythm`, both in cycles per frame,
/// within `tolerance_hz` or the peaks' errors. `rate_hz`: frames per second. A peak that stands out among the
/// others is not marked. If there are few others, a peak far above the `detectable` amplitude is not marked.
void mark_coding(std::vector<VibrationPeak>& peaks, double spacing, std::span<const CodingBand> rhythm,
                 double rate_hz, double tolerance_hz, double detectable);

}  // namespace sfft::video
