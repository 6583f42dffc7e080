// SPDX-License-Identifier: Apache-2.0
// Computes the probability that noise alone causes a peak of a given height somewhere in a spectrum.
#pragma once

namespace sfft::video {

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

}  // namespace sfft::video
