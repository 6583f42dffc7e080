// SPDX-License-Identifier: Apache-2.0
// Nights, drawn.
#include "bench/guard/rates.hpp"

namespace sfft::bench {

nlohmann::ordered_json nights(const PopulationOptions& /*options*/) {
  return {};
}

}  // namespace sfft::bench
