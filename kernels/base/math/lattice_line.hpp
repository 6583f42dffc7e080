// SPDX-License-Identifier: Apache-2.0
// Walking along a line of the periodic sample grid: t(m) = (τ + σ m) mod n.
#pragma once

#include <array>
#include <cstdint>

namespace sfft::detail {

/// Calls visit(linear index of t(m)) for m = 0, 1, …, count-1. `extents` holds `rank` grid sizes, slowest
/// first; sigma and tau are in [0, n_d).
template <class Visit>
void walk_line(const std::int64_t* extents, int rank, const std::array<std::int64_t, 3>& sigma,
               std::array<std::int64_t, 3> tau, std::int64_t count, Visit&& visit) {
  for (std::int64_t m = 0; m < count; ++m) {
    std::int64_t flat = 0;
    for (int d = 0; d < rank; ++d) {
      std::int64_t& at = tau[static_cast<std::size_t>(d)];
      flat = flat * extents[d] + at;
      // Compare before adding: σ + τ could overflow for the largest grids.
      const std::int64_t step = sigma[static_cast<std::size_t>(d)];
      at = at >= extents[d] - step ? at - (extents[d] - step) : at + step;
    }
    visit(flat);
  }
}

}  // namespace sfft::detail
