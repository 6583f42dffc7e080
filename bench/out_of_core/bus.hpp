// SPDX-License-Identifier: Apache-2.0
// Bandwidth of the buses between page-locked host memory and GPUs, and memory that GPUs can access directly.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>

namespace sfft::bench {

/// GB/s of long copies on the first `gpus` GPUs together: {"in", "out", "in_of_both", "out_of_both"}; the
/// last two run at the same time. Null in builds without CUDA.
nlohmann::json bus_rates(int gpus);
/// The same rates for the first GPU and columns of an array, for widths and pitches in bytes.
nlohmann::json column_rates();

/// Page-locks memory in place for the lifetime of the result. Throws std::runtime_error.
std::shared_ptr<std::byte> page_locked(std::shared_ptr<std::byte> memory, std::size_t bytes);

}  // namespace sfft::bench
