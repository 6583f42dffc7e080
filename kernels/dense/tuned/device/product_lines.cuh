// SPDX-License-Identifier: Apache-2.0
// Transforms short lines of f16 values as products on tensor cores, with f16 factors and f32 sums. Inputs are
// used as they lie in memory. Warps are persistent: each copies its next lines to its part of shared memory
// while it works on the current ones (plan/product_layout.hpp).
#pragma once

#include "kernels/dense/tuned/device/arguments.cuh"
#include "kernels/dense/tuned/device/memory.cuh"
#include "kernels/dense/tuned/plan/product_layout.hpp"

namespace sfft::device {

/// Computes sum = a · b, or sum + a · b, where a is 16×16 and b is 16×8.
template <bool kAdd>
__device__ __forceinline__ void multiply(float (&sum)[4], const uint4& a, unsigned b0, unsigned b1) {
#ifndef __CUDA_ARCH__
  if (!kAdd) sum[0] = sum[1] = sum[2] = sum[3] = 0;
  emulated::multiply_add(sum, a, b0, b1);
#else
  constexpr float kZero = 0;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "f"(kAdd ? sum[0] : kZero),
        "f"(kAdd ? sum[1] : kZero), "f"(kAdd ? sum[2] : kZero), "f"(kAdd ? sum[3] : kZero));
#endif
}

__device__ __forceinline__ unsigned to_halves(float low, float high) {
#ifdef __CUDA_ARCH__
  unsigned halves;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(high), "f"(low));
  return halves;
#else
  return detail::to_f16(low).bits | static_cast<unsigned>(detail::to_f16(high).bits) << 16;
#endif
}
template <class K>
class ProductLines {
  static constexpr ProductLayout kAt{K::step.policy};
  static constexpr int kPoints = kAt.points, kOutTiles = kAt.out_tiles, kInTiles = kAt.in_tiles,
                       kLines = kAt.lines, kWarps = kAt.warps, kPitch = kAt.pitch, kRowStep = kAt.row_step,
                       kMatrices = kAt.matrices(), kBuffer = kAt.buffer_words(),
                       kColumns = ProductLayout::kColumns;
  static constexpr int kUnits = kLines / kColumns;
  static constexpr int kWord = kCopyBytes / 4;  ///< values that move at once

 public:
  static __device__ __forceinline__ void run(const Arguments& a, void* shared) {
    const auto* const from = static_cast<const uint4*>(a.tables.matrices);
    auto* const matrices = static_cast<uint4*>(shared);
    for (int i = static_cast<int>(threadIdx.x); i < 32 * kMatrices; i += 32 * kWarps) matrices[i] = from[i];
    __syncthreads();
    const float back = *reinterpret_cast<const float*>(from + 32 * kMatrices),
                scale = K::step.scale ? static_cast<float>(a.scale) * back : back;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    unsigned* buffer =
        reinterpret_cast<unsigned*>(matrices + 32 * kMatrices) + warp * ProductLayout::kBuffers * kBuffer;
    const auto tiles = static_cast<unsigned>((a.lines + kLines - 1) / kLines),
               step = gridDim.x * static_cast<unsigned>(kWarps);
    unsigned tile = blockIdx.x * static_cast<unsigned>(kWarps) + static_cast<unsigned>(warp);
    if (tile < tiles) fetch(Lines(a, tile), buffer);
    int other = kBuffer;
#pragma unroll 1
    for (; tile < tiles; tile += step) {
      if (tile + step < tiles) {
        fetch(Lines(a, tile + step), buffer + other);
        await_copies_but<1>();
      } else {
        await_copies_but<0>();
      }
      __syncwarp();
      transform(matrices + lane(), scale, buffer);
      __syncwarp();
      store(Lines(a, tile), buffer);
      __syncwarp();
      buffer += other;
      other = -other;
    }
  }

 private:
  static __device__ __forceinline__ int lane() {
    return static_cast<int>(threadIdx.x) % 32;
  }

