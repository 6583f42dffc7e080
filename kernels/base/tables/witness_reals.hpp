// SPDX-License-Identifier: Apache-2.0
// Constants of a witness that host code and kernels share.
#pragma once

namespace sfft::detail {

/// The number of real numbers that a witness compares: the parts of 16 complex samples, or 32 real samples.
/// There is one per lane of a warp.
constexpr int kWitnessReals = 32;
/// A GPU sums the real numbers of a prediction four at a time: four samples of a real frame, both parts of
/// two samples of a complex one.
constexpr int kWitnessChunks = kWitnessReals / 4;

/// Mean of the smallest three quarters of |e|² divided by the mean of all, for Gaussian e: (3/4 +
/// ln(1/4)/4)/(3/4) if e is complex, (3/4 − 2zφ(z))/(3/4) with z = Φ⁻¹(7/8) if it is real.
constexpr double kTrimmedComplex = 0.5379019;
constexpr double kTrimmedReal = 0.3686;

}  // namespace sfft::detail
