// SPDX-License-Identifier: Apache-2.0
// The CUDA port's launches, without CUDA's syntax.
#pragma once

#include <cuda_runtime.h>

#include "bench/technologies/kernels/parameters.hpp"

namespace sfft::technologies {

struct LaunchSize {
  unsigned groups = 0, threads = 0;
  cudaStream_t stream = nullptr;
};

cudaError_t launch_stage(const LaunchSize& size, const float2* source, float2* target, const Parameters& p);
cudaError_t launch_parts(const LaunchSize& size, const float2* source, float2* target, const Parameters& p);
/// `tile` is 16, 32 or 64.
cudaError_t launch_transpose(const LaunchSize& size, int tile, const float2* source, float2* target,
                             const Parameters& p);

}  // namespace sfft::technologies
