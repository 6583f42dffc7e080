// SPDX-License-Identifier: Apache-2.0
// Location by voting (SODA 2012, section 3): every location loop votes for all frequencies that its heavy
// buckets may contain. Those with enough votes are candidates.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <vector>

#include "bench/peers/permutation.hpp"

namespace sfft::peers {

/// Indices of the `count` largest magnitudes, in no particular order.
template <class Real>
void largest(const std::vector<std::complex<Real>>& values, std::size_t count,
             std::vector<std::uint32_t>& indices, std::vector<Real>& scratch) {
  count = std::min(count, values.size());
  scratch.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) scratch[i] = std::norm(values[i]);
  std::nth_element(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(count - 1), scratch.end(),
                   std::greater<>());
  const Real min = scratch[count - 1];
  indices.clear();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::norm(values[i]) > min) indices.push_back(static_cast<std::uint32_t>(i));
  }
  // Exact zeros tie, so they fill the remaining places.
  for (std::size_t i = 0; i < values.size() && indices.size() < count; ++i) {
    if (std::norm(values[i]) == min) indices.push_back(static_cast<std::uint32_t>(i));
  }
}

/// One small counter per frequency, cleared by starting a new epoch.
class Votes {
 public:
  Votes(std::int64_t points, unsigned threshold)
      : counters_(static_cast<std::size_t>(points)), threshold_(threshold) {}

  void start() {
    candidates_.clear();
    if (++epoch_ <= kLastEpoch) return;
    std::fill(counters_.begin(), counters_.end(), std::uint16_t{0});
    epoch_ = 1;
  }

  void add(std::uint64_t frequency) {
    std::uint16_t& counter = counters_[frequency];
    const auto empty = static_cast<std::uint16_t>(epoch_ << kCountBits);
    if (counter < empty) counter = empty;
    ++counter;
    if (counter == empty + threshold_) candidates_.push_back(frequency);
  }

  const std::vector<std::uint64_t>& candidates() const noexcept { return candidates_; }

 private:
  static constexpr unsigned kCountBits = 4, kLastEpoch = (1U << (16 - kCountBits)) - 1;
  std::vector<std::uint16_t> counters_;
  std::vector<std::uint64_t> candidates_;
  unsigned threshold_, epoch_ = 0;
};

/// The permuted positions [first, last) that round to bucket b of B: a frequency f of the bucket has σf mod N
/// in this range.
struct BucketRange {
  std::uint64_t first, last;
  BucketRange(std::uint64_t bucket, std::uint64_t width) : first(bucket * width - width / 2) {
    last = first + width;
  }
};

/// Votes for every frequency of the heavy buckets, each `width` = N/B permuted positions wide.
inline void vote_all(Votes& votes, const std::vector<std::uint32_t>& heavy, const Permutation& permutation,
                     std::uint64_t width, std::uint64_t mask) {
  for (const std::uint32_t bucket : heavy) {
    const BucketRange range(bucket, width);
    std::uint64_t frequency = range.first * permutation.inverse;
    for (std::uint64_t p = 0; p < width; ++p) {
      votes.add(frequency & mask);
      frequency += permutation.inverse;
    }
  }
}

}  // namespace sfft::peers
