// SPDX-License-Identifier: Apache-2.0
// A thread converts two neighbours (one word of 16-bit values) at a time. For block16, four threads convert a
// block, and each takes eight neighbours.
#include <cstdint>

#include "kernels/base/storage/block16.hpp"
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

/// Layout of the blocks of a batch.
struct Blocks {
  std::int64_t count, blocks, bytes, total;  ///< values, blocks and bytes per transform; blocks in total
  std::int64_t pitch;                        ///< distance between the floats of two transforms
};
Blocks blocks_of(std::int64_t batch, std::int64_t count, std::int64_t pitch) {
  const std::int64_t blocks = (count + dense::kBlockValues - 1) / dense::kBlockValues;
  return {count, blocks, (2 * count + blocks + 3) / 4 * 4, batch * blocks, pitch == 0 ? count : pitch};
}

/// Threads per block of values, and values per thread.
constexpr int kTeam = 4, kOwn = dense::kBlockValues / kTeam;

/// The number of values that a thread moves together: all of its values if transforms are 16-byte aligned on
/// both sides, or a word of two if their number is even.
int values_at_once(const Blocks& all, const void* floats, const void* stored) {
  const auto addresses = reinterpret_cast<std::uintptr_t>(floats) | reinterpret_cast<std::uintptr_t>(stored);
  if (all.bytes % 16 == 0 && all.count % kOwn == 0 && all.pitch % 4 == 0 && addresses % 16 == 0) return kOwn;
  return all.count % 2 == 0 && all.pitch % 2 == 0 && addresses % 8 == 0 ? 2 : 1;
}

/// Index of a thread's k-th value in its block: neighbouring threads move neighbours.
template <int kAtOnce>
__device__ int place(int k) {
  const int own = static_cast<int>(threadIdx.x) % kTeam;
  return (k / kAtOnce * kTeam + own) * kAtOnce + k % kAtOnce;
}

/// Calls use(transform, block) for every block, by whole teams. Index must be wide enough for all blocks.
template <class Index, class Use>
__device__ void for_blocks(const Blocks& all, const Use& use) {
  const auto blocks = static_cast<Index>(all.blocks), total = static_cast<Index>(all.total),
             teams = static_cast<Index>(gridDim.x) * (blockDim.x / kTeam);
  for (Index i = static_cast<Index>(blockIdx.x) * (blockDim.x / kTeam) + threadIdx.x / kTeam; i < total;
       i += teams)
    use(i / blocks, i % blocks);
}

__device__ unsigned largest_of_team(unsigned value) {
  const unsigned mask = 0xfu << (threadIdx.x % 32 & ~3u);
#pragma unroll
  for (int distance = 1; distance < kTeam; distance *= 2)
    value = max(value, __shfl_xor_sync(mask, value, distance));
  return value;
}

/// Loads or stores kCount neighbours, aligned to their total size.
template <int kCount, class T>
struct alignas(kCount * sizeof(T) < 16 ? kCount * sizeof(T) : 16) Neighbours {
  T values[kCount];
};

template <class Index, int kAtOnce>
__global__ void widen_blocks_kernel(const unsigned char* __restrict__ from, float* __restrict__ to,
                                    Blocks all) {
  for_blocks<Index>(all, [&](Index transform, Index block) {
    const unsigned char* const own = from + static_cast<std::int64_t>(transform) * all.bytes;
    const std::int64_t first = static_cast<std::int64_t>(block) * dense::kBlockValues;
    const block16::Powers power(reinterpret_cast<const signed char*>(own + 2 * all.count)[block]);
#pragma unroll
    for (int k = 0; k < kOwn; k += kAtOnce) {
      const std::int64_t at = first + place<kAtOnce>(k);
      if (at >= all.count) break;
      const auto integers =
          *reinterpret_cast<const Neighbours<kAtOnce, short>*>(reinterpret_cast<const short*>(own) + at);
      Neighbours<kAtOnce, float> numbers;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int integer = integers.values[i];
        numbers.values[i] =
            block16::number_of(integer, static_cast<float>(integer) * power.first * power.second);
      }
      *reinterpret_cast<Neighbours<kAtOnce, float>*>(to + static_cast<std::int64_t>(transform) * all.pitch +
                                                     at) = numbers;
    }
  });
}

