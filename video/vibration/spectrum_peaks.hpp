// SPDX-License-Identifier: Apache-2.0
// Finds lines in the spectrum of one or two time series: their frequencies and amplitudes with standard
// errors, and the probability that noise alone causes them.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace sfft::video {

struct PeakOptions {
  double rate_hz = 1;                     ///< samples per second
  double false_alarm_probability = 1e-3;  ///< that noise alone causes any peak in the whole spectrum
  double min_periods = 3;                 ///< in the whole series; slower motion is drift
  std::size_t max = 16;                   ///< max. number of peaks
  /// Frequencies that are also tested separately, each with a share of the same probability. A known
  /// frequency needs less evidence than an arbitrary one.
  std::vector<double> expected_hz{};
  std::vector<bool> present{};  ///< which samples count; empty: all
  double min_noise = 0;         ///< lower limit of a sample's standard deviation: rounding is no signal
};

/// A steady oscillation: channel c is Re(amplitude[c] exp(2 pi i f t)), with t from the middle of the series.
struct Peak {
  double frequency_hz = 0;
  double frequency_error_hz = 0;  ///< standard error
  std::vector<std::complex<double>> amplitude;
  std::vector<double> amplitude_error;  ///< standard error of |amplitude[c]|
  double height = 0;                    ///< power over the noise floor, summed over the channels
  double false_alarm_probability = 0;   ///< that noise alone causes a peak of this height anywhere
  double floor_ratio = 1;  ///< noise amplitude here relative to its median in the spectrum; > 1 on a slope
};

struct PeakSearch {
  std::vector<Peak> peaks;  ///< highest above the noise first
  /// Zero-padded spectra of the channels, scaled to the amplitude of a line, and the root mean square
  /// amplitude of noise at each frequency.
  std::vector<double> frequency_hz;
  std::vector<std::vector<std::complex<double>>> amplitude;  ///< channel, frequency
  std::vector<std::vector<double>> noise_amplitude;          ///< channel, frequency
  double lowest_hz = 0;                                      ///< lower frequencies are not searched
  double resolution_hz = 0;                                  ///< lines closer than this cannot be separated
  /// Medians over all frequencies: `noise` is the amplitude of the noise, as a root sum of squares over the
  /// channels. `detectable` is the amplitude in one channel above which a line is significant.
  double noise = 0, detectable = 0;
  bool searched = false;  ///< false: the series is too short
};

/// Searches series of equal length without drift (see remove_drift).
PeakSearch find_peaks(std::span<const std::vector<double>> channels, const PeakOptions& options);

/// Min. number of samples for a search.
constexpr std::size_t kMinSamples = 24;

}  // namespace sfft::video
