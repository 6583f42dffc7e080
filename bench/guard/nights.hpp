// SPDX-License-Identifier: Apache-2.0
// Measures guard and triage on nights in which nothing happens to the camera.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/guard/rates.hpp"

namespace sfft::bench {

/// Draws nights, and counts guard's alarms, the people whom triage misses, and triage's events that nobody
/// causes.
nlohmann::ordered_json nights(const PopulationOptions& options);

}  // namespace sfft::bench
