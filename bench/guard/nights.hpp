// SPDX-License-Identifier: Apache-2.0
// Nights in which nothing happens to the camera.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/guard/rates.hpp"

namespace sfft::bench {

/// Drawn nights: alarms of guard, people whom triage misses, and events of triage that nobody causes.
nlohmann::ordered_json nights(const PopulationOptions& options);

}  // namespace sfft::bench
