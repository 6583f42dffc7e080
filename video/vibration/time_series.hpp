// SPDX-License-Identifier: Apache-2.0
// Prepares time series for their spectra: the frame rate, samples at even times, and drift apart from
// vibration.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sfft::video {

struct FrameClock {
  double rate_hz = 1;       ///< rate of the samples to be analysed
  const char* source = "";  ///< "given", "capture", "container", "time_stamps", "unknown"
  bool steady = true;       ///< false: series are interpolated at even times
  double shortest_seconds = 0, longest_seconds = 0;  ///< intervals between frames, if they vary
  std::vector<std::string> warnings;
};

/// `given_hz`: the true rate if the user gives it, else 0; it overrules everything. `nominal_hz`: the
/// container's rate, 0 if unknown. `seconds`: time of every frame, NaN if it has none.
FrameClock frame_clock(double given_hz, double nominal_hz, std::span<const double> seconds);
/// The same for a file that may state the camera's rate, `capture_hz` (0 if not). If it differs from the rate
/// at which frames are stored, it overrules time stamps.
FrameClock frame_clock(double given_hz, double capture_hz, double nominal_hz,
                       std::span<const double> seconds);

/// Resamples a series at even times, beginning with the first frame. It interpolates linearly between samples
/// at `seconds` that are at most 1.8 steps apart. NaN where no frame is close.
std::vector<double> at_even_times(std::span<const double> series, std::span<const double> seconds,
                                  double rate_hz);

struct Detrended {
  std::vector<double> rest;   ///< the series without its drift; outliers are limited
  std::vector<double> drift;  ///< the drift that was removed
  double drift_range = 0;     ///< largest minus smallest drift
  std::size_t outliers = 0;   ///< samples far from all others, such as those of a damaged frame
};

/// Fits the drift by least squares with Huber's weights: a line, and cosines of up to `periods` periods in
/// the whole series (half periods 1, 2, 3 …, as in a discrete cosine transform). Faster oscillations keep
/// their amplitude, and a jump or a few wild samples hardly affect the fit. Samples that are not finite are
/// replaced by the drift.
Detrended remove_drift(std::span<const double> series, double periods);

}  // namespace sfft::video
