// SPDX-License-Identifier: Apache-2.0
// Populations of drawn recordings whose events are known.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sfft::bench {

struct PopulationOptions {
  int count = 10;
  std::uint64_t seed = 1;
  int threads = 1;
  bool verbose = false;
  std::vector<std::string> kinds;    ///< of scenes; empty: all
  std::vector<std::string> cameras;  ///< names of those that count; empty: all
};

/// The same drawn scenes at rates of 5 to 120 frames per second, padded, and with a variable rate: whether
/// each brings the events that happen, within 0.2 s or one frame.
nlohmann::ordered_json rates(const PopulationOptions& options);

}  // namespace sfft::bench