template <class Index, int kAtOnce>
__global__ void narrow_blocks_kernel(const float* __restrict__ from, unsigned char* __restrict__ to,
                                     Blocks all, float factor) {
  for_blocks<Index>(all, [&](Index transform, Index block) {
    unsigned char* const own = to + static_cast<std::int64_t>(transform) * all.bytes;
    const float* const numbers = from + static_cast<std::int64_t>(transform) * all.pitch;
    const std::int64_t first = static_cast<std::int64_t>(block) * dense::kBlockValues;
    float values[kOwn];
    unsigned highest = 0;
#pragma unroll
    for (int k = 0; k < kOwn; k += kAtOnce) {
      const std::int64_t at = first + place<kAtOnce>(k);
      Neighbours<kAtOnce, float> some{};
      if (at < all.count) some = *reinterpret_cast<const Neighbours<kAtOnce, float>*>(numbers + at);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const float value = values[k + i] = some.values[i] * factor;
        if (block16::is_ordinary(value)) highest = max(highest, half::bits_of(value) & 0x7fffffffu);
      }
    }
    const int exponent = block16::exponent_of(half::from_bits(largest_of_team(highest)));
    const block16::Powers power(-exponent);
#pragma unroll
    for (int k = 0; k < kOwn; k += kAtOnce) {
      const std::int64_t at = first + place<kAtOnce>(k);
      Neighbours<kAtOnce, short> integers;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const float value = values[k + i];
        integers.values[i] = block16::integer_of(value, block16::rounded(block16::scaled(value, power)));
      }
      if (at < all.count)
        *reinterpret_cast<Neighbours<kAtOnce, short>*>(reinterpret_cast<short*>(own) + at) = integers;
    }
    if (threadIdx.x % kTeam == 0)
      reinterpret_cast<signed char*>(own + 2 * all.count)[block] = static_cast<signed char>(exponent);
  });
}

template <int kValue>
struct Count {
  static constexpr int value = kValue;
};
/// Calls launch(index, count). The types of the arguments say how the kernel counts blocks and how many
/// values it moves together.
template <class Launch>
void choose(const Blocks& all, int at_once, const Launch& launch) {
  const bool few = all.total < std::int64_t{1} << 31;
  const auto with_index = [&](auto index) {
    at_once == kOwn ? launch(index, Count<kOwn>())
    : at_once == 2  ? launch(index, Count<2>())
                    : launch(index, Count<1>());
  };
  few ? with_index(std::uint32_t{}) : with_index(std::int64_t{});
}

}  // namespace

void launch_widen_blocks(const void* from, std::int64_t batch, std::int64_t count, float* to, Stream stream,
                         std::int64_t pitch) {
  const Blocks all = blocks_of(batch, count, pitch);
  choose(all, values_at_once(all, to, from), [&](auto index, auto at_once) {
    widen_blocks_kernel<decltype(index), decltype(at_once)::value>
        <<<strided_blocks(kTeam * all.total), kThreads, 0, stream>>>(static_cast<const unsigned char*>(from),
                                                                     to, all);
  });
  check_launch("reading of block16 values");
}
void launch_narrow_blocks(const float* from, std::int64_t batch, std::int64_t count, float factor, void* to,
                          Stream stream, std::int64_t pitch) {
  const Blocks all = blocks_of(batch, count, pitch);
  choose(all, values_at_once(all, from, to), [&](auto index, auto at_once) {
    narrow_blocks_kernel<decltype(index), decltype(at_once)::value>
        <<<strided_blocks(kTeam * all.total), kThreads, 0, stream>>>(from, static_cast<unsigned char*>(to),
                                                                     all, factor);
  });
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
