// SPDX-License-Identifier: Apache-2.0
// Tones, with or without noise, of which a few samples were changed: how sensors, buses and memories fail.
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

/// 1 to 60 tones in 2^10 to `max_points` points (nine in ten below 2^16) in one to three dimensions, noise 20
/// to 80 dB below them or none, and 1 to 64 samples that are changed: together or apart. One in six is left
/// as it is. Every path, Check and element type.
ChangedSignal draw_changed(Draw& draw, std::int64_t number, std::int64_t max_points);

}  // namespace sfft::bench
