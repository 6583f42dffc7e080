// SPDX-License-Identifier: Apache-2.0
// Converts floats in device memory to and from the formats of compact transforms, and finds the exponents of
// a batch.
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

/// found[t] is the exponent that scales the largest finite value among the `count` values of transform t into
/// [2^14, 2^15). If `always` is false, it is 0 unless that value is beyond 2^±64. Here and below, values are
/// f32, bf16 or block16.
void launch_find_exponents(const void* from, dense::Storage storage, std::int64_t batch, std::int64_t count,
                           bool always, int* found, Stream stream);
/// to = from · 2^−found[t], in the same format; may be in place. For block16 only the exponents change;
/// values below 2^-100 may then become larger, but stay below 2^-100.
void launch_normalize(const void* from, dense::Storage storage, std::int64_t batch, std::int64_t count,
                      const int* found, void* to, Stream stream);
/// output[t] = input[t] + found[t] + constant. `input` and `found` may be null, for zeros.
void launch_add_exponents(const int* input, const int* found, int constant, std::int64_t batch, int* output,
                          Stream stream);

}  // namespace sfft::detail::cuda
