// SPDX-License-Identifier: Apache-2.0
// Builds without CUDA have no bus.
#include <stdexcept>

#include "bench/out_of_core/bus.hpp"

namespace sfft::bench {

nlohmann::json bus_rates(int) {
  return nullptr;
}

nlohmann::json column_rates() {
  return nullptr;
}

std::shared_ptr<std::byte> page_locked(std::shared_ptr<std::byte>, std::size_t) {
  throw std::runtime_error("this build has no CUDA: --no-gpu needs no page-locked memory");
}

}  // namespace sfft::bench
