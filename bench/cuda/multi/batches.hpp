// SPDX-License-Identifier: Apache-2.0
// Batches of frames that several GPUs share.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace sfft::bench {

/// Times `frames` 8-bit frames of 1080 × 1920, on all devices and on the first alone. There are dense
/// transforms in GPU memory and from page-locked memory, and sparse ones of 1000 coefficients from
/// page-locked memory. Times are wall clock per frame until all are done, in microseconds. Returns one row.
nlohmann::json time_batches(const std::vector<int>& devices, std::int64_t frames);

}  // namespace sfft::bench
