// SPDX-License-Identifier: Apache-2.0
// Second half of `sfft-video vibration`: computes the report from the series.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "video/vibration/aliases.hpp"
#include "video/vibration/frame_clock.hpp"
#include "video/vibration/light_test.hpp"
#include "video/vibration/recording.hpp"
#include "video/vibration/spectrum_peaks.hpp"

namespace sfft::video {

/// A vibration of a region, or a modulation of its brightness.
struct VibrationPeak {
  double frequency_hz = 0, standard_error_hz = 0;
  /// Motion: half the length of the path, which is the semi-major axis of its ellipse. Brightness: share of
  /// the mean.
  double amplitude = 0, amplitude_error = 0;
  double x = 0, y = 0;         ///< motion: amplitudes of the two components
  double phase = 0;            ///< motion: of y relative to x
  double direction_deg = 0;    ///< motion: of the major axis, 0 to the right, 90 downwards, in (-90, 90]
  double roundness = 0;        ///< motion: semi-minor over semi-major axis; 0: line, 1: circle
  double signal_to_noise = 0;  ///< ratio to the amplitude of the surrounding noise
  double certainty = 0;        ///< ratio of the amplitude to its standard error, from all nearby power
  double false_alarm_probability = 0;
  /// Fewer than ten periods were seen, and the noise rises towards drift: probably sway, not vibration.
  bool slow = false;
  /// Probably coding, not vibration. The peak is at a rate at which kinds of coded frames recur and does not
  /// stand out among such peaks, or it is low and in a single tile.
  bool coding = false;
  std::optional<Alias> alias;
  std::vector<double> alias_candidates_hz;
  /// Amplitude of the other kind at the same frequency: relative brightness for a motion peak, pixels for a
  /// brightness peak.
  std::optional<double> other_amplitude;
  /// Brightness may explain the motion: light that changes unevenly over the picture can look like a motion
  /// of this size, or the changes at this frequency are gains of light rather than displacements.
  bool perhaps_brightness = false;
  std::optional<LightEvidence> evidence;  ///< for motion peaks

  /// Whether something other than vibration may explain the peak.
  bool doubted() const noexcept { return slow || coding || perhaps_brightness; }
};

struct Signal {
  std::vector<double> drift_range;  ///< per channel
  std::size_t outliers = 0;
  std::vector<std::vector<double>> drift, rest;  ///< per channel, at even times
  PeakSearch search;
  std::vector<VibrationPeak> peaks;  ///< most certain first; coding and slow ones last
  /// Brightness only: peaks caused by a motion of the same frequency, because light enters and leaves at the
  /// edges.
  std::vector<VibrationPeak> by_motion;
};

struct RegionVibration {
  Region region;
  bool structured = false;
  std::int64_t frequencies = 0, renewals = 0;
  double samples_fraction = 0;
  std::int64_t followed = 0;  ///< number of frames whose place is known
  bool at_floor = false;      ///< places scatter less than the quantisation of samples can resolve
  double place_error_px = 0;  ///< median standard error of a frame's place, from its phases
  Signal motion, brightness;
};

/// A tile, with its peaks and its amplitude spectrum.
struct TileVibration {
  Region region;
  bool structured = false;
  double noise_px = 0, detectable_px = 0;
  std::vector<VibrationPeak> peaks;
  double amplitude_px = 0;      ///< amplitude at the frequency of the map
  double phase_rad = 0;         ///< phase of the motion along its main axis at the map's frequency
  bool moves = false;           ///< whether it has a peak at the map's frequency
  std::vector<float> spectrum;  ///< amplitude of both components together; empty to save memory
};

struct VibrationReport {
  RunStatus status = RunStatus::complete;
  std::string message;
  SourceInfo input;
  std::int64_t frames = 0;
  FrameClock clock;
  double duration_s = 0;
  std::vector<std::string> warnings;
  SourceLog input_log;
  double false_alarm_probability = 0;
  std::vector<RegionVibration> regions;  ///< at least the whole picture, if a frame was read
  int tile_columns = 0, tile_rows = 0;
  std::vector<TileVibration> tiles;
  std::optional<double> map_hz;  ///< the frequency of the map of tiles
  /// Peaks of tiles that the first region does not have, most certain first. `tile` is the one where the peak
  /// is largest.
  struct Elsewhere {
    VibrationPeak peak;
    std::size_t tile = 0, tiles = 0;  ///< index of that tile; number of tiles with the peak
    bool clear() const noexcept;      ///< whether another tile also has it, or it is far above the noise
  };
  std::vector<Elsewhere> elsewhere;

  /// Whether a tile vibrates but the first region does not, or the region has only doubted peaks and the
  /// tile's peak is clear.
  bool in_a_part_alone() const noexcept;
};

/// `max_tile_spectra_bytes`: max. memory for the spectra of tiles. If they need more, none is kept.
VibrationReport analyse(const VibrationSeries& series, const VibrationOptions& options,
                        std::size_t max_tile_spectra_bytes = std::size_t{64} << 20);

}  // namespace sfft::video
