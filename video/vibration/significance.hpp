// SPDX-License-Identifier: Apache-2.0
// Probability that noise alone makes a peak of a given height somewhere in a spectrum.
#pragma once

namespace sfft::video {

/// The band that is searched for a peak.
struct SearchedBand {
  int channels = 1;  ///< whose normalised powers are summed: 1 or 2
  /// Width of the band times the effective duration of the tapered series, sqrt(4 pi var t) with the variance
  /// of time weighted by the squared taper (Baluev, MNRAS 385, 2008): about how many frequencies are
  /// independent.
  double independent = 1;
};

/// Probability that the largest peak of noise in the band is above `height`, a sum of powers over the noise
/// floor. The floor is an estimate as good as the mean of `floor_degrees` independent powers, which makes
/// large ratios more likely than under a known floor: exp(-h) becomes (1 + h/b)^-b. By the expected number of
/// upcrossings (Davies 1977; Baluev 2008), an upper bound that is close where it is small.
double false_alarm_probability(double height, double floor_degrees, const SearchedBand& band);

/// The height at which that probability is `probability`.
double significant_height(double probability, double floor_degrees, const SearchedBand& band);

}  // namespace sfft::video