  /// The lines of a tile in global memory, and the number of values.
  struct Lines {
    const unsigned* from;
    unsigned* to;
    int values;
    __device__ __forceinline__ Lines(const Arguments& a, unsigned tile) {
      const long long line = static_cast<long long>(tile) * kLines, left = a.lines - line;
      from = static_cast<const unsigned*>(a.input) + line * kPoints;
      to = static_cast<unsigned*>(a.output) + line * kPoints;
      values = (left < kLines ? static_cast<int>(left) : kLines) * kPoints;
    }
    __device__ __forceinline__ bool whole() const { return values == kLines * kPoints; }
  };
  /// The slot of value i of a tile.
  static __device__ __forceinline__ int slot(int i) {
    return kPitch == kPoints ? i : i / kPoints * kPitch + i % kPoints;
  }
  /// Calls action(i, slot) for every word of a tile. Neighbouring lanes take neighbouring words.
  template <class Action>
  static __device__ __forceinline__ void each_word(const Lines& lines, const Action& action) {
    constexpr int kCount = kLines * kPoints / kWord, kRound = 32 * kWord;
    if (lines.whole()) {
#pragma unroll
      for (int r = 0; r < (kCount + 31) / 32; ++r) {
        const int i = kWord * lane() + r * kRound;
        if (32 * (r + 1) <= kCount || i < kWord * kCount) action(i, slot(i));
      }
    } else {
      for (int i = kWord * lane(); i < lines.values; i += kRound) action(i, slot(i));
    }
  }
  /// Whether a tile begins at a word boundary and consists of whole words.
  static __device__ __forceinline__ bool has_words(const void* address, int values) {
    return (kPitch == kPoints || kPoints % kWord == 0) && kLines * kPoints % kWord == 0 &&
           values % kWord == 0 && reinterpret_cast<unsigned long long>(address) % kCopyBytes == 0;
  }
  static __device__ __forceinline__ void fetch(const Lines& lines, unsigned* buffer) {
    if (has_words(lines.from, lines.values)) {
      each_word(lines, [&](int i, int slot) {
        copy_async<false>(reinterpret_cast<uint4*>(buffer + slot),
                          reinterpret_cast<const uint4*>(lines.from + i));
      });
    } else {
#pragma unroll 1
      for (int i = lane(); i < lines.values; i += 32) copy_async(buffer + slot(i), lines.from + i);
    }
    commit_copies();
  }
  static __device__ __forceinline__ void store(const Lines& lines, const unsigned* buffer) {
    if (has_words(lines.to, lines.values)) {
      each_word(lines, [&](int i, int slot) {
        *reinterpret_cast<uint4*>(lines.to + i) = *reinterpret_cast<const uint4*>(buffer + slot);
      });
    } else {
#pragma unroll 1
      for (int i = lane(); i < lines.values; i += 32) lines.to[i] = buffer[slot(i)];
    }
  }

  /// The points of a unit of columns: real and imaginary parts, packed two to a word.
  struct Points {
    unsigned re[2 * kInTiles], im[2 * kInTiles];
    __device__ __forceinline__ void read(const unsigned* line, int own) {
#pragma unroll
      for (int i = 0; i < 2 * kInTiles; ++i) {
        const unsigned first = line[point(own, 2 * i)], second = line[point(own, 2 * i + 1)];
        re[i] = low_halves(first, second);
        im[i] = high_half(first, second);
      }
    }
    static __device__ __forceinline__ int point(int own, int i) {
      const int point = ProductLayout::point(kRowStep, own, i);
      const bool may_exceed = ProductLayout::point(kRowStep, 3, i) >= kPoints;
      return may_exceed && point >= kPoints ? kPoints - 1 : point;  // any valid point: its coefficient is 0
    }
  };

  static __device__ __forceinline__ void transform(const uint4* matrices, float scale, unsigned* buffer) {
    const int group = lane() / 4, own = lane() % 4;
    Points in[kUnits];
#pragma unroll
    for (int u = 0; u < kUnits; ++u) in[u].read(buffer + (kColumns * u + group) * kPitch, own);
    __syncwarp();
#pragma unroll
    for (int m = 0; m < kOutTiles; ++m) {
      // The cosines and the sines, each times the real and the imaginary parts.
      float cos_re[kUnits][4], cos_im[kUnits][4], sin_re[kUnits][4], sin_im[kUnits][4];
#pragma unroll
      for (int k = 0; k < kInTiles; ++k) {
        const uint4 cosines = matrices[64 * (m * kInTiles + k)],
                    sines = matrices[64 * (m * kInTiles + k) + 32];
#pragma unroll
        for (int u = 0; u < kUnits; ++u) {
          const unsigned *const re = in[u].re + 2 * k, *const im = in[u].im + 2 * k;
          add_product(k, cos_re[u], cosines, re);
          add_product(k, cos_im[u], cosines, im);
          add_product(k, sin_re[u], sines, re);
          add_product(k, sin_im[u], sines, im);
        }
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int k = ProductLayout::output(kPoints, kOutTiles, m, group + 8 * half);
        const bool has = k <= kPoints / 2, mirrored = k > 0 && 2 * k < kPoints;
#pragma unroll
        for (int u = 0; u < kUnits; ++u) {
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            unsigned* const line = buffer + (kColumns * u + 2 * own + i) * kPitch;
            const int j = 2 * half + i;
            const float re = cos_re[u][j] * scale, im = cos_im[u][j] * scale, of_re = sin_im[u][j] * scale,
                        of_im = sin_re[u][j] * scale;
            if (has) line[k] = to_halves(re + of_re, im - of_im);
            if (mirrored) line[kPoints - k] = to_halves(re - of_re, im + of_im);
          }
        }
      }
    }
  }

  static __device__ __forceinline__ void add_product(int k, float (&sum)[4], const uint4& matrix,
                                                     const unsigned* points) {
    k == 0 ? multiply<false>(sum, matrix, points[0], points[1])
           : multiply<true>(sum, matrix, points[0], points[1]);
  }
};

}  // namespace sfft::device
