// SPDX-License-Identifier: Apache-2.0
// Bounds on the error with random delays, for all numbers of delays in one pass.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "template/comb/comb_model.hpp"

namespace sfft::detail {

/// A bound on Σ E|error|² with r random delays, ignoring phases: Σ min(tail/(r + 1 − members), power), the
/// denominator at least 1. A coefficient contributes its power up to some r and its tail beyond, so one pass
/// over the coefficients serves every r.
class RandomBounds {
 public:
  /// Per coefficient: the members in its bucket, the tail that aliases onto it, its power.
  RandomBounds(std::span<const std::int32_t> members_of, std::span<const double> tails,
               std::span<const double> power) {
    std::int32_t max = 1;
    for (const std::int32_t members : members_of) max = std::max(max, members);
    begins_.assign(static_cast<std::size_t>(max) * kSteps, 0.0);
    tail_.assign(static_cast<std::size_t>(max), 0.0);
    for (std::size_t i = 0; i < tails.size(); ++i) {
      const auto members = static_cast<std::size_t>(members_of[i]);
      // Up to this denominator the power is the smaller term.
      const double by_power = std::min(tails[i] / power[i], static_cast<double>(kMax));
      // Written so that NaN (0/0) gives 0.
      const std::size_t last = by_power >= 1 ? static_cast<std::size_t>(by_power) + members - 1 : 0;
      const std::size_t begin = std::min(last + 1, kSteps - 1);
      powers_[begin - 1] += power[i];
      begins_[(members - 1) * kSteps + begin] += tails[i];
    }
    for (std::size_t r = kSteps - 1; r > 0; --r) powers_[r - 1] += powers_[r];
  }

  /// The bounds for r = 1, 2, … kMaxDelays in turn.
  double next() {
    ++r_;
    double sum = powers_[r_];
    for (std::size_t m = 0; m < tail_.size(); ++m) {
      tail_[m] += begins_[m * kSteps + r_];
      sum += tail_[m] / (r_ > m + 1 ? static_cast<double>(r_ - m) : 1.0);
    }
    return sum;
  }

 private:
  static constexpr std::size_t kMax = CombModel::kMaxDelays, kSteps = 2 * kMax + 2;
  std::array<double, kSteps> powers_{};  ///< Σ over coefficients that contribute their power at r
  std::vector<double> begins_;           ///< tails that start to contribute, per [members − 1][r]
  std::vector<double> tail_;             ///< contributing tails, per members − 1
  std::size_t r_ = 0;
};

}  // namespace sfft::detail
