// SPDX-License-Identifier: Apache-2.0
// Separates slow drift from vibration in a time series.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sfft::video {

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
