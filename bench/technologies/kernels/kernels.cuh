// SPDX-License-Identifier: Apache-2.0
// The three kernels in CUDA's language, which HIP accepts as well. The launch sets the size of a work-group
// and of its shared memory.
#pragma once

#include "bench/technologies/kernels/fft_math.h"
#include "bench/technologies/kernels/parameters.hpp"

namespace sfft::technologies {

__global__ void fft_stage(const float2* source, float2* target, Parameters p) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= p.threads) return;
  const unsigned low = fft_low(thread, p.dist);
  const unsigned high = low + p.dist;
  const float2 a = source[low];
  const float2 b = source[high];
  const float2 w = fft_stage_twiddle(thread, p.dist, p.stage, p.bits, p.sign);
  target[low] = fft_add(a, b);
  target[high] = fft_rotated_difference(a, b, w);
}

__global__ void fft_parts(const float2* source, float2* target, Parameters p) {
  extern __shared__ float2 values[];
  const unsigned half_bits = p.block_bits - 1;
  const unsigned half_points = 1u << half_bits;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const bool busy = thread < p.threads;
  const unsigned butterfly = thread & (half_points - 1);
  const unsigned low = ((threadIdx.x >> half_bits) << p.block_bits) + butterfly;
  const unsigned high = low + half_points;
  const unsigned pair = low + butterfly;
  const unsigned first = (fft_part(thread >> half_bits, p.bits, p.block_bits) << p.block_bits) + butterfly;
  if (busy) {
    values[low] = source[first];
    values[high] = source[first + half_points];
  }
  __syncthreads();
  for (unsigned stage = 0; stage < p.block_bits; ++stage) {
    const float2 a = values[low];
    const float2 b = values[high];
    const float2 w = fft_local_twiddle(butterfly, stage, p.block_bits, p.sign);
    __syncthreads();
    values[pair] = fft_add(a, b);
    values[pair + 1] = fft_rotated_difference(a, b, w);
    __syncthreads();
  }
  if (!busy) return;
  target[fft_output(first, p.bits)] = fft_scaled(values[low], p.scale);
  target[fft_output(first + half_points, p.bits)] = fft_scaled(values[high], p.scale);
}

/// A row of the tile is one element longer, so that the elements of a column lie in different banks.
template <int kTile>
__global__ void fft_transpose(const float2* source, float2* target, Parameters p) {
  __shared__ float2 tile[kTile * (kTile + 1)];
  const unsigned tiles_x = (p.columns + kTile - 1) / kTile;
  const unsigned x0 = blockIdx.x % tiles_x * kTile;
  const unsigned y0 = blockIdx.x / tiles_x * kTile;
  for (unsigned i = threadIdx.x; i < kTile * kTile; i += blockDim.x) {
    const unsigned x = i % kTile, y = i / kTile;
    if (x0 + x < p.columns && y0 + y < p.rows)
      tile[y * (kTile + 1) + x] = source[(y0 + y) * p.columns + x0 + x];
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kTile * kTile; i += blockDim.x) {
    const unsigned x = i / kTile, y = i % kTile;
    if (x0 + x < p.columns && y0 + y < p.rows) target[(x0 + x) * p.rows + y0 + y] = tile[y * (kTile + 1) + x];
  }
}

}  // namespace sfft::technologies
