// SPDX-License-Identifier: Apache-2.0
// Lines of f16 values as two products on tensor cores, with factors of f16 and sums of f32. A warp transforms
// some lines at once: it copies them to its own part of shared memory while it works on those before, and
// what lies between the products stays in its registers (plan/matrix_layout.hpp).
#pragma once

#include "kernels/dense/tuned/device/arguments.cuh"
#include "kernels/dense/tuned/device/memory.cuh"
#include "kernels/dense/tuned/plan/matrix_layout.hpp"

namespace sfft::device {

/// sum = a · b, or sum + a · b, with a of 16×16 and b of 16×8 numbers.
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
__device__ __forceinline__ float low_of(unsigned halves) {
  return to_float(detail::F16{static_cast<unsigned short>(halves)});
}
__device__ __forceinline__ float high_of(unsigned halves) {
  return to_float(detail::F16{static_cast<unsigned short>(halves >> 16)});
}

template <class K>
class MatrixLines {
  static constexpr MatrixLayout kAt{K::step.policy};
  static constexpr int kFirst = kAt.first, kSecond = kAt.second, kLines = kAt.lines,
                       kFirstTiles = kAt.first_tiles, kSecondTiles = kAt.second_tiles,
                       kColumns = kLines * kSecondTiles,  ///< tiles of columns of the first product
      kPoints = kFirst * kSecond, kEdge = MatrixLayout::kEdge;
  static constexpr bool kSplit = K::step.policy.tensor_cores == TensorCores::split;
  static constexpr int kThreads = 32 * kAt.warps;
  /// Tiles of columns that share a matrix which a lane has read: as many as registers hold beside what lies
  /// between the products.
  static constexpr int kMostAtOnce = kFirstTiles <= 4 ? 5 : 3,
                       kRounds = (kColumns + kMostAtOnce - 1) / kMostAtOnce,
                       kAtOnce = (kColumns + kRounds - 1) / kRounds;
  static constexpr int kPitchIn = kAt.in_pitch, kPitchOut = kAt.out_pitch, kRowStep = kAt.row_step,
                       kWarps = kAt.warps, kFragments = kAt.fragments(), kBuffer = kAt.buffer_words();
  static constexpr int kLineIn = kPitchIn == kSecond ? kPoints : kFirst * kPitchIn,
                       kLineOut = kPitchOut == kFirst ? kPoints : kSecond * kPitchOut;

 public:
  static __device__ __forceinline__ void run(const Arguments& a, void* shared) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const MatrixLines own(static_cast<uint4*>(shared), lane);
    own.fill(a);
    __syncthreads();
    auto* buffer = static_cast<unsigned*>(shared) + kFragments * (MatrixLayout::kFragmentBytes / 4) +
                   warp * MatrixLayout::kBuffers * kBuffer;
    const auto tiles = static_cast<unsigned>((a.lines + kLines - 1) / kLines),
               step = gridDim.x * static_cast<unsigned>(kWarps);
    unsigned tile = blockIdx.x * static_cast<unsigned>(kWarps) + static_cast<unsigned>(warp);
    if (tile < tiles) own.fetch(Lines(a, tile), buffer);
    int other = kBuffer;
#pragma unroll 1
    for (; tile < tiles; tile += step) {
      if (tile + step < tiles) {
        own.fetch(Lines(a, tile + step), buffer + other);
        await_copies_but<1>();
      } else {
        await_copies_but<0>();
      }
      __syncwarp();
      own.transform(buffer);
      __syncwarp();
      own.store(Lines(a, tile), buffer);
      __syncwarp();
      buffer += other;
      other = -other;
    }
  }

 private:
  /// Lines of a tile in global memory, and their number of values.
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

  __device__ __forceinline__ MatrixLines(uint4* matrices, int lane)
      : first_(matrices + lane),
        second_(first_ + 32 * kFirstTiles * kFirstTiles),
        twiddles_(reinterpret_cast<float4*>(second_ + 32 * kSecondTiles * kSecondTiles)),
        lane_(lane),
        group_(lane / 4),
        own_(lane % 4) {}

