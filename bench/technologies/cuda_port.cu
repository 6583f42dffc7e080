// SPDX-License-Identifier: Apache-2.0
// The kernels of the CUDA port, launched into one stream and timed by events.
#include "bench/technologies/cuda_launch.hpp"
#include "bench/technologies/kernels/kernels.cuh"

namespace sfft::technologies {

cudaError_t launch_stage(const LaunchSize& size, const float2* source, float2* target, const Parameters& p) {
  fft_stage<<<size.groups, size.threads, 0, size.stream>>>(source, target, p);
  return cudaGetLastError();
}

cudaError_t launch_parts(const LaunchSize& size, const float2* source, float2* target, const Parameters& p) {
  fft_parts<<<size.groups, size.threads, 2 * sizeof(float2) * size.threads, size.stream>>>(source, target, p);
  return cudaGetLastError();
}

cudaError_t launch_transpose(const LaunchSize& size, int tile, const float2* source, float2* target,
                             const Parameters& p) {
  if (tile == 16) fft_transpose<16><<<size.groups, size.threads, 0, size.stream>>>(source, target, p);
  if (tile == 32) fft_transpose<32><<<size.groups, size.threads, 0, size.stream>>>(source, target, p);
  if (tile == 64) fft_transpose<64><<<size.groups, size.threads, 0, size.stream>>>(source, target, p);
  return cudaGetLastError();
}

}  // namespace sfft::technologies
