// SPDX-License-Identifier: Apache-2.0
// What the guard finds of tampering at random moments, and what it takes untouched recordings for.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "bench/guard/tamper.hpp"

namespace sfft::bench {

struct DetectOptions {
  int moments = 100;
  std::uint64_t seed = 1;
  double sensitivity = 1;
  int within = 10;  ///< frames in which an event has to begin
};

/// For each kind and strength: how many of the moments were found, and by which delay.
nlohmann::ordered_json detect(const Clip& clip, const DetectOptions& options);
/// Alarms in the clip as it is, and with steps of light put in at random moments.
nlohmann::ordered_json false_alarms(const Clip& clip, const DetectOptions& options);

}  // namespace sfft::bench
