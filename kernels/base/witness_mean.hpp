// SPDX-License-Identifier: Apache-2.0
// The mean square of a witness's residues, plain or trimmed.
#pragma once

#include <algorithm>

namespace sfft::detail {

/// Mean of the smallest three quarters of |e|² divided by the mean of all, for Gaussian e: (3/4 +
/// ln(1/4)/4)/(3/4) if e is complex, (3/4 − 2zφ(z))/(3/4) with z = Φ⁻¹(7/8) if it is real.
constexpr double kTrimmedComplex = 0.5379019;
constexpr double kTrimmedReal = 0.3686;

/// Reorders `squares`.
inline double witness_mean(double* squares, int count, bool complex, bool trimmed) noexcept {
  const int kept = trimmed ? count - count / 4 : count;
  if (trimmed) {
    for (int i = 0; i < count; ++i) {
      if (!(squares[i] - squares[i] == 0)) return squares[i];  // a NaN must show, and would spoil the order
    }
    std::nth_element(squares, squares + kept, squares + count);
  }
  double sum = 0;
  for (int i = 0; i < kept; ++i) sum += squares[i];
  return sum / kept / (trimmed ? complex ? kTrimmedComplex : kTrimmedReal : 1.0);
}

}  // namespace sfft::detail
