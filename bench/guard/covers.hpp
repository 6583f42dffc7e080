// SPDX-License-Identifier: Apache-2.0
// Covers that slide over the lens within seconds, before recordings in which something moves.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/guard/rates.hpp"

namespace sfft::bench {

/// Counts how many drawn covers guard finds, by the duration of their slide.
nlohmann::ordered_json covers(const PopulationOptions& options, const std::vector<std::string>& recordings);

}  // namespace sfft::bench
