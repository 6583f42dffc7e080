// SPDX-License-Identifier: Apache-2.0
// Positive doubles order like their bits, so the leading bits are bins of a logarithmic histogram.
#include "template/learning/power_ranks.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "kernels/base/run_scope.hpp"

namespace sfft::detail {

namespace {

constexpr int kShift = 49;  ///< keeps eleven bits of exponent and three of mantissa
constexpr std::size_t kBins = std::size_t{1} << (63 - kShift);

/// kBins and above for negative powers.
std::size_t bin_of(double power) {
  return static_cast<std::size_t>(std::bit_cast<std::uint64_t>(power) >> kShift);
}

}  // namespace

PowerRanks::PowerRanks(std::span<const double> powers) : powers_(powers), counts_(kBins, 0) {
  in_blocks(powers.size(), [&](std::size_t begin, std::size_t end) {
    for (const double power : powers.subspan(begin, end - begin)) {
      const std::size_t bin = bin_of(power);
      if (bin < kBins) ++counts_[bin];
    }
  });
}

double PowerRanks::at(std::int64_t rank) const {
  std::size_t bin = kBins - 1;
  for (; rank > counts_[bin]; --bin) rank -= counts_[bin];
  std::vector<double> members;
  members.reserve(static_cast<std::size_t>(counts_[bin]));
  in_blocks(powers_.size(), [&](std::size_t begin, std::size_t end) {
    for (const double power : powers_.subspan(begin, end - begin)) {
      if (bin_of(power) == bin) members.push_back(power);
    }
  });
  const auto found = members.begin() + (rank - 1);
  std::nth_element(members.begin(), found, members.end(), std::greater<>());
  return *found;
}

std::int64_t PowerRanks::count_with_sum(double sum) const {
  std::vector<double> sums(kBins, 0.0);
  for (const double power : powers_) {
    const std::size_t bin = bin_of(power);
    if (bin < kBins) sums[bin] += power;
  }
  double held = 0;
  std::int64_t count = 0;
  for (std::size_t bin = kBins; bin-- > 0 && held < sum;) {
    held += sums[bin];
    count += counts_[bin];
  }
  return count;
}

}  // namespace sfft::detail
