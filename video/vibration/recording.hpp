// SPDX-License-Identifier: Apache-2.0
// First half of `sfft-video vibration`: reads a recording and follows the picture, regions and tiles.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "video/sources/run_status.hpp"
#include "video/sources/source.hpp"
#include "video/vibration/local_changes.hpp"
#include "video/vibration/region_motion.hpp"

namespace sfft::video {

struct VibrationOptions {
  double fps = 0;               ///< true rate of the camera; 0: as stated by the input
  std::vector<Region> regions;  ///< empty: the whole picture
  int tile_columns = -1;        ///< tiles across the first region; -1: automatic, 0: none
  int tile_rows = -1;
  std::int64_t k = 0;             ///< frequencies per region; 0: 1000, fewer for small ones
  double max_samples = 0;         ///< share of the pixels that may be read; 0: all
  std::int64_t frames = 0;        ///< stop after this many; 0: all
  std::vector<double> expect_hz;  ///< frequencies that a peak may be an alias of
  double false_alarm_probability = 1e-3;
};

/// The motion of one region, with one value per frame.
struct RegionSeries {
  Region region;
  bool structured = false;
  std::int64_t frequencies = 0;
  double samples_fraction = 0;
  double unevenness_px = 0;
  double rounding_px = 0;  ///< error of a place from rounding samples to whole levels
  std::int64_t renewals = 0;
  std::vector<double> x, y;        ///< pixels; NaN where the picture was lost
  std::vector<float> error;        ///< standard error of the place in pixels, from the phases alone
  std::vector<float> gain;         ///< contrast relative to the reference
  std::vector<double> brightness;  ///< mean of the samples; empty for tiles
  LocalChanges changes;            ///< empty for tiles, which are within the first region
};

/// The series of all regions and tiles, and the state of the input.
struct VibrationSeries {
  RunStatus status = RunStatus::complete;
  std::string message;
  SourceInfo input;
  std::int64_t frames = 0;
  std::vector<double> seconds;           ///< time of every frame; NaN if unknown
  bool fields = false;                   ///< samples are fields, two per frame, and `frames` counts fields
  std::vector<std::int64_t> key_frames;  ///< numbers of frames coded without others
  std::vector<bool> between;             ///< for every frame: coded from frames before and after it
  std::vector<RegionSeries> regions;
  int tile_columns = 0, tile_rows = 0;
  std::vector<RegionSeries> tiles;  ///< row by row
  Frame first_frame;
  std::vector<std::string> warnings;
  SourceLog input_log;
};

/// Called after every frame: frames read, frames expected (-1: unknown).
using VibrationProgress = std::function<void(std::int64_t, std::int64_t)>;

/// Reads until the end, `options.frames` or `stop`; blocks meanwhile. Damage ends the reading and sets the
/// status; results up to it are kept. Throws Error(invalid_argument) for regions outside the picture.
VibrationSeries follow(FrameSource& source, const VibrationOptions& options,
                       const VibrationProgress& progress, const std::atomic<bool>& stop);

}  // namespace sfft::video
