// SPDX-License-Identifier: Apache-2.0
// Finds the exponents of a batch from its data. There is one per transform, in device memory.
#pragma once

#include <cstdint>

#include "kernels/cuda/runtime/runtime.hpp"
#include "sfft/storage.hpp"

namespace sfft::detail::cuda {

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
