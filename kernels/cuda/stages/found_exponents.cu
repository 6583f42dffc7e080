// SPDX-License-Identifier: Apache-2.0
// Each warp scans a run of one transform. An atomic maximum combines the runs; it works on the values' bits,
// which are ordered like their magnitudes.
#include "kernels/base/storage/block16.hpp"
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/stored_values.hpp"

namespace sfft::detail::cuda {

namespace {

constexpr int kRun = 1024;  ///< values of a warp's run

__host__ __device__ std::int64_t blocks_in(std::int64_t count) {
  return (count + dense::kBlockValues - 1) / dense::kBlockValues;
}
/// Size of a transform in block16.
std::int64_t bytes_of(std::int64_t count) {
  return (2 * count + blocks_in(count) + 3) / 4 * 4;
}

template <class Part>
__device__ unsigned size_of(Part value) {
  const unsigned bits = half::bits_of(to_float(value)) & 0x7fffffffu;
  return bits < 0x7f800000u ? bits : 0;
}

template <class Part>
__global__ void largest_kernel(const Part* __restrict__ from, std::int64_t batch, std::int64_t count,
                               unsigned* __restrict__ largest) {
  const std::int64_t runs = (count + kRun - 1) / kRun,
                     warps = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / 32);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
       i < batch * runs; i += warps) {
    const std::int64_t transform = i / runs, first = i % runs * kRun;
    const Part* const run = from + transform * count + first;
    const int here = static_cast<int>(count - first < kRun ? count - first : kRun);
    unsigned highest = 0;
#pragma unroll 8
    for (int k = lane; k < here; k += 32) highest = max(highest, size_of(run[k]));
    for (int distance = 16; distance > 0; distance /= 2)
      highest = max(highest, __shfl_xor_sync(~0u, highest, distance));
    if (lane == 0) atomicMax(largest + transform, highest);
  }
}

/// For block16: a warp reads one block of values at a time.
__global__ void largest_of_blocks_kernel(const unsigned char* __restrict__ from, std::int64_t batch,
                                         std::int64_t count, std::int64_t bytes,
                                         unsigned* __restrict__ largest) {
  const std::int64_t blocks = blocks_in(count),
                     warps = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / 32);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
       i < batch * blocks; i += warps) {
    const std::int64_t transform = i / blocks, block = i % blocks, value = block * dense::kBlockValues + lane;
    const unsigned char* const own = from + transform * bytes;
    int integer = value < count ? reinterpret_cast<const short*>(own)[value] : 0;
    if (integer > block16::kMaxInteger || integer < -block16::kMaxInteger) integer = 0;
    const block16::Powers power(reinterpret_cast<const signed char*>(own + 2 * count)[block]);
    unsigned highest = size_of(static_cast<float>(integer) * power.first * power.second);
    for (int distance = 16; distance > 0; distance /= 2)
      highest = max(highest, __shfl_xor_sync(~0u, highest, distance));
    if (lane == 0) atomicMax(largest + transform, highest);
  }
}

__global__ void normalize_blocks_kernel(const unsigned char* from, unsigned char* to, std::int64_t batch,
                                        std::int64_t count, std::int64_t bytes,
                                        const int* __restrict__ found) {
  constexpr int kMin = -128, kMax = 127;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x, first = 2 * count,
                     end = first + blocks_in(count);
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < batch * bytes;
       i += step) {
    const std::int64_t transform = i / bytes, at = i % bytes;
    if (at >= end) continue;  // padding
    const int exponent = static_cast<signed char>(from[i]) - found[transform];
    const bool is_exponent = at >= first && at < end;
    to[i] = is_exponent ? static_cast<unsigned char>(min(max(exponent, kMin), kMax)) : from[i];
  }
}

__global__ void exponents_kernel(int* found, std::int64_t batch, bool always) {
  constexpr int kOrdinary = 64;
  const std::int64_t t = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= batch) return;
  const float largest = half::from_bits(static_cast<unsigned>(found[t]));
  const int top = largest > 0 ? ilogbf(largest) : 0;
  const bool needed = largest > 0 && (always || top > kOrdinary || top < -kOrdinary);
  found[t] = needed ? top - block16::kTopBit : 0;
}

template <class Part>
__global__ void normalize_kernel(const Part* from, Part* to, std::int64_t batch, std::int64_t count,
                                 const int* __restrict__ found) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < batch * count;
       i += step) {
    const block16::Powers power(-found[i / count]);
    to[i] = Stored<Part>::of(to_float(from[i]) * power.first * power.second);
  }
}

__global__ void add_exponents_kernel(const int* input, const int* found, int constant, std::int64_t batch,
                                     int* output) {
  const std::int64_t t = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= batch) return;
  output[t] = constant + (input == nullptr ? 0 : input[t]) + (found == nullptr ? 0 : found[t]);
}

unsigned blocks_for(std::int64_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

}  // namespace

void launch_find_exponents(const void* from, dense::Storage storage, std::int64_t batch, std::int64_t count,
                           bool always, int* found, Stream stream) {
  clear(found, static_cast<std::size_t>(batch) * sizeof(int), stream);
  auto* const largest = reinterpret_cast<unsigned*>(found);
  const unsigned blocks = strided_blocks(32 * batch * ((count + kRun - 1) / kRun));
  if (storage == dense::Storage::block16) {
    largest_of_blocks_kernel<<<strided_blocks(32 * batch * blocks_in(count)), kThreads, 0, stream>>>(
        static_cast<const unsigned char*>(from), batch, count, bytes_of(count), largest);
  } else if (storage == dense::Storage::f32) {
    largest_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<const float*>(from), batch, count, largest);
  } else {
    largest_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<const Bf16*>(from), batch, count, largest);
  }
  exponents_kernel<<<blocks_for(batch), kThreads, 0, stream>>>(found, batch, always);
  check_launch("finding exponents");
}

void launch_normalize(const void* from, dense::Storage storage, std::int64_t batch, std::int64_t count,
                      const int* found, void* to, Stream stream) {
  const unsigned blocks = strided_blocks(batch * count);
  if (storage == dense::Storage::block16) {
    normalize_blocks_kernel<<<strided_blocks(batch * bytes_of(count)), kThreads, 0, stream>>>(
        static_cast<const unsigned char*>(from), static_cast<unsigned char*>(to), batch, count,
        bytes_of(count), found);
  } else if (storage == dense::Storage::f32) {
    normalize_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<const float*>(from),
                                                      static_cast<float*>(to), batch, count, found);
  } else {
    normalize_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<const Bf16*>(from), static_cast<Bf16*>(to),
                                                      batch, count, found);
  }
  check_launch("scaling values");
}

void launch_add_exponents(const int* input, const int* found, int constant, std::int64_t batch, int* output,
                          Stream stream) {
  add_exponents_kernel<<<blocks_for(batch), kThreads, 0, stream>>>(input, found, constant, batch, output);
  check_launch("adding exponents");
}

}  // namespace sfft::detail::cuda
