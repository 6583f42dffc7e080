// SPDX-License-Identifier: Apache-2.0
// Builds without CUDA have no bus.
#include "bench/out_of_card/bus.hpp"

namespace sfft::bench {

nlohmann::json bus_rates() {
  return nullptr;
}

nlohmann::json column_rates() {
  return nullptr;
}

}  // namespace sfft::bench
