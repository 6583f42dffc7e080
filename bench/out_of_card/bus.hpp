// SPDX-License-Identifier: Apache-2.0
// The rates of the bus between page-locked host memory and the first GPU.
#pragma once

#include <nlohmann/json.hpp>

namespace sfft::bench {

/// GB/s of long copies: {"in", "out", "in_of_both", "out_of_both"}, the last two at the same time. Null in
/// builds without CUDA.
nlohmann::json bus_rates();
/// The same of columns of an array, for widths and pitches in bytes.
nlohmann::json column_rates();

}  // namespace sfft::bench
