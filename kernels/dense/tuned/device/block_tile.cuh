// SPDX-License-Identifier: Apache-2.0
// Lines of block-scaled integers (base/storage.hpp): 16 complex values share an exponent, which lies behind
// the integers of the line.
#pragma once

#include "kernels/base/block16.hpp"
#include "kernels/dense/tuned/device/tile.cuh"

namespace sfft::device {

template <class K>
class BlockTile {
  using Value = typename Tile<K>::Value;
  using Line = typename Tile<K>::Line;
  static constexpr int kPoints = K::step.points, kOfBlock = dense::kBlockValues / 2;
  /// Four threads write a block together.
  static constexpr int kTeam = 4, kOwn = kOfBlock / kTeam;
  static constexpr int kTeams = Tile<K>::kBlock / kTeam, kBlocks = (kPoints + kOfBlock - 1) / kOfBlock;

 public:
  /// Writes staged results, each scaled as the step says. All threads of the block call this.
  static __device__ __forceinline__ void write(const Tile<K>& memory, const Value* values) {
    const int id = static_cast<int>(threadIdx.x), team = id / kTeam, own = id % kTeam;
    constexpr int kAll = kBlocks * Line::kTransforms;
#pragma unroll 1
    for (int first = 0; first < kAll; first += kTeams) {
      const int i = first + team, line = i / kBlocks, block = i % kBlocks, j = block * kOfBlock + own * kOwn;
      const bool works = team < kTeams && i < kAll && memory.has(line);
      float parts[2 * kOwn];
#pragma unroll
      for (int k = 0; k < kOwn; ++k) {
        Value z{0, 0};
        if (works && j + k < kPoints) z = memory.scaled(values[line * kPoints + j + k]);
        parts[2 * k] = z.re;
        parts[2 * k + 1] = z.im;
      }
      unsigned most = 0;
#pragma unroll
      for (const float part : parts) most = larger(most, size_of(part));
      const bool ordinary = most < kInfinite;
      if (!ordinary) {
        most = 0;
        for (const float part : parts) most = larger(most, size_of(part) < kInfinite ? size_of(part) : 0);
      }
      most = largest_of_team(most, team < kTeams);
      const int exponent = detail::block16::exponent_of(detail::half::from_bits(most));
      unsigned words[kOwn];
      if (ordinary && exponent > kLeastExponent) {
        // Exact, as the product with a power of two is: the sum rounds once.
        const float power = power_of_block(-exponent);
#pragma unroll
        for (int k = 0; k < kOwn; ++k)
          words[k] = (ordinary_bits(parts[2 * k], power) & 0xffffu) | ordinary_bits(parts[2 * k + 1], power)
                                                                          << 16;
      } else {
        const detail::block16::Powers powers(-exponent);
        for (int k = 0; k < kOwn; ++k)
          words[k] = bits(parts[2 * k], powers) | bits(parts[2 * k + 1], powers) << 16;
      }
      if (!works) continue;
      auto* const to = reinterpret_cast<unsigned*>(memory.output_line(line));
      put(to + j, words, j);
      if (own == 0) reinterpret_cast<signed char*>(to + kPoints)[block] = static_cast<signed char>(exponent);
    }
  }

 private:
  static __device__ __forceinline__ unsigned largest_of_team(unsigned value, bool whole) {
    // Teams at the end of a block may lack threads: each of those is alone.
    const unsigned lane = threadIdx.x % 32, mask = whole ? 0xfu << (lane & ~3u) : 1u << lane;
#pragma unroll
    for (int distance = 1; distance < kTeam; distance *= 2) {
      const unsigned other = __shfl_xor_sync(mask, value, distance);
      if (whole && other > value) value = other;
    }
    return value;
  }

  static constexpr unsigned kInfinite = 0x7f800000;
  static __device__ __forceinline__ unsigned size_of(float value) {
    return detail::half::bits_of(value) & 0x7fffffffu;
  }
  static __device__ __forceinline__ unsigned larger(unsigned a, unsigned b) {
    return a > b ? a : b;
  }

  static constexpr int kLeastExponent = -127;  ///< whose inverse is a float
  /// block16::integer_of() of the scaled value, in the low bits: what they are of its sum with 1.5 · 2^23.
  static __device__ __forceinline__ unsigned ordinary_bits(float value, float power) {
    constexpr float kRounder = 12582912.0f;
    return detail::half::bits_of(value * power + kRounder);
  }
  static __device__ __forceinline__ unsigned bits(float value, const detail::block16::Powers& powers) {
    const float whole = detail::block16::rounded(detail::block16::scaled(value, powers));
    return static_cast<unsigned short>(detail::block16::integer_of(value, whole));
  }

  static __device__ __forceinline__ void put(unsigned* to, const unsigned* words, int j) {
    if (j + kOwn <= kPoints && reinterpret_cast<unsigned long long>(to) % kCopyBytes == 0) {
      store_as<Tile<K>::kWrites>(reinterpret_cast<uint4*>(to), uint4{words[0], words[1], words[2], words[3]});
      return;
    }
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      if (j + k < kPoints) to[k] = words[k];
    }
  }
};

}  // namespace sfft::device
