// SPDX-License-Identifier: Apache-2.0
// Estimates the noise floor of a power spectrum beneath its lines.
#pragma once

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

}  // namespace sfft::video