  /// Copies the matrices and the twiddle factors, these times the scale of the results.
  __device__ __forceinline__ void fill(const Arguments& a) const {
    constexpr int kMatrices = 32 * (kFirstTiles * kFirstTiles + kSecondTiles * kSecondTiles),
                  kAll = 32 * kFragments;
    const auto* const from = static_cast<const uint4*>(a.tables.matrices);
    uint4* const to = first_ - lane_;
    const auto scale = K::step.scale ? static_cast<float>(a.scale) : 1.0f;
    for (int i = static_cast<int>(threadIdx.x); i < kMatrices; i += kThreads) to[i] = from[i];
    for (int i = kMatrices + static_cast<int>(threadIdx.x); i < kAll; i += kThreads) {
      const float4 w = reinterpret_cast<const float4*>(from)[i];
      reinterpret_cast<float4*>(to)[i] = {w.x * scale, w.y * scale, w.z * scale, w.w * scale};
    }
  }

  /// Where value i of a tile lies, of rows of kRow values.
  template <int kRow, int kPitch>
  static __device__ __forceinline__ int slot(int i) {
    return kPitch == kRow ? i : i / kRow * kPitch + i % kRow;
  }
  /// Calls action(i, slot) for every kValues-th value of a tile, with neighbours in neighbouring lanes.
  template <int kRow, int kPitch, int kValues, class Action>
  __device__ __forceinline__ void each(const Lines& lines, const Action& action) const {
    constexpr int kCount = kLines * kPoints / kValues;
    if (lines.whole()) {
#pragma unroll
      for (int r = 0; r < (kCount + 31) / 32; ++r) {
        constexpr int kRound = 32 * kValues;
        const int i = kValues * lane_ + r * kRound;
        // A constant away from the lane's first one if rounds are whole rows.
        const int to = kRound % kRow == 0 ? slot<kRow, kPitch>(kValues * lane_) + r * (kRound / kRow * kPitch)
                                          : slot<kRow, kPitch>(i);
        if (32 * (r + 1) <= kCount || i < kValues * kCount) action(i, to);
      }
    } else {
      for (int i = kValues * lane_; i < lines.values; i += kValues * 32) action(i, slot<kRow, kPitch>(i));
    }
  }
  /// Whether 16 bytes are moved at once: neighbours in memory are neighbours in shared memory, in whole
  /// words.
  template <int kRow, int kPitch>
  static __device__ __forceinline__ bool words(const void* address) {
    constexpr int kValues = kCopyBytes / 4;
    return (kPitch == kRow || kRow % kValues == 0) && kPoints % kValues == 0 &&
           reinterpret_cast<unsigned long long>(address) % kCopyBytes == 0;
  }

  __device__ __forceinline__ void fetch(const Lines& lines, unsigned* buffer) const {
    if (words<kSecond, kPitchIn>(lines.from)) {
      each<kSecond, kPitchIn, 4>(lines, [&](int i, int slot) {
        copy_async<false>(reinterpret_cast<uint4*>(buffer + slot),
                          reinterpret_cast<const uint4*>(lines.from + i));
      });
    } else {
#pragma unroll 1
      for (int i = lane_; i < lines.values; i += 32)
        copy_async(buffer + slot<kSecond, kPitchIn>(i), lines.from + i);
    }
    commit_copies();
  }
  __device__ __forceinline__ void store(const Lines& lines, const unsigned* buffer) const {
    if (words<kFirst, kPitchOut>(lines.to)) {
      each<kFirst, kPitchOut, 4>(lines, [&](int i, int slot) {
        *reinterpret_cast<uint4*>(lines.to + i) = *reinterpret_cast<const uint4*>(buffer + slot);
      });
    } else {
#pragma unroll 1
      for (int i = lane_; i < lines.values; i += 32) lines.to[i] = buffer[slot<kFirst, kPitchOut>(i)];
    }
  }

  /// What lies between the products, as factors of the second one: values, and what these lack.
  struct Between {
    unsigned high[kColumns][kFirstTiles][2], low[kSplit ? kColumns : 1][kFirstTiles][2];
    __device__ __forceinline__ void set(int column, int tile, int i, float re, float im) {
      const unsigned halves = to_halves(re, im);
      high[column][tile][i] = halves;
      if constexpr (kSplit) low[column][tile][i] = to_halves(re - low_of(halves), im - high_of(halves));
    }
  };

