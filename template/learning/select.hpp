// SPDX-License-Identifier: Apache-2.0
// Selects the frequencies that a template keeps, and ranks the powers of a stored spectrum.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "template/learning/learning_spectrum.hpp"

namespace sfft::detail {

/// Each returns distinct frequencies in ascending order of index. Ties go to the smaller index.
std::vector<RankedPower> select_largest(const LearningSpectrum& spectrum, std::int64_t k);
/// The fewest with this share of the energy without f = 0; f = 0 is always kept if not zero. `sums` are the
/// spectrum's power_sums().
std::vector<RankedPower> select_energy(const LearningSpectrum& spectrum, const std::vector<double>& sums,
                                       double share);
/// All with |X| above sigmas standard deviations of the noise floor, derived from the median power; f = 0 is
/// always kept if not zero. A floor of zero (an exactly sparse signal) counts as rounding noise.
std::vector<RankedPower> select_threshold(const LearningSpectrum& spectrum, const std::vector<double>& sums,
                                          double sigmas);

/// Ranks among the powers of a stored spectrum, from a histogram instead of a sorted copy. Counts powers by
/// the leading bits of their representation: eight bins per octave. Negative powers are ignored. The powers
/// must outlive this object and not change.
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
