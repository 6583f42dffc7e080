// SPDX-License-Identifier: Apache-2.0
// Stores results as block-scaled integers (sfft/storage.hpp). A block is 16 complex values that share an
// exponent: neighbours in a line, or the same element of 16 neighbouring lines. The exponents follow the
// integers of their transform.
#pragma once

#include "kernels/base/storage/block16.hpp"
#include "kernels/dense/tuned/device/tile.cuh"

namespace sfft::device {

template <class K>
class BlockTile {
  using Value = typename Tile<K>::Value;
  using Line = typename Tile<K>::Line;
  static constexpr int kPoints = K::step.points, kOfBlock = dense::kBlockValues / 2;
  /// Four threads write a block together. Each writes two pairs of neighbours, half a block apart.
  static constexpr int kTeam = 4, kOwn = kOfBlock / kTeam, kHalf = kOfBlock / 2;
  static constexpr bool kAcross = K::step.blocks_across();
  static constexpr int kTeams = Tile<K>::kBlock / kTeam;
  /// kBlocks counts the blocks of one element of all lines, or of one line. kAll counts the blocks of the
  /// tile.
  static constexpr int kBlocks = kAcross ? Line::kTransforms / kOfBlock : (kPoints + kOfBlock - 1) / kOfBlock;
  static constexpr int kAll = kBlocks * (kAcross ? kPoints : Line::kTransforms);
  static constexpr int kRounds = (kAll + kTeams - 1) / kTeams;
  /// False if a line may end within a block.
  static constexpr bool kWhole = kAcross || kPoints % kOfBlock == 0;
  static constexpr bool kEven = kWhole || kPoints % 2 == 0;
  /// The loop is unrolled if rounds begin at constant distances.
  static constexpr int kUnrolled =
      (kTeams % kBlocks == 0 || kBlocks % kTeams == 0) && kRounds <= 16 ? kRounds : 1;

 public:
  /// Writes staged results, scaled by the step's factor. All threads of the block must call this.
  static __device__ __forceinline__ void write(const Tile<K>& memory, const Value* values) {
    const bool all = is_aligned(memory.block_words(0, 0)) ? write_ordinary<true>(memory, values)
                                                          : write_ordinary<false>(memory, values);
    if (!all) write_with_care(memory, values);
  }

 private:
  /// Where and what a thread writes in a round.
  struct Place {
    __device__ __forceinline__ Place(const Tile<K>& memory, int team, int own, int round) {
      const int i = team + round * kTeams;
      // If rounds are whole lines, or lines are whole rounds, each round adds a constant.
      int major = i / kBlocks, minor = i % kBlocks * kOfBlock;
      if constexpr (kTeams % kBlocks == 0) {
        major = team / kBlocks + round * (kTeams / kBlocks);
        minor = team % kBlocks * kOfBlock;
      } else if constexpr (kBlocks % kTeams == 0) {
        major = round / (kBlocks / kTeams);
        minor = (team + round % (kBlocks / kTeams) * kTeams) * kOfBlock;
      }
      line = kAcross ? minor : major;
      j = kAcross ? major : minor;
      from = kAcross || kWhole ? i * kOfBlock : line * kPoints + j;
      works = (Tile<K>::kBlock % kTeam == 0 || team < kTeams) && (kAll % kTeams == 0 || i < kAll) &&
              memory.has(line);
      left = !works ? 0 : kWhole ? kOfBlock : kPoints - j - 2 * own;
    }
    bool works;         ///< whether there is such a block
    int line, j, from;  ///< first value of the block, and the index where it is staged
    int left;           ///< values that exist from the thread's first one on; 0 or less: none
  };

  /// Writes as if all blocks were ordinary: sizes and factors are normal floats and nothing is infinite.
  /// Returns whether the blocks of this thread were.
  template <bool kPairs>
  static __device__ __forceinline__ bool write_ordinary(const Tile<K>& memory, const Value* values) {
    const int id = static_cast<int>(threadIdx.x), team = id / kTeam, own = id % kTeam;
    const float unit = memory.scaled_part(1.0f);
    bool all = true;
#pragma unroll(kUnrolled)
    for (int round = 0; round < kRounds; ++round) {
      const Place at(memory, team, own, round);
      float parts[2 * kOwn];
      load(values + at.from + 2 * own, at.left, parts);
      float max = size_of(parts[0]);
#pragma unroll
      for (int k = 1; k < 2 * kOwn; ++k) max = larger(max, size_of(parts[k]));
      const Scaled scaled(memory.scaled_part(largest_of_team(max, mask_of_warp())), unit);
      all = all && (scaled.ordinary || !at.works);  // the same for all threads of a team
      unsigned words[kOwn];
#pragma unroll
      for (int k = 0; k < kOwn; ++k)
        words[k] = low_halves(rounded(parts[2 * k], scaled.factor), rounded(parts[2 * k + 1], scaled.factor));
      unsigned* const to = memory.block_words(at.line, at.j) + 2 * own;
      put<kPairs>(to, words, at.left);
      put<kPairs>(to + kHalf, words + 2, at.left - kHalf);
      if (own == 0 && at.left > 0)
        *memory.block_exponent(at.line, at.j) = static_cast<signed char>(scaled.exponent);
    }
    return all;
  }

