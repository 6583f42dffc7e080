// SPDX-License-Identifier: Apache-2.0
// Computes the mean square of a witness's residues, plain or trimmed.
#pragma once

#include <algorithm>

#include "kernels/base/tables/witness_reals.hpp"

namespace sfft::detail {

/// Reorders `squares` as a side effect.
inline double witness_mean(double* squares, int count, bool complex, bool trimmed) noexcept {
  const int kept = trimmed ? count - count / 4 : count;
  if (trimmed) {
    for (int i = 0; i < count; ++i) {
      if (!(squares[i] - squares[i] == 0))
        return squares[i];  // a NaN must stay visible, and would spoil the order
    }
    std::nth_element(squares, squares + kept, squares + count);
  }
  double sum = 0;
  for (int i = 0; i < kept; ++i) sum += squares[i];
  return sum / kept / (trimmed ? complex ? kTrimmedComplex : kTrimmedReal : 1.0);
}

}  // namespace sfft::detail
