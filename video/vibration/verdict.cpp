// SPDX-License-Identifier: Apache-2.0
// Writes warnings, and one sentence about the whole recording.
#include "video/vibration/analysis.hpp"

#include <fmt/format.h>

#include <vector>

namespace sfft::video {

namespace {

std::string frames_are(std::int64_t count) {
  return count == 1 ? "1 frame is" : fmt::format("{} frames are", count);
}

/// Explanations of a peak other than vibration, as the end of a sentence.
const char* doubt(const VibrationPeak& peak) {
  return peak.slow                 ? ", slowly, as if swaying"
         : peak.coding             ? ", perhaps by its coding alone"
         : peak.perhaps_brightness ? ", perhaps by light that flickers"
                                   : "";
}

}  // namespace

void add_warnings(VibrationReport& report) {
  const auto count = report.frames;
  if (count < static_cast<std::int64_t>(kMinSamples)) {
    report.warnings.push_back(
        fmt::format("{} too few to look for vibration: at least {} are needed, and three periods of "
                    "what vibrates.",
                    frames_are(count), kMinSamples));
    return;
  }
  for (const RegionVibration& region : report.regions) {
    const Region& at = region.region;
    if (!region.structured) {
      report.warnings.push_back(fmt::format(
          "The region {},{},{},{} has no structure in its first frame: its motion cannot be seen.", at.x,
          at.y, at.width, at.height));
    } else if (region.motion.outliers * 20 > static_cast<std::size_t>(count)) {
      report.warnings.push_back(fmt::format(
          "In {} of {} frames the picture is far from where it is in the others: jumps, cuts or things that "
          "pass by. They were drawn in, and spectra may suffer.",
          region.motion.outliers, count));
    }
  }
}

std::string verdict(const VibrationReport& report) {
  if (report.regions.empty()) return "Nothing was read.";
  const RegionVibration& region = report.regions[0];
  const PeakSearch& search = region.motion.search;
  if (!region.structured) return "The picture has no structure whose motion could be seen.";
  if (report.frames < static_cast<std::int64_t>(kMinSamples))
    return frames_are(report.frames) + " too few to look for vibration.";
  std::string part;
  if (!report.elsewhere.empty()) {
    const auto& first = report.elsewhere[0];
    const Region& at = report.tiles[first.tile].region;
    part = fmt::format("a part of it vibrates: {:.4f} Hz, {:.2g} px around x {}, y {}{}.",
                       first.peak.frequency_hz, first.peak.amplitude, at.x + at.width / 2,
                       at.y + at.height / 2, doubt(first.peak));
  }
  if (!search.searched)
    return fmt::format(
        "The picture could be followed in only {} of {} frames: whether it vibrates cannot be said{}",
        region.followed, report.frames,
        part.empty() ? ". Give the region that matters, with --roi." : "; " + part);
  const std::string band =
      fmt::format("between {:.3g} and {:.4g} Hz", search.lowest_hz, 0.5 * report.clock.rate_hz);
  if (region.motion.peaks.empty() && report.elsewhere.empty())
    return fmt::format(
        "No vibration above noise, which is {:.2g} px{}; {} a steady one of {:.2g} px would have been seen.",
        search.noise,
        region.at_floor ? " (what rounding to whole levels leaves: the frames differ by less)" : "", band,
        search.detectable);
  if (region.motion.peaks.empty())
    return fmt::format("The picture as a whole does not vibrate above noise, which is {:.2g} px; {}",
                       search.noise, part);
  const VibrationPeak& first = region.motion.peaks[0];
  if (report.in_a_part_alone())
    return fmt::format("The picture as a whole moves at {:.4f} Hz{}; {}", first.frequency_hz, doubt(first),
                       part);
  return fmt::format("It vibrates at {:.4f} ± {:.4f} Hz with an amplitude of {:.4f} ± {:.4f} px{}.",
                     first.frequency_hz, first.standard_error_hz, first.amplitude, first.amplitude_error,
                     doubt(first));
}

}  // namespace sfft::video
