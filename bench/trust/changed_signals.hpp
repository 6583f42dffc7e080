// SPDX-License-Identifier: Apache-2.0
// Sums of tones, with or without noise, with a few changed samples, as failing sensors, buses and memories
// produce them.
#pragma once

#include <string>

#include "bench/trust/population_question.hpp"
#include "bench/trust/signal_families.hpp"

namespace sfft::bench {

struct ChangedSignal {
  PopulationSignal signal;
  Question question;
  std::string kind;   ///< none, flipped, held, zeroed or clicked
  std::string noise;  ///< "none", or decibels below the tones, in steps of twenty

  std::string check() const;
  std::string path() const;
};

/// Draws 1 to 60 tones in 2^10 to `max_points` points (nine signals in ten have fewer than 2^16) in one to
/// three dimensions, with noise 20 to 80 dB below them or none. Of these samples 1 to 64 are changed,
/// together or apart; one signal in six stays unchanged. Covers every path, Check and element type.
ChangedSignal draw_changed(Draw& draw, std::int64_t number, std::int64_t max_points);

}  // namespace sfft::bench
