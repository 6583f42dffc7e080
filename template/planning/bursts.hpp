// SPDX-License-Identifier: Apache-2.0
// How long a disturbance must be for a plan to see it: the probability that it falls between all reads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/base/tables/comb_data.hpp"
#include "kernels/base/tables/flat_data.hpp"

namespace sfft::detail {

/// The samples of a frame that a plan reads, by linear index: one bit per sample, or a list if the reads are
/// few.
class ReadSet {
 public:
  ReadSet(std::int64_t points, std::int64_t expected);

  void add(std::int64_t read);  ///< below points(); may be added twice
  void add(const CombData& comb);
  void add(const FlatPlanData& flat);  ///< without samples that the window nearly removes

  std::int64_t points() const noexcept { return points_; }

  /// Calls visit(read) for each distinct read, in ascending order.
  template <class Visit>
  void for_each_ascending(const Visit& visit) {
    std::sort(reads_.begin(), reads_.end());
    reads_.erase(std::unique(reads_.begin(), reads_.end()), reads_.end());
    for (const std::int64_t read : reads_) visit(read);
    for (std::size_t word = 0; word < marks_.size(); ++word) {
      for (std::uint64_t left = marks_[word]; left != 0; left &= left - 1)
        visit(static_cast<std::int64_t>(word) * kBits + std::countr_zero(left));
    }
  }

 private:
  static constexpr std::int64_t kBits = 64;

  std::int64_t points_;
  std::vector<std::uint64_t> marks_;
  std::vector<std::int64_t> reads_;  ///< used if marks_ is empty
};

/// The gaps that a plan's reads leave in a frame, taken in memory order.
class ReadGaps {
 public:
  explicit ReadGaps(ReadSet reads);

  std::int64_t reads() const noexcept { return reads_; }  ///< distinct ones
  /// The probability that no read falls into `length` samples that are split as evenly as possible into
  /// `stretches` runs of consecutive samples, drawn independently and uniformly. If `stretches` is `length`,
  /// the samples are a random set.
  double miss_probability(std::int64_t length, std::int64_t stretches) const;
  /// The smallest length that is missed with a probability of at most `miss`, for every number of stretches
  /// 1, 2, 4, … and for a random set.
  std::int64_t shortest_burst(double miss) const;

 private:
  double missed_by_one(std::int64_t length) const;
  double largest_miss(std::int64_t length) const;

  /// Gaps of at least one length: their number and the sum of their lengths.
  struct Length {
    std::int64_t length, count, sum;
  };

  std::int64_t points_, reads_ = 0;
  std::vector<Length> lengths_;  ///< of unread samples between neighbouring reads, the longest first
};

/// The number of independent samples that all miss a share `burst` of the frame with a probability of at most
/// `miss`, wherever that share is.
std::int64_t samples_for_burst(double burst, double miss);

}  // namespace sfft::detail