  /// Writes the scaled results by the exact rules of block16.hpp.
  static __device__ __forceinline__ void write_with_care(const Tile<K>& memory, const Value* values) {
    const int id = static_cast<int>(threadIdx.x), team = id / kTeam, own = id % kTeam;
#pragma unroll 1
    for (int round = 0; round < kRounds; ++round) {
      const Place at(memory, team, own, round);
      float parts[2 * kOwn], max = 0;
      load(values + at.from + 2 * own, at.left, parts);
#pragma unroll
      for (float& part : parts) {
        part = memory.scaled_part(part);
        if (detail::block16::is_ordinary(part)) max = larger(max, size_of(part));
      }
      const int exponent =
          detail::block16::exponent_of(largest_of_team(max, 0xfu << threadIdx.x % 32 / kTeam * kTeam));
      const detail::block16::Powers powers(-exponent);
      unsigned words[kOwn];
#pragma unroll
      for (int k = 0; k < kOwn; ++k)
        words[k] = low_halves(bits(parts[2 * k], powers), bits(parts[2 * k + 1], powers));
      unsigned* const to = memory.block_words(at.line, at.j) + 2 * own;
      put<false>(to, words, at.left);
      put<false>(to + kHalf, words + 2, at.left - kHalf);
      if (own == 0 && at.left > 0) *memory.block_exponent(at.line, at.j) = static_cast<signed char>(exponent);
    }
  }

  /// The exponent of a block for the size of its largest part, and the factor that converts results to
  /// integers. The factor includes the scaling by `unit`.
  struct Scaled {
    __device__ __forceinline__ Scaled(float max, float unit) {
      constexpr int kMin = 14, kInfinite = 255, kTop = 127 + detail::block16::kTopBit;
      constexpr float kRoom = static_cast<float>(detail::block16::kMaxInteger) + 0.25f;
      const float size = size_of(max);
      const int top = static_cast<int>(detail::half::bits_of(size) >> 23);
      float power = detail::half::from_bits(static_cast<unsigned>(127 + kTop - top) << 23);
      exponent = top - kTop;
      if (size * power >= kRoom) {
        power *= 0.5f;
        ++exponent;
      }
      factor = unit * power;
      ordinary =
          top >= kMin && top < kInfinite && size_of(factor) >= 0x1p-126f && size_of(factor) <= 0x1p126f;
    }
    float factor;
    int exponent;
    bool ordinary;
  };

  static __device__ __forceinline__ void load(const Value* from, int left, float* parts) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float* const to = parts + half * kOwn;
      if constexpr (kEven) {
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

  static __device__ __forceinline__ float size_of(float value) {
#ifdef __CUDA_ARCH__
    return fabsf(value);
#else
    return value < 0 ? -value : value;
#endif
  }
  /// Returns NaN if either argument is NaN.
  static __device__ __forceinline__ float larger(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float max;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(max) : "f"(a), "f"(b));
    return max;
#else
    return a > b || a != a ? a : b;
#endif
  }
  /// The active lanes of the calling thread's warp. The last warp of a block may lack some lanes.
  static __device__ __forceinline__ unsigned mask_of_warp() {
    constexpr unsigned kLast = Tile<K>::kBlock / 32;
    constexpr int kLanes = Tile<K>::kBlock % 32;
    return kLanes > 0 && threadIdx.x / 32 == kLast ? ~0u >> (32 - kLanes) % 32 : ~0u;
  }
  /// The last team of a block may lack threads. Such a team writes nothing.
  static __device__ __forceinline__ float largest_of_team(float value, unsigned mask) {
#pragma unroll
    for (int distance = 1; distance < kTeam; distance *= 2)
      value = larger(value,
                     detail::half::from_bits(__shfl_xor_sync(mask, detail::half::bits_of(value), distance)));
    return value;
  }

  /// The integer of a result, in the low bits: adding 1.5 · 2^23 rounds it there.
  static __device__ __forceinline__ unsigned rounded(float value, float factor) {
    constexpr float kRounder = 12582912.0f;
    return detail::half::bits_of(value * factor + kRounder);
  }
  static __device__ __forceinline__ unsigned bits(float value, const detail::block16::Powers& powers) {
    const float whole = detail::block16::rounded(detail::block16::scaled(value, powers));
    return static_cast<unsigned short>(detail::block16::integer_of(value, whole));
  }

  /// Whether all blocks begin at multiples of two words. Their distances decide it.
  static __device__ __forceinline__ bool is_aligned(const void* words) {
    return (K::step.out.transforms != Transforms::lines || K::step.out.inner.stride % 2 == 0) &&
           reinterpret_cast<unsigned long long>(words) % sizeof(uint2) == 0;
  }
  /// Stores two words, of which `left` are within the line.
  template <bool kPairs>
  static __device__ __forceinline__ void put(unsigned* to, const unsigned* words, int left) {
    if (kPairs && kEven) {
      if (left > 0) store_as<Tile<K>::kWrites>(reinterpret_cast<uint2*>(to), uint2{words[0], words[1]});
      return;
    }
    if (left > 0) to[0] = words[0];
    if (left > 1) to[1] = words[1];
  }
};

}  // namespace sfft::device
