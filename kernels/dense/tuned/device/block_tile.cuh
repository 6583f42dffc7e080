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
  /// Four threads write a block together, two pairs of neighbours each, half a block apart.
  static constexpr int kTeam = 4, kOwn = kOfBlock / kTeam, kHalf = kOfBlock / 2;
  static constexpr int kTeams = Tile<K>::kBlock / kTeam, kBlocks = (kPoints + kOfBlock - 1) / kOfBlock;
  static constexpr int kAll = kBlocks * Line::kTransforms;

 public:
  /// Writes staged results, each scaled as the step says. All threads of the block call this.
  static __device__ __forceinline__ void write(const Tile<K>& memory, const Value* values) {
    const int id = static_cast<int>(threadIdx.x), team = id / kTeam, own = id % kTeam;
#pragma unroll 1
    for (int first = 0; first < kAll; first += kTeams) {
      const int i = first + team, line = i / kBlocks, block = i % kBlocks, j = block * kOfBlock + 2 * own;
      const bool works = (Tile<K>::kBlock % kTeam == 0 || team < kTeams) &&
                         (kAll % kTeams == 0 || i < kAll) && memory.has(line);
      float parts[2 * kOwn];
      load(values + line * kPoints + j, works ? kPoints - j : 0, parts);
      float most = 0;
#pragma unroll
      for (const float part : parts) most = larger(most, part < 0 ? -part : part);
      most = largest_of_team(most, team < kTeams);
      const Scaled block_of{memory, most};
      unsigned words[kOwn];
      int exponent = block_of.exponent;
      if (block_of.ordinary) {
#pragma unroll
        for (int k = 0; k < kOwn; ++k)
          words[k] = joined(rounded(parts[2 * k], block_of.factor), rounded(parts[2 * k + 1], block_of.factor));
      } else {
        exponent = write_with_care(memory, parts, team < kTeams, words);
      }
      if (!works) continue;
      auto* const to = reinterpret_cast<unsigned*>(memory.output_line(line));
      put(to + j, words, kPoints - j);
      put(to + j + kHalf, words + 2, kPoints - j - kHalf);
      if (own == 0) reinterpret_cast<signed char*>(to + kPoints)[block] = static_cast<signed char>(exponent);
    }
  }

 private:
  /// A block whose largest result is `most` before it is scaled: its exponent, and the factor that makes
  /// integers of results. Not ordinary: infinities, numbers that are none, and factors beyond normal floats.
  struct Scaled {
    __device__ __forceinline__ Scaled(const Tile<K>& memory, float most) {
      constexpr int kLeast = 14, kInfinite = 255, kTop = 127 + detail::block16::kTopBit;
      constexpr float kRoom = static_cast<float>(detail::block16::kMostInteger) + 0.25f;
      const float scaled = memory.scaled_part(most), size = scaled < 0 ? -scaled : scaled;
      const int top = static_cast<int>(detail::half::bits_of(size) >> 23);
      float power = detail::half::from_bits(static_cast<unsigned>(127 + kTop - top) << 23);
      exponent = top - kTop;
      if (size * power >= kRoom) {
        power *= 0.5f;
        ++exponent;
      }
      factor = memory.scaled_part(1.0f) * power;
      const float of_factor = factor < 0 ? -factor : factor;
      ordinary = top >= kLeast && top < kInfinite && of_factor >= 0x1p-126f && of_factor <= 0x1p126f;
    }
    float factor;
    int exponent;
    bool ordinary;
  };

  static __device__ __forceinline__ void load(const Value* from, int left, float* parts) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float* const to = parts + half * kOwn;
      if constexpr (kPoints % 2 == 0) {
        const float4 two = left > half * kHalf ? reinterpret_cast<const float4*>(from)[half * kHalf / 2]
                                               : float4{0, 0, 0, 0};
        to[0] = K::step.swap_out ? two.y : two.x;
        to[1] = K::step.swap_out ? two.x : two.y;
        to[2] = K::step.swap_out ? two.w : two.z;
        to[3] = K::step.swap_out ? two.z : two.w;
      } else {
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          const Value z = left > half * kHalf + k ? from[half * kHalf + k] : Value{0, 0};
          to[2 * k] = K::step.swap_out ? z.im : z.re;
          to[2 * k + 1] = K::step.swap_out ? z.re : z.im;
        }
      }
    }
  }

  /// A NaN if either is one.
  static __device__ __forceinline__ float larger(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float most;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
    return most;
#else
    return a > b || a != a ? a : b;
#endif
  }
  static __device__ __forceinline__ float largest_of_team(float value, bool whole) {
    // Teams at the end of a block may lack threads: each of those is alone.
    const unsigned lane = threadIdx.x % 32, mask = whole ? 0xfu << (lane & ~3u) : 1u << lane;
#pragma unroll
    for (int distance = 1; distance < kTeam; distance *= 2) {
      const unsigned other = __shfl_xor_sync(mask, detail::half::bits_of(value), distance);
      if (whole) value = larger(value, detail::half::from_bits(other));
    }
    return value;
  }

  /// The integer of a result in the low bits: what they are of its sum with 1.5 · 2^23.
  static __device__ __forceinline__ unsigned rounded(float value, float factor) {
    constexpr float kRounder = 12582912.0f;
    return detail::half::bits_of(value * factor + kRounder);
  }
  static __device__ __forceinline__ unsigned joined(unsigned low, unsigned high) {
    return (low & 0xffffu) | high << 16;
  }

  /// What block16.hpp makes of the scaled results. Returns the exponent.
  static __device__ __forceinline__ int write_with_care(const Tile<K>& memory, const float* parts, bool whole,
                                                        unsigned* words) {
    float scaled[2 * kOwn], most = 0;
    for (int i = 0; i < 2 * kOwn; ++i) {
      scaled[i] = memory.scaled_part(parts[i]);
      const float size = scaled[i] < 0 ? -scaled[i] : scaled[i];
      if (detail::block16::is_ordinary(scaled[i]) && size > most) most = size;
    }
    most = largest_of_team(most, whole);
    const int exponent = detail::block16::exponent_of(most);
    const detail::block16::Powers powers(-exponent);
    for (int k = 0; k < kOwn; ++k)
      words[k] = joined(bits(scaled[2 * k], powers), bits(scaled[2 * k + 1], powers));
    return exponent;
  }
  static __device__ __forceinline__ unsigned bits(float value, const detail::block16::Powers& powers) {
    const float whole = detail::block16::rounded(detail::block16::scaled(value, powers));
    return static_cast<unsigned short>(detail::block16::integer_of(value, whole));
  }

  /// Two words, of which `left` are within the line.
  static __device__ __forceinline__ void put(unsigned* to, const unsigned* words, int left) {
    if (left >= 2 && reinterpret_cast<unsigned long long>(to) % sizeof(uint2) == 0) {
      store_as<Tile<K>::kWrites>(reinterpret_cast<uint2*>(to), uint2{words[0], words[1]});
      return;
    }
    if (left > 0) to[0] = words[0];
    if (left > 1) to[1] = words[1];
  }
};

}  // namespace sfft::device
