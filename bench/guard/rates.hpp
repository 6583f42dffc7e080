// SPDX-License-Identifier: Apache-2.0
// Measures the guard on populations of drawn recordings whose events are known.
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
  std::vector<std::string> kinds;    ///< kinds of scenes to draw; empty means all
  std::vector<std::string> cameras;  ///< names of the cameras to draw; empty means all
};

/// Shows the same drawn scenes at rates of 5 to 120 frames per second, padded, and with a variable rate.
/// Counts how often the guard reports the true events within 0.2 s or one frame.
nlohmann::ordered_json rates(const PopulationOptions& options);

}  // namespace sfft::bench
