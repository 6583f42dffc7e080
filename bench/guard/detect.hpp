// SPDX-License-Identifier: Apache-2.0
// Measures which tampering at random moments the guard detects, and its false alarms on untouched recordings.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "bench/guard/tamper.hpp"

namespace sfft::bench {

struct DetectOptions {
  int moments = 100;
  std::uint64_t seed = 1;
  double sensitivity = 1;
  double within_s = 0.8;  ///< seconds, but at least ten frames, within which an event must begin
};

/// DetectOptions::within_s in frames.
int frames_within(const Clip& clip, const DetectOptions& options);

/// Returns for each kind and strength how many of the moments were detected, and with which delay.
nlohmann::ordered_json detect(const Clip& clip, const DetectOptions& options);
/// Counts alarms in the original clip, and with steps of light inserted at random moments.
nlohmann::ordered_json false_alarms(const Clip& clip, const DetectOptions& options);

}  // namespace sfft::bench
