// SPDX-License-Identifier: Apache-2.0
// The noise floor of a power spectrum beneath its lines.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sfft::video {

/// Bins of a Hann taper, at distances of 1/T, that tell as much as one that is independent.
inline constexpr double kHannCost = 1.94;

struct NoiseFloor {
  std::vector<double> power;  ///< mean power of noise in every bin
  /// The floor is as good as the mean of this many independent powers.
  std::vector<double> degrees;
};

/// `power`: a periodogram with a Hann taper and `padding` bins per 1/T. Bins from `first` to `last` hold
/// noise and lines; below is what a drift has left, above nothing. The floor is the median of the power
/// around each frequency, by a line through its logarithms against log frequency that has the least absolute
/// deviation: lines do not lift it, and a floor that falls as a power of frequency is not bent.
NoiseFloor noise_floor(std::span<const double> power, double padding, std::size_t first, std::size_t last);

}  // namespace sfft::video
