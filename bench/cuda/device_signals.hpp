// SPDX-License-Identifier: Apache-2.0
// Exactly sparse signals made on the GPU, by an inverse transform in double.
#pragma once

#include <cuda_runtime.h>

#include <complex>
#include <cstdint>
#include <vector>

namespace sfft::bench {

/// x[t] = (1/N) Σ values_i exp(2πi support_i t / N) as complex floats at `out` (device memory, N elements).
void make_sparse_signal(std::int64_t points, const std::vector<std::int64_t>& support,
                        const std::vector<std::complex<double>>& values, void* out);
/// out[i] = in[i] for samples of 8 bits or, with `wide`, 16 bits. Device memory; ordered in the stream.
void widen_samples(const void* in, bool wide, float* out, std::int64_t count, cudaStream_t stream);

}  // namespace sfft::bench
