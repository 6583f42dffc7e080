// SPDX-License-Identifier: Apache-2.0
// Second half of `sfft-video vibration`: computes the report from the series.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "video/vibration/local_changes.hpp"
#include "video/vibration/recording.hpp"
#include "video/vibration/spectrum_peaks.hpp"
#include "video/vibration/time_series.hpp"

namespace sfft::video {

/// The frequency at which an oscillation appears, in [0, rate/2].
double folded(double hz, double rate_hz);

/// The lowest frequencies above rate/2 that appear at `hz`: rate - hz, rate + hz, 2 rate - hz …
std::vector<double> alias_candidates(double hz, double rate_hz, std::size_t count = 4);

struct KnownFrequency {
  double hz = 0, error_hz = 0;
  std::string name;  ///< as shown to readers, such as "the expected 50 Hz"
};

struct Alias {
  double hz = 0;
  std::string reason;
};

/// The most likely true frequency of a peak that may be an alias; frames alone cannot decide this. The
/// candidates, in order, are a known frequency that folds to the peak, a multiple of another peak that does,
/// and rate - hz if the peak is close to half the frame rate. Returns nothing if an unfolded multiple of
/// another peak explains the peak. `error_hz`: its standard error. `resolution_hz`: the minimum tolerance.
std::optional<Alias> likely_alias(double hz, double error_hz, double resolution_hz, double rate_hz,
                                  std::span<const KnownFrequency> known,
                                  std::span<const KnownFrequency> stronger);

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

/// Warnings about the regions of a report.
void add_warnings(VibrationReport& report);

/// One sentence on the first region: what vibrates, or that nothing does and which amplitude would have been
/// detected.
std::string verdict(const VibrationReport& report);

}  // namespace sfft::video
