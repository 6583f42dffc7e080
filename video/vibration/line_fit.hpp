// SPDX-License-Identifier: Apache-2.0
// Fits a steady oscillation to several series jointly.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace sfft::video {

/// A Hann taper of n samples and its moments; time counts from the middle, in samples.
struct Taper {
  std::vector<double> weight;
  double sum = 0;           ///< sum of weight
  double squares = 0;       ///< sum of weight^2
  double time_spread = 0;   ///< sum of weight * t^2
  double noise_spread = 0;  ///< sum of weight^2 * t^2

  /// `present`: samples that count; empty: all.
  explicit Taper(std::size_t n, const std::vector<bool>& present = {});
  /// Effective duration of the tapered series in samples: sqrt(4 pi var t), with t weighted by weight^2.
  double effective_samples() const;
};

/// Channel c is Re(amplitude[c] * exp(i omega t)), with t in samples from the middle of the series.
struct Oscillation {
  double omega = 0;  ///< radians per sample
  std::vector<std::complex<double>> amplitude;
};

/// The oscillation at a given frequency, fitted by tapered least squares.
Oscillation oscillation_at(double omega, std::span<const std::vector<double>> channels, const Taper& taper);

/// The same at the best frequency within `reach` radians per sample of `omega`. `noise`: noise power of each
/// channel, which sets its weight.
Oscillation best_oscillation(double omega, double reach, std::span<const std::vector<double>> channels,
                             std::span<const double> noise, const Taper& taper);

/// channels += sign * oscillation.
void add(const Oscillation& oscillation, double sign, std::span<std::vector<double>> channels);

/// Standard error of omega, for independent noise of the given power per channel.
double omega_error(const Oscillation& oscillation, std::span<const double> noise, const Taper& taper);
/// Standard error of the real (and the imaginary) part of an amplitude.
double amplitude_error(double noise, const Taper& taper);

}  // namespace sfft::video
