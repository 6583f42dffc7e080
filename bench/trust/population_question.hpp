// SPDX-License-Identifier: Apache-2.0
// Makes the question to discovery about a signal of the population, and the samples that discovery receives.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/trust/signal_families.hpp"
#include "sfft/sfft.hpp"

namespace sfft::bench {

struct Question {
  ElementType type = ElementType::c64;
  double scale = 1;  ///< scale of the samples: in some signals a power of ten far from 1
  DiscoverOptions options;
  std::string text() const;
};

/// Draws element type, scale and options. For example, k may be half or twice the number of tones.
Question draw_question(const PopulationSignal& signal, std::int64_t number, Draw& draw);

/// The samples as the library receives them, and the same in double.
struct Samples {
  std::vector<std::uint8_t> bytes;
  std::vector<std::complex<double>> exact;
};

/// Integer samples fill the range of their type, and the scale of the question becomes 1.
Samples convert(const PopulationSignal& signal, Question& question);

}  // namespace sfft::bench
