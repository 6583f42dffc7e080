// SPDX-License-Identifier: Apache-2.0
// Judges by a dense transform in double precision whether an answer of discovery keeps its promises.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "bench/trust/population_question.hpp"

namespace sfft::bench {

struct Verdict {
  double missed = 0, values = 0, tail = 0;  ///< errors over their limits; an answer above 1 is silently wrong
  double single = 0;                        ///< the same for the worst single value
  double worst() const { return std::max({missed, values, tail}); }
};

/// Judges an answer in units of the unscaled signal.
Verdict judge(const Discovery& found, const std::vector<std::complex<double>>& truth,
              const PopulationSignal& signal, const Question& question);

/// Number of samples at which the signal differs from the answer, if nothing else is wrong with it. An
/// example is a click that quantisation makes of a step of 1/255. `rest` is the true spectrum.
std::int64_t differing_samples(const Discovery& found, std::vector<std::complex<double>> rest,
                               const PopulationSignal& signal, double scale);

}  // namespace sfft::bench
