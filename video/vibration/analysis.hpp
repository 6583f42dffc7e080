// SPDX-License-Identifier: Apache-2.0
// Second half of `sfft-video vibration`: turns the series into a report.
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
  /// Motion: half the length of the path, the major half axis of its ellipse. Brightness: share of the mean.
  double amplitude = 0, amplitude_error = 0;
  double x = 0, y = 0;         ///< motion: amplitudes of the two components
  double phase = 0;            ///< motion: of y against x
  double direction_deg = 0;    ///< motion: of the major axis, from the right (0) downwards (90), in (-90, 90]
  double roundness = 0;        ///< motion: minor over major half axis: 0 a line, 1 a circle
  double signal_to_noise = 0;  ///< amplitude over that of the noise around it
  double certainty = 0;        ///< amplitude over its standard error by all that is close to its frequency
  double false_alarm_probability = 0;
  /// Fewer than ten periods were seen, where the noise rises towards drift: rather sway than vibration.
  bool slow = false;
  /// At a rate at which kinds of coded frames come again, and not standing out there, or low and in a single
  /// tile: rather coding than vibration.
  bool coding = false;
  std::optional<Alias> alias;
  std::vector<double> alias_candidates_hz;
  /// Amplitude of the other kind at the same frequency: relative brightness for a motion, pixels for a
  /// brightness.
  std::optional<double> other_amplitude;
  /// Motion that brightness explains: light that changes unevenly over the picture looks like one this large,
  /// or what changes at this frequency is rather gains of light than displacements.
  bool perhaps_brightness = false;
  std::optional<LightEvidence> evidence;  ///< motion: what changes at this frequency

  /// Whether something other than vibration explains it.
  bool doubted() const noexcept { return slow || coding || perhaps_brightness; }
};

struct Signal {
  std::vector<double> drift_range;  ///< per channel
  std::size_t outliers = 0;
  std::vector<std::vector<double>> drift, rest;  ///< per channel, at even times
  PeakSearch search;
  std::vector<VibrationPeak> peaks;  ///< most certain first, coding and slow ones behind the others
  /// Brightness only: peaks that a motion makes at its frequency, because light enters and leaves at the
  /// edges.
  std::vector<VibrationPeak> by_motion;
};

struct RegionVibration {
  Region region;
  bool structured = false;
  std::int64_t frequencies = 0, renewals = 0;
  double samples_fraction = 0;
  std::int64_t followed = 0;  ///< frames whose place is known
  bool at_floor = false;      ///< places scatter less than samples in whole levels can tell
  double place_error_px = 0;  ///< median standard error of the place in a frame, from its phases
  Signal motion, brightness;
};

/// A tile; the spectra of its peaks alone are kept.
struct TileVibration {
  Region region;
  bool structured = false;
  double noise_px = 0, detectable_px = 0;
  std::vector<VibrationPeak> peaks;
  double amplitude_px = 0;      ///< at the frequency of the map
  double phase_rad = 0;         ///< of the motion along its main axis at that frequency
  bool moves = false;           ///< whether it has a peak there
  std::vector<float> spectrum;  ///< amplitude of both components together; empty if that would be too much
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
  /// Peaks that tiles have and the first region has not, strongest first; `tile` says where each is largest.
  struct Elsewhere {
    VibrationPeak peak;
    std::size_t tile = 0, tiles = 0;  ///< index; how many tiles have it
    bool clear() const noexcept;      ///< whether a neighbour has it, too, or it is far above the noise
  };
  std::vector<Elsewhere> elsewhere;

  /// Whether a tile alone has a vibration, and the first region none, or none but doubted ones where the
  /// tile's is clear.
  bool in_a_part_alone() const noexcept;
};

/// `max_tile_spectra_bytes`: how much memory the spectra of tiles may take; beyond, none is kept.
VibrationReport analyse(const VibrationSeries& series, const VibrationOptions& options,
                        std::size_t max_tile_spectra_bytes = std::size_t{64} << 20);

}  // namespace sfft::video
