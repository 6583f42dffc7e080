// SPDX-License-Identifier: Apache-2.0
// Converts floats in device memory to and from the formats of compact transforms.
#pragma once

#include <cstdint>

#include "kernels/cuda/runtime/runtime.hpp"
#include "sfft/storage.hpp"

namespace sfft::detail::cuda {

/// to[i] = from[i]. Here and below, the format is a floating-point one.
void launch_widen(const void* from, dense::Storage storage, std::int64_t count, float* to, Stream stream);
/// to[i] = factor · from[i], rounded to nearest. The arrays may not overlap.
void launch_narrow(const float* from, std::int64_t count, float factor, dense::Storage storage, void* to,
                   Stream stream);

/// As above, for block16: `batch` transforms of `count` values each, whose floats begin `pitch` apart (0:
/// they are contiguous); storage_bytes() gives the size of 16-bit integers plus exponents.
void launch_widen_blocks(const void* from, std::int64_t batch, std::int64_t count, float* to, Stream stream,
                         std::int64_t pitch = 0);
void launch_narrow_blocks(const float* from, std::int64_t batch, std::int64_t count, float factor, void* to,
                          Stream stream, std::int64_t pitch = 0);

}  // namespace sfft::detail::cuda