  __device__ __forceinline__ void transform(unsigned* buffer) const {
    Between between;
#pragma unroll
    for (int c = 0; c < kColumns; c += kAtOnce) first_product(buffer, c, between);
    __syncwarp();
#pragma unroll
    for (int t = 0; t < kLines * kFirstTiles; t += kFirstTiles) second_product(between, t, buffer);
  }

  __device__ __forceinline__ void first_product(const unsigned* buffer, int begin, Between& between) const {
    constexpr int kHeld = 2 * kFirstTiles;  ///< points of a column
    unsigned in[kAtOnce][kHeld];
#pragma unroll
    for (int c = 0; c < kAtOnce; ++c) {
      if (begin + c >= kColumns) break;
      const int tile = (begin + c) % kSecondTiles, line = (begin + c) / kSecondTiles;
      int column = kEdge * tile + group_;
      if (kEdge * (tile + 1) > kSecond && column >= kSecond) column = kSecond - 1;
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        int row = MatrixLayout::row(kRowStep, own_, i);
        if (MatrixLayout::row(kRowStep, 3, i) >= kFirst && row >= kFirst) row = kFirst - 1;  // times 0
        in[c][i] = buffer[line * kLineIn + row * kPitchIn + column];
      }
    }
#pragma unroll
    for (int m = 0; m < kFirstTiles; ++m) {
      float sum[kAtOnce][4];
#pragma unroll
      for (int k = 0; k < kFirstTiles; ++k) {
        const uint4 matrix = first_[32 * (m * kFirstTiles + k)];
#pragma unroll
        for (int c = 0; c < kAtOnce; ++c) {
          if (begin + c >= kColumns) break;
          k == 0 ? multiply<false>(sum[c], matrix, in[c][0], in[c][1])
                 : multiply<true>(sum[c], matrix, in[c][2 * k], in[c][2 * k + 1]);
        }
      }
#pragma unroll
      for (int c = 0; c < kAtOnce; ++c) {
        if (begin + c >= kColumns) break;
        const float4 w = twiddles_[32 * (m * kSecondTiles + (begin + c) % kSecondTiles)];
        const float* const z = sum[c];
        between.set(begin + c, m, 0, z[0] * w.x - z[2] * w.y, z[0] * w.y + z[2] * w.x);
        between.set(begin + c, m, 1, z[1] * w.z - z[3] * w.w, z[1] * w.w + z[3] * w.z);
      }
    }
  }

  /// Of the tiles of one line.
  __device__ __forceinline__ void second_product(const Between& between, int begin, unsigned* buffer) const {
    const int line = begin / kFirstTiles;
    unsigned* const to = buffer + line * kLineOut + group_ * kPitchOut + own_;
#pragma unroll
    for (int m = 0; m < kSecondTiles; ++m) {
      float sum[kFirstTiles][4];
#pragma unroll
      for (int k = 0; k < kSecondTiles; ++k) {
        const uint4 matrix = second_[32 * (m * kSecondTiles + k)];
        const int column = line * kSecondTiles + k;
        if constexpr (kSplit) {
#pragma unroll
          for (int t = 0; t < kFirstTiles; ++t) {
            const unsigned* const low = between.low[column][t];
            k == 0 ? multiply<false>(sum[t], matrix, low[0], low[1])
                   : multiply<true>(sum[t], matrix, low[0], low[1]);
          }
        }
#pragma unroll
        for (int t = 0; t < kFirstTiles; ++t) {
          const unsigned* const high = between.high[column][t];
          k == 0 && !kSplit ? multiply<false>(sum[t], matrix, high[0], high[1])
                            : multiply<true>(sum[t], matrix, high[0], high[1]);
        }
      }
      const bool has = kEdge * (m + 1) <= kSecond || kEdge * m + group_ < kSecond;
#pragma unroll
      for (int t = 0; t < kFirstTiles; ++t) {
        unsigned* const at = to + kEdge * m * kPitchOut + kEdge * t;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int column = kEdge * t + 4 * i;
          if (has && (column + 4 <= kFirst || column + own_ < kFirst))
            at[4 * i] = to_halves(sum[t][i], sum[t][i + 2]);
        }
      }
    }
  }

  uint4 *first_, *second_;
  float4* twiddles_;
  int lane_, group_, own_;
};

}  // namespace sfft::device
