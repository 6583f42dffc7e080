// SPDX-License-Identifier: Apache-2.0
// Sums over the lanes of a warp and the warps of a block. The order is fixed, so results repeat bit for bit.
#pragma once

namespace sfft::detail::cuda {

template <class T>
__device__ __forceinline__ T exchanged(T value, int step) {
  return __shfl_xor_sync(0xffffffffU, value, step);
}

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += exchanged(value, step);
  return value;
}

/// Four sums over the warp: lane l receives sum l/8. A multiprocessor shuffles one word per cycle for a warp,
/// so lanes share the work: one exchange halves two sums, and 6 exchanges replace 20.
template <class T>
__device__ __forceinline__ T sum_of_four(T first, T second, T third, T fourth) {
  const bool high = (threadIdx.x & 16U) != 0, odd = (threadIdx.x & 8U) != 0;
  const T even_sum = (high ? third : first) + exchanged(high ? first : third, 16);
  const T odd_sum = (high ? fourth : second) + exchanged(high ? second : fourth, 16);
  T sum = (odd ? odd_sum : even_sum) + exchanged(odd ? even_sum : odd_sum, 8);
#pragma unroll
  for (int step = 4; step > 0; step /= 2) sum += exchanged(sum, step);
  return sum;
}

/// Lane l gets the sum of values[l] over the warp. Overwrites the values.
template <int kStep = 16, class T>
__device__ __forceinline__ T transposed_sum(T (&values)[32]) {
  const bool high = (threadIdx.x & static_cast<unsigned>(kStep)) != 0;
#pragma unroll
  for (int j = 0; j < kStep; ++j) {
    const T sent = high ? values[j] : values[j + kStep];
    values[j] = (high ? values[j + kStep] : values[j]) + exchanged(sent, kStep);
  }
  if constexpr (kStep > 1) {
    return transposed_sum<kStep / 2>(values);
  } else {
    return values[0];
  }
}

/// Σ values, added in pairs, which makes shorter dependency chains than sequential addition.
/// Overwrites the values.
template <int kCount, class T>
__device__ __forceinline__ T tree_sum(T (&values)[kCount]) {
#pragma unroll
  for (int step = 1; step < kCount; step *= 2) {
#pragma unroll
    for (int i = 0; i + step < kCount; i += 2 * step) values[i] = values[i] + values[i + step];
  }
  return values[0];
}

template <class T>
__device__ __forceinline__ T block_sum(T value, T* scratch) {
  value = warp_sum(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? scratch[threadIdx.x % 32] : T(0));
}

}  // namespace sfft::detail::cuda
