// SPDX-License-Identifier: Apache-2.0
// A thread converts two neighbours at a time, which are one word of 16-bit values. Of block16 a warp converts
// a block at a time.
#include "kernels/base/block16.hpp"
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/stored_values.hpp"

namespace sfft::detail::cuda {

namespace {

template <class Part>
struct alignas(2 * sizeof(Part)) Two {
  Part x, y;
};

template <class From, class To>
__global__ void convert_kernel(const From* __restrict__ from, To* __restrict__ to, std::int64_t count,
                               float factor) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x,
                     first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < count / 2; i += step) {
    const Two<From> two = reinterpret_cast<const Two<From>*>(from)[i];
    reinterpret_cast<Two<To>*>(to)[i] = {Stored<To>::of(to_float(two.x) * factor),
                                         Stored<To>::of(to_float(two.y) * factor)};
  }
  if (first == 0 && count % 2 != 0) to[count - 1] = Stored<To>::of(to_float(from[count - 1]) * factor);
}

template <class From, class To>
void convert(const void* from, void* to, std::int64_t count, float factor, Stream stream) {
  convert_kernel<<<strided_blocks((count + 1) / 2), kThreads, 0, stream>>>(
      static_cast<const From*>(from), static_cast<To*>(to), count, factor);
  check_launch("conversion of stored values");
}

/// Where the blocks of a batch are.
struct Blocks {
  std::int64_t count, blocks, bytes, total;  ///< values, blocks and bytes of a transform; blocks of all
};
Blocks blocks_of(std::int64_t batch, std::int64_t count) {
  const std::int64_t blocks = (count + dense::kBlockValues - 1) / dense::kBlockValues;
  return {count, blocks, (2 * count + blocks + 3) / 4 * 4, batch * blocks};
}

/// Calls use(transform, block) for every block, by whole warps.
template <class Use>
__device__ void for_blocks(const Blocks& all, const Use& use) {
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / 32),
                     first = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  for (std::int64_t i = first; i < all.total; i += warps) use(i / all.blocks, i % all.blocks);
}

__device__ unsigned largest_of_warp(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(~0u, value);
#else
  for (int distance = 16; distance > 0; distance /= 2)
    value = max(value, __shfl_xor_sync(~0u, value, distance));
  return value;
#endif
}

__global__ void widen_blocks_kernel(const unsigned char* __restrict__ from, float* __restrict__ to,
                                    Blocks all) {
  for_blocks(all, [&](std::int64_t transform, std::int64_t block) {
    const unsigned char* const own = from + transform * all.bytes;
    const std::int64_t i = block * dense::kBlockValues + threadIdx.x % 32;
    if (i >= all.count) return;
    const block16::Powers power(reinterpret_cast<const signed char*>(own + 2 * all.count)[block]);
    const int integer = reinterpret_cast<const short*>(own)[i];
    to[transform * all.count + i] =
        block16::number_of(integer, static_cast<float>(integer) * power.first * power.second);
  });
}

__global__ void narrow_blocks_kernel(const float* __restrict__ from, unsigned char* __restrict__ to,
                                     Blocks all, float factor) {
  for_blocks(all, [&](std::int64_t transform, std::int64_t block) {
    unsigned char* const own = to + transform * all.bytes;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t i = block * dense::kBlockValues + lane;
    const float value = i < all.count ? from[transform * all.count + i] * factor : 0.0f;
    const unsigned bits = block16::is_ordinary(value) ? half::bits_of(value) & 0x7fffffffu : 0;
    const int exponent = block16::exponent_of(half::from_bits(largest_of_warp(bits)));
    const block16::Powers power(-exponent);
    const float whole = block16::rounded(block16::scaled(value, power));
    if (i < all.count) reinterpret_cast<short*>(own)[i] = block16::integer_of(value, whole);
    if (lane == 0)
      reinterpret_cast<signed char*>(own + 2 * all.count)[block] = static_cast<signed char>(exponent);
  });
}

}  // namespace

void launch_widen_blocks(const void* from, std::int64_t batch, std::int64_t count, float* to, Stream stream) {
  const Blocks all = blocks_of(batch, count);
  widen_blocks_kernel<<<strided_blocks(32 * all.total), kThreads, 0, stream>>>(
      static_cast<const unsigned char*>(from), to, all);
  check_launch("reading of block16 values");
}
void launch_narrow_blocks(const float* from, std::int64_t batch, std::int64_t count, float factor, void* to,
                          Stream stream) {
  const Blocks all = blocks_of(batch, count);
  narrow_blocks_kernel<<<strided_blocks(32 * all.total), kThreads, 0, stream>>>(
      from, static_cast<unsigned char*>(to), all, factor);
  check_launch("writing of block16 values");
}

void launch_widen(const void* from, dense::Storage storage, std::int64_t count, float* to, Stream stream) {
  switch (storage) {
    case dense::Storage::f32:
      return convert<float, float>(from, to, count, 1, stream);
    case dense::Storage::f16:
      return convert<F16, float>(from, to, count, 1, stream);
    case dense::Storage::bf16:
      return convert<Bf16, float>(from, to, count, 1, stream);
    case dense::Storage::block16:
      break;
  }
}

void launch_narrow(const float* from, std::int64_t count, float factor, dense::Storage storage, void* to,
                   Stream stream) {
  switch (storage) {
    case dense::Storage::f32:
      return convert<float, float>(from, to, count, factor, stream);
    case dense::Storage::f16:
      return convert<float, F16>(from, to, count, factor, stream);
    case dense::Storage::bf16:
      return convert<float, Bf16>(from, to, count, factor, stream);
    case dense::Storage::block16:
      break;
  }
}

}  // namespace sfft::detail::cuda
