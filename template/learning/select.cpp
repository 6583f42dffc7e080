// SPDX-License-Identifier: Apache-2.0
// Each rule is a few queries to the learning spectrum: the k largest powers, growing numbers of the largest
// until they hold the energy, or all powers above a multiple of the median.
#include "template/learning/select.hpp"
#include "kernels/runtime/run_scope.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

namespace sfft::detail {

namespace {

std::vector<RankedPower> with_mean(std::vector<RankedPower> chosen, double mean_power) {
  if (mean_power > 0) chosen.push_back({0, mean_power});
  std::sort(chosen.begin(), chosen.end(),
            [](const RankedPower& a, const RankedPower& b) { return a.index < b.index; });
  return chosen;
}

}  // namespace

std::vector<RankedPower> select_largest(const LearningSpectrum& spectrum, std::int64_t k) {
  return spectrum.largest(0, k);
}

std::vector<RankedPower> select_energy(const LearningSpectrum& spectrum, const std::vector<double>& sums,
                                       double share) {
  const double wanted = share * std::accumulate(sums.begin() + 1, sums.end(), 0.0);
  const std::int64_t candidates = spectrum.layout().distinct() - 1;
  std::vector<RankedPower> chosen;
  // The number needed is not known exactly, so ask for more of the largest until they suffice.
  const std::int64_t likely = std::max<std::int64_t>(4096, spectrum.count_with_energy(wanted));
  for (std::int64_t count = std::min(likely, candidates); count > 0;
       count = std::min(4 * count, candidates)) {
    chosen = spectrum.largest(1, count);
    std::stable_sort(chosen.begin(), chosen.end(),
                     [](const RankedPower& a, const RankedPower& b) { return a.power > b.power; });
    double held = 0;
    std::size_t enough = 0;
    while (enough < chosen.size() && held < wanted && chosen[enough].power > 0) {
      held += spectrum.layout().multiplicity(chosen[enough].index) * chosen[enough].power;
      ++enough;
    }
    const bool found = enough < chosen.size() || !(held < wanted);
    chosen.resize(enough);
    if (found || count == candidates) break;
  }
  return with_mean(std::move(chosen), sums[0]);
}

std::vector<RankedPower> select_threshold(const LearningSpectrum& spectrum, const std::vector<double>& sums,
                                          double sigmas) {
  const std::int64_t distinct = spectrum.layout().distinct();
  // |X|² of complex Gaussian noise is exponential: its median is the variance times ln 2.
  const double variance = spectrum.power_at_rank(distinct - distinct / 2) / std::numbers::ln2;
  const double rounding = 64 * std::numeric_limits<double>::epsilon();
  const double floor = std::max(sigmas * sigmas * variance, spectrum.power_at_rank(1) * rounding * rounding);
  return with_mean(spectrum.above(1, floor), sums[0]);
}

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
