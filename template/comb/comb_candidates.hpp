// SPDX-License-Identifier: Apache-2.0
// The grids and numbers of delays that a comb plan may have.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "template/comb/comb_planner.hpp"
#include "template/comb/folding.hpp"

namespace sfft::detail {

struct CombCandidate {
  std::array<std::int64_t, 3> buckets;
  std::int64_t delays;
  /// Of an image on the bus: rows that the delays begin in, below a stride; row_sets·buckets[0] rows hold all
  /// samples. 0: any number.
  std::int64_t row_sets;
  double us;     ///< predicted time
  double proxy;  ///< a bound on the relative error with delays at random, without phases; 0 for least squares
};

/// Least squares takes the cheapest candidate that works, and tries no more than these.
inline constexpr std::size_t kCombTries = 10;

/// Every candidate worth a search within the request's limits. For least squares the kCombTries cheapest come
/// first, the cheapest of all at the front.
std::vector<CombCandidate> list_comb_candidates(Folding& folding, const CombRequest& request);

/// Predicted time on the request's backend; `clustered` delays share cache lines.
double predict_us(const SupportSet& support, const CombRequest& request, std::int64_t buckets,
                  std::int64_t delays, bool clustered = false, std::int64_t bus_bytes = 0);

}  // namespace sfft::detail
