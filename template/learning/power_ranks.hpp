// SPDX-License-Identifier: Apache-2.0
// Ranks among the powers of a stored spectrum, from a histogram instead of a sorted copy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sfft::detail {

/// Counts powers by the leading bits of their representation: eight bins per octave. Negative powers are
/// ignored. The powers must outlive this object and not change.
class PowerRanks {
 public:
  explicit PowerRanks(std::span<const double> powers);

  /// The rank-th largest power, 1 the largest; there must be at least that many.
  double at(std::int64_t rank) const;
  /// The number of largest powers whose sum is at least `sum`, rounded up to a whole bin; all if they do not
  /// suffice.
  std::int64_t count_with_sum(double sum) const;

 private:
  std::span<const double> powers_;
  std::vector<std::int64_t> counts_;
};

}  // namespace sfft::detail
