// SPDX-License-Identifier: Apache-2.0
// Selects the frequencies that a template keeps.
#pragma once

#include <cstdint>
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

}  // namespace sfft::detail
