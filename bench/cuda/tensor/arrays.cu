// SPDX-License-Identifier: Apache-2.0
// Draws signals by a hash of the index, and sums errors in double.
#include <cuda_fp16.h>

#include <cmath>

#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/tensor/arrays.hpp"

namespace sfft::bench {

namespace {

constexpr int kThreads = 256, kBlocks = 1024;

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
__device__ float uniform(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return static_cast<float>(static_cast<std::int32_t>((z ^ z >> 31) >> 32)) * 0x1p-31f;
}

__global__ void fill_kernel(std::int64_t count, float2* floats, double2* doubles, __half2* halves) {
  const std::int64_t step = std::int64_t{kThreads} * kBlocks;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    const auto index = static_cast<std::uint64_t>(2 * i);
    const float2 value{uniform(index), uniform(index + 1)};
    if (floats != nullptr) floats[i] = value;
    if (doubles != nullptr) doubles[i] = {value.x, value.y};
    if (halves != nullptr) halves[i] = __float22half2_rn(value);
  }
}

__device__ double2 widened(float2 value) {
  return {value.x, value.y};
}
__device__ double2 widened(__half2 value) {
  return widened(__half22float2(value));
}

/// The entries of `sums` are sums of |difference|², |expected|² and |difference|.
template <class Value>
__global__ void error_kernel(const Value* spectra, const double2* expected, std::int64_t count,
                             double* sums) {
  double own[3] = {0, 0, 0};
  const std::int64_t step = std::int64_t{kThreads} * kBlocks;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    const double2 value = widened(spectra[i]), right = expected[i];
    const double x = value.x - right.x, y = value.y - right.y, square = x * x + y * y;
    own[0] += square;
    own[1] += right.x * right.x + right.y * right.y;
    own[2] += sqrt(square);
  }
  for (int s = 0; s < 3; ++s) {
    for (int distance = 16; distance > 0; distance /= 2) own[s] += __shfl_xor_sync(~0u, own[s], distance);
    if (threadIdx.x % 32 == 0) atomicAdd(sums + s, own[s]);
  }
}

}  // namespace

void fill_uniform(std::int64_t count, void* floats, void* doubles, void* halves, cudaStream_t stream) {
  fill_kernel<<<kBlocks, kThreads, 0, stream>>>(
      count, static_cast<float2*>(floats), static_cast<double2*>(doubles), static_cast<__half2*>(halves));
  gpu(cudaGetLastError());
}

SpectrumError spectrum_error(const void* spectra, bool half, const void* expected, std::int64_t count) {
  const DeviceBuffer sums(3 * sizeof(double));
  gpu(cudaMemset(sums.data(), 0, sums.bytes()));
  const auto* right = static_cast<const double2*>(expected);
  if (half) {
    error_kernel<<<kBlocks, kThreads>>>(static_cast<const __half2*>(spectra), right, count,
                                        sums.as<double>());
  } else {
    error_kernel<<<kBlocks, kThreads>>>(static_cast<const float2*>(spectra), right, count, sums.as<double>());
  }
  gpu(cudaGetLastError());
  const std::vector<double> got = download(sums.as<double>(), 3);
  return {std::sqrt(got[0] / got[1]), got[2]};
}

}  // namespace sfft::bench
