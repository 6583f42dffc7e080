// SPDX-License-Identifier: Apache-2.0
// Lines in the spectrum of one or two time series: their frequencies and amplitudes, with standard errors,
// and how likely noise alone would have made them.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace sfft::video {

struct PeakOptions {
  double rate_hz = 1;                     ///< samples per second
  double false_alarm_probability = 1e-3;  ///< that noise alone makes any peak in the whole spectrum
  double min_periods = 3;                 ///< in the whole series; slower motion is drift
  std::size_t max = 16;                   ///< peaks
  /// Frequencies that are looked at alone, each with its share of the same probability: one that is known
  /// needs less evidence than one that may be any.
  std::vector<double> expected_hz{};
  std::vector<bool> present{};  ///< which samples count; empty: all
  double min_noise = 0;         ///< standard deviation of a sample that is never less: rounding is no signal
};

/// A steady oscillation: channel c is Re(amplitude[c] exp(2 pi i f t)), t from the middle of the series.
struct Peak {
  double frequency_hz = 0;
  double frequency_error_hz = 0;  ///< standard error
  std::vector<std::complex<double>> amplitude;
  std::vector<double> amplitude_error;  ///< standard error of |amplitude[c]|
  double height = 0;                    ///< power over the noise floor, summed over the channels
  double false_alarm_probability = 0;   ///< that noise alone makes a peak of this height anywhere
  double floor_ratio = 1;  ///< amplitude of the noise here over its median in the spectrum: > 1 on a slope
};

struct PeakSearch {
  std::vector<Peak> peaks;  ///< highest over the noise first
  /// Spectra of the channels, zero-padded and scaled to the amplitude of a line; and the root mean square
  /// amplitude that noise has there.
  std::vector<double> frequency_hz;
  std::vector<std::vector<std::complex<double>>> amplitude;  ///< channel, frequency
  std::vector<std::vector<double>> noise_amplitude;          ///< channel, frequency
  double lowest_hz = 0;                                      ///< nothing below is searched
  double resolution_hz = 0;                                  ///< lines closer than this are not told apart
  /// Medians over all frequencies, root sum of squares over the channels: amplitude of the noise, and the
  /// amplitude in one channel from which a line counts as one.
  double noise = 0, detectable = 0;
  bool searched = false;  ///< false: the series is too short
};

/// Series of equal length without drift (see remove_drift).
PeakSearch find_peaks(std::span<const std::vector<double>> channels, const PeakOptions& options);

/// Least number of samples for a search.
constexpr std::size_t kMinSamples = 24;

}  // namespace sfft::video
