// SPDX-License-Identifier: Apache-2.0
// Radix selection, one kernel per digit. The host does not choose a digit from the previous pass's histogram;
// every block of the next kernel chooses it redundantly, and no block writes what another one of the same
// launch reads. If few keys agree with the k-th largest in the first two digits, those are listed and every
// block ranks the list. Two more kernels count and take the chosen elements, chunk by chunk, so that they
// come out in ascending order.
#pragma once

#include <cstdint>

#include "kernels/cuda/spectrum/largest.hpp"
#include "kernels/cuda/spectrum/spectrum_power.hpp"

namespace sfft::detail::cuda {

namespace {  // included once

using Bits = unsigned long long;

/// Digits of the 63 bits below the sign, from the top: three of 11 bits, the first of which is the exponent,
/// and three of 10.
constexpr int kPasses = 6;
/// The number of digits after which keys may be listed, and the maximum length of the list.
constexpr int kFewPasses = 2, kListed = 512;
/// Header::chosen if more keys agreed.
constexpr std::int64_t kUnsettled = -1;
constexpr int kBins = 1 << 11;
constexpr int kWarps = kThreads / 32;
constexpr int kBinsPerThread = kBins / kThreads;

/// What is known about the k-th largest key before a pass.
struct Level {
  Bits prefix;        ///< its upper digits, other digits are 0
  std::int64_t rank;  ///< its rank among keys with these digits, from 1
  /// 1: all keys with these digits are chosen, and further digits do not matter. −1: unsettled.
  int resolved;
};

struct Counts {
  std::int64_t above, ties;
};

struct Header {
  double mean_re, mean_im;
  Bits outside;  ///< the largest key that was not chosen
  std::int64_t chosen;
};

struct Memory {
  Bits* bins;  // kPasses × kBins
  unsigned* listed;
  Bits* list;  // kListed
  Header* header;
  double2* values;
  double* sums;
  std::int64_t* indices;
  double* chosen_power;
  Level* levels;  // kPasses + 1
  Counts* counts;
  std::int64_t* first_chunk;
  double* partial;
};

struct Arguments {
  Memory memory;
  double* power;
  const double2* spectrum;
  std::int64_t points, k;
  std::int64_t chunk;  ///< elements per chunk, a multiple of kThreads
  int pass;            ///< kPasses: after the last
  bool few;            ///< whether keys are listed after kFewPasses
};

/// NaN, whatever its sign, has the largest key.
__device__ Bits key_of(double power) {
  return static_cast<Bits>(__double_as_longlong(power)) & 0x7FFFFFFFFFFFFFFFULL;
}

__device__ int digit_bits(int pass) {
  return pass < 3 ? 11 : 10;
}
__device__ int lowest_bit(int pass) {
  return pass < 3 ? 52 - 11 * pass : 20 - 10 * (pass - 3);
}

/// Sums over the threads before this one and over the whole block. A barrier precedes the first write, so
/// that calls may follow each other directly.
struct Scan {
  std::int64_t before, all;
};
__device__ Scan block_scan(std::int64_t mine) {
  __shared__ std::int64_t warps[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  std::int64_t sum = mine;
  for (int step = 1; step < 32; step *= 2) {
    const std::int64_t other = __shfl_up_sync(0xFFFFFFFFU, sum, static_cast<unsigned>(step));
    if (lane >= step) sum += other;
  }
  __syncthreads();
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  Scan scan{sum - mine, 0};
  for (int w = 0; w < kWarps; ++w) {
    if (w < warp) scan.before += warps[w];
    scan.all += warps[w];
  }
  return scan;
}

/// The level before pass `pass`, from the previous level and that pass's histogram. Called by all
/// threads of a block.
__device__ Level level_before(const Arguments& a) {
  if (a.pass == 0) return {0, a.k, 0};
  const Level before = a.memory.levels[a.pass - 1];
  if (before.resolved) return before;
  __shared__ Level next;
  const Bits* bins = a.memory.bins + (a.pass - 1) * kBins;
  std::int64_t counts[kBinsPerThread];
  std::int64_t mine = 0;
  const int top =
      kBins - 1 - static_cast<int>(threadIdx.x) * kBinsPerThread;  // this thread's bins descend from here
#pragma unroll
  for (int j = 0; j < kBinsPerThread; ++j) {
    counts[j] = static_cast<std::int64_t>(bins[top - j]);
    mine += counts[j];
  }
  std::int64_t rank = before.rank - block_scan(mine).before;
  if (rank >= 1 && rank <= mine) {  // exactly one thread finds the digit
#pragma unroll
    for (int j = 0; j < kBinsPerThread; ++j) {
      if (rank >= 1 && rank <= counts[j]) {
        const auto digit = static_cast<Bits>(top - j);
        next = {before.prefix | digit << lowest_bit(a.pass - 1), rank, rank == counts[j]};
      }
      rank -= counts[j];
    }
  }
  __syncthreads();
  return next;
}

__device__ void keep_level(const Arguments& a, const Level& level) {
  if (blockIdx.x == 0 && threadIdx.x == 0) a.memory.levels[a.pass] = level;
}

/// Counts the digits of all keys whose upper digits equal those of the k-th largest.
__global__ void __launch_bounds__(kThreads) count_digits_kernel(const __grid_constant__ Arguments a) {
  const Level level = level_before(a);
  keep_level(a, level);
  if (level.resolved) return;
  __shared__ unsigned local[kBins];
  for (int b = static_cast<int>(threadIdx.x); b < kBins; b += kThreads) local[b] = 0;
  __syncthreads();
  const int low = lowest_bit(a.pass);
  const int high = low + digit_bits(a.pass);
  const Bits digit_mask = (Bits{1} << digit_bits(a.pass)) - 1;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < a.points;
       i += step) {
    const double power = a.power[i];
    const Bits key = key_of(power);
    if (power < 0 || (key ^ level.prefix) >> high != 0) continue;
    atomicAdd(&local[(key >> low) & digit_mask], 1U);
  }
  __syncthreads();
  Bits* bins = a.memory.bins + a.pass * kBins;
  for (int b = static_cast<int>(threadIdx.x); b < kBins; b += kThreads) {
    if (local[b] != 0) atomicAdd(&bins[b], static_cast<Bits>(local[b]));
  }
}

/// Lists the keys that agree with the k-th largest in the digits counted so far.
__global__ void __launch_bounds__(kThreads) list_keys_kernel(const __grid_constant__ Arguments a) {
  const Level level = level_before(a);
  keep_level(a, level);
  if (level.resolved != 0) return;
  const int low = lowest_bit(a.pass - 1);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < a.points;
       i += step) {
    const double power = a.power[i];
    const Bits key = key_of(power);
    if (power < 0 || (key ^ level.prefix) >> low != 0) continue;
    const unsigned slot = atomicAdd(a.memory.listed, 1U);
    if (slot >= kListed) return;  // a count above the limit says that the list is too long
    a.memory.list[slot] = key;
  }
}

/// The level of the k-th largest key, from the list. Called by all threads of a block.
__device__ Level level_from_list(const Arguments& a) {
  const Level before = a.memory.levels[kFewPasses];
  if (before.resolved != 0) return before;
  const unsigned count = *a.memory.listed;
  if (count > kListed) return {0, 0, -1};
  __shared__ Level found;
  for (unsigned i = threadIdx.x; i < count; i += kThreads) {
    const Bits key = a.memory.list[i];
    std::int64_t larger = 0, equal = 0;
    bool first = true;  // among equal keys
    for (unsigned j = 0; j < count; ++j) {
      const Bits other = a.memory.list[j];
      larger += other > key ? 1 : 0;
      equal += other == key ? 1 : 0;
      first = first && !(j < i && other == key);
    }
    const std::int64_t rank = before.rank - larger;
    if (first && rank >= 1 && rank <= equal) found = {key, rank, rank == equal ? 1 : 0};
  }
  __syncthreads();
  return found;
}

enum class Place { outside, tie, above };

/// Position of a power relative to the level; the first `rank` ties are chosen.
__device__ Place place_of(const Level& level, double power) {
  if (power < 0) return Place::outside;
  const Bits key = key_of(power);
  if (key > level.prefix || (level.resolved && key == level.prefix)) return Place::above;
  return key == level.prefix ? Place::tie : Place::outside;
}

__device__ std::int64_t chunk_end(const Arguments& a, std::int64_t begin) {
  return begin + a.chunk < a.points ? begin + a.chunk : a.points;
}

/// Block b counts chunk b.
__global__ void __launch_bounds__(kThreads) count_chosen_kernel(const __grid_constant__ Arguments a) {
  const Level level = a.few ? level_from_list(a) : level_before(a);
  keep_level(a, level);
  if (level.resolved < 0) return;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * a.chunk;
  const std::int64_t end = chunk_end(a, begin);
  Counts mine{0, 0};
  for (std::int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
    const Place place = place_of(level, a.power[i]);
    mine.above += place == Place::above ? 1 : 0;
    mine.ties += place == Place::tie ? 1 : 0;
  }
  const std::int64_t above = block_scan(mine.above).all;
  const std::int64_t ties = block_scan(mine.ties).all;
  if (threadIdx.x == 0) a.memory.counts[blockIdx.x] = {above, ties};
}

/// Block b takes the chosen elements of chunk b.
__global__ void __launch_bounds__(kThreads) take_chosen_kernel(const __grid_constant__ Arguments a) {
  const Level level = a.memory.levels[kPasses];
  if (level.resolved < 0) {
    if (blockIdx.x == 0 && threadIdx.x == 0) a.memory.header->chosen = kUnsettled;
    return;
  }
  Counts before{0, 0};
  for (std::int64_t c = threadIdx.x; c < blockIdx.x; c += kThreads) {
    before.above += a.memory.counts[c].above;
    before.ties += a.memory.counts[c].ties;
  }
  before.above = block_scan(before.above).all;
  before.ties = block_scan(before.ties).all;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    a.memory.header->mean_re = a.spectrum[0].x;
    a.memory.header->mean_im = a.spectrum[0].y;
  }
  Bits outside = 0;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * a.chunk;
  const std::int64_t end = chunk_end(a, begin);
  for (std::int64_t tile = begin; tile < end; tile += kThreads) {
    const std::int64_t i = tile + threadIdx.x;
    const double power = i < end ? a.power[i] : kExcluded;
    const Place place = place_of(level, power);
    // There are at most kThreads elements of each kind, so one scan counts both.
    const Scan scan = block_scan(place == Place::above ? 1 : place == Place::tie ? std::int64_t{1} << 32 : 0);
    const std::int64_t above = before.above + (scan.before & 0xFFFFFFFF);
    const std::int64_t ties = before.ties + (scan.before >> 32);
    if (place == Place::above || (place == Place::tie && ties < level.rank)) {
      const std::int64_t slot = above + (ties < level.rank ? ties : level.rank);
      a.memory.indices[slot] = i;
      a.memory.chosen_power[slot] = power;
      a.memory.values[slot] = a.spectrum[i];
      a.power[i] = kExcluded;
    } else if (power >= 0) {
      const Bits key = key_of(power);
      outside = key > outside ? key : outside;
    }
    before.above += scan.all & 0xFFFFFFFF;
    before.ties += scan.all >> 32;
  }
  if (blockIdx.x + 1 == gridDim.x && threadIdx.x == 0)
    a.memory.header->chosen = before.above + (before.ties < level.rank ? before.ties : level.rank);
  for (int step = 16; step > 0; step /= 2) {
    const Bits other = __shfl_xor_sync(0xFFFFFFFFU, outside, step);
    outside = other > outside ? other : outside;
  }
  if (threadIdx.x % 32 == 0 && outside != 0) atomicMax(&a.memory.header->outside, outside);
}

}  // namespace

}  // namespace sfft::detail::cuda
