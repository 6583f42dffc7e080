// SPDX-License-Identifier: Apache-2.0
// How long a disturbance must be for a plan to see it: the probability that it falls between all reads.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/comb_data.hpp"
#include "kernels/base/flat_data.hpp"

namespace sfft::detail {

/// The gaps that a plan's reads leave in a frame, taken in memory order.
class ReadGaps {
 public:
  /// `reads`: flat indices below `points`, in any order, some perhaps twice.
  ReadGaps(std::vector<std::int64_t> reads, std::int64_t points);

  std::int64_t reads() const noexcept { return reads_; }  ///< distinct ones
  /// The probability that `stretches` stretches of as equal numbers of consecutive samples, `length`
  /// together, drawn independently and uniformly, hold no read. length stretches are a random set.
  double miss_probability(std::int64_t length, std::int64_t stretches) const;
  /// The smallest length at which every number of stretches 1, 2, 4, …, and a random set, is missed with at
  /// most the probability `miss`.
  std::int64_t shortest_burst(double miss) const;

 private:
  double missed_by_one(std::int64_t length) const;
  double largest_miss(std::int64_t length) const;

  std::int64_t points_, reads_ = 0;
  std::vector<std::int64_t> gaps_;      ///< unread samples between neighbouring reads, the longest first
  std::vector<std::int64_t> gap_sums_;  ///< [i]: sum of the i longest gaps
};

/// Flat indices of what a plan gathers, in no order. Those that a window all but removes are left out.
std::vector<std::int64_t> gathered_samples(const CombData& comb);
std::vector<std::int64_t> gathered_samples(const FlatPlanData& flat);

/// The independent samples of which all miss a share `burst` of the frame with at most the probability
/// `miss`, whatever the positions of that share.
std::int64_t samples_for_burst(double burst, double miss);

}  // namespace sfft::detail
