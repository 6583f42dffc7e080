// SPDX-License-Identifier: Apache-2.0
// Finds lines in the spectrum of one or two time series: their frequencies and amplitudes with standard
// errors, the noise floor beneath them, and the probability that noise alone causes them.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace sfft::video {

/// Number of bins of a Hann taper, spaced by 1/T, that carry as much information as one independent bin.
inline constexpr double kHannCost = 1.94;

struct NoiseFloor {
  std::vector<double> power;  ///< mean power of noise in every bin
  /// The floor is as accurate as the mean of this many independent powers.
  std::vector<double> degrees;
};

/// `power`: a periodogram with a Hann taper and `padding` bins per 1/T. Bins from `first` to `last` contain
/// noise and lines; those below are residual drift, those above are unused. The floor is the median power
/// around each frequency, from a line fitted to the logarithms of power over frequency by least absolute
/// deviations. Spectral lines thus do not raise the floor, and a floor that falls as a power of frequency is
/// not biased.
NoiseFloor noise_floor(std::span<const double> power, double padding, std::size_t first, std::size_t last);

/// The frequency band searched for a peak.
struct SearchedBand {
  int channels = 1;  ///< number of channels whose normalised powers are summed: 1 or 2
  /// Approximate number of independent frequencies: the width of the band times the effective duration of the
  /// tapered series, sqrt(4 pi var t), where the variance of time is weighted by the squared taper (Baluev,
  /// MNRAS 385, 2008).
  double independent = 1;
};

/// Probability that the largest peak of noise in the band is above `height`, a sum of powers relative to the
/// noise floor. The floor is an estimate as accurate as the mean of b = `floor_degrees` independent powers.
/// This makes large ratios more likely than with a known floor: exp(-h) becomes (1 + h/b)^-b. Computed from
/// the expected number of upcrossings (Davies 1977; Baluev 2008), an upper bound that is tight where it is
/// small.
double false_alarm_probability(double height, double floor_degrees, const SearchedBand& band);

/// The height at which the false alarm probability is `probability`.
double significant_height(double probability, double floor_degrees, const SearchedBand& band);

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
