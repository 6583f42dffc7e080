// SPDX-License-Identifier: Apache-2.0
// Phases are exact in integers, and sines in double.
#include <cmath>

#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/multi/waves.hpp"

namespace sfft::bench {

namespace {

__device__ void global_index(const WavePart& place, std::int64_t i, std::int64_t at[3]) {
  at[2] = place.begin[2] + i % place.extent[2];
  at[1] = place.begin[1] + i / place.extent[2] % place.extent[1];
  at[0] = place.begin[0] + i / place.extent[2] / place.extent[1];
}

__global__ void fill_kernel(const Waves waves, const WavePart place, float* values, std::int64_t points) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < points;
       i += step) {
    std::int64_t at[3];
    global_index(place, i, at);
    double re = 0, im = 0;
    for (int w = 0; w < Waves::kCount; ++w) {
      double turns = 0;
      for (int d = 0; d < 3; ++d) {
        const std::int64_t turn = waves.frequency[w][d] * at[d] % waves.extents[d];
        turns += static_cast<double>(turn) / static_cast<double>(waves.extents[d]);
      }
      double sine, cosine;
      sincospi(2 * turns, &sine, &cosine);
      re += waves.amplitude[w] * cosine;
      im += waves.amplitude[w] * sine;
    }
    if (waves.real) {
      values[i] = static_cast<float>(re);
    } else {
      values[2 * i] = static_cast<float>(re);
      values[2 * i + 1] = static_cast<float>(im);
    }
  }
}

__global__ void worst_kernel(const Waves waves, const WavePart place, const float* values,
                             std::int64_t points, double coefficient, unsigned* worst) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  float max = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < points;
       i += step) {
    std::int64_t at[3];
    global_index(place, i, at);
    double truth = 0;
    for (int w = 0; w < Waves::kCount; ++w) {
      if (at[0] == waves.frequency[w][0] && at[1] == waves.frequency[w][1] && at[2] == waves.frequency[w][2])
        truth += coefficient * waves.amplitude[w];
    }
    const double re = values[2 * i] - truth, im = values[2 * i + 1];
    const double off = sqrt(re * re + im * im);
    max = off <= 1e30 ? fmaxf(max, static_cast<float>(off)) : INFINITY;  // also for NaN
  }
  atomicMax(worst, __float_as_uint(max));  // non-negative floats have the same order as their bits
}

}  // namespace

void fill_part(const Waves& waves, const WavePart& part, void* values, cudaStream_t stream) {
  fill_kernel<<<1024, 256, 0, stream>>>(waves, part, static_cast<float*>(values), part.points);
  gpu(cudaGetLastError());
}

double worst_of_part(const Waves& waves, const WavePart& part, const std::complex<float>* values) {
  const DeviceBuffer worst(sizeof(unsigned));
  gpu(cudaMemset(worst.data(), 0, sizeof(unsigned)));
  double points = 1;
  for (const std::int64_t extent : waves.extents) points *= static_cast<double>(extent);
  const double coefficient = waves.real ? points / 2 : points;
  worst_kernel<<<1024, 256>>>(waves, part, reinterpret_cast<const float*>(values), part.points, coefficient,
                              worst.as<unsigned>());
  gpu(cudaGetLastError());
  float max = 0;
  gpu(cudaMemcpy(&max, worst.data(), sizeof max, cudaMemcpyDeviceToHost));
  return max / (coefficient * 2.0);
}

}  // namespace sfft::bench
