// SPDX-License-Identifier: Apache-2.0
// The rates of the bus between page-locked host memory and the first GPU.
#pragma once

#include <nlohmann/json.hpp>

namespace sfft::bench {

/// GB/s of long copies: {"in", "out", "in_of_both", "out_of_both"}, the last two at the same time; and
/// {"in_rows_of_4096", …}: of rows that lie apart. Null in builds without CUDA.
nlohmann::json bus_rates();

}  // namespace sfft::bench
