// SPDX-License-Identifier: Apache-2.0
// The kernel of a pass: a block of threads transforms the lines of one tile. Its points are in registers
// during a stage and change threads through shared memory, in place, between stages.
#pragma once

#include "kernels/base/tensor/results.hpp"

namespace sfft::detail::tensor {

/// sum = left·right, or sum += left·right, for 16 columns by 8 results.
template <bool kAdd>
__device__ __forceinline__ void multiply(const unsigned (&left)[4], const unsigned (&right)[2],
                                         float (&sum)[4]) {
  if constexpr (!kAdd) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%10,%10,%10,%10};"
        : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]), "f"(0.0f));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
  }
}
/// The same by both halves of a matrix.
template <bool kAdd>
__device__ __forceinline__ void multiply(const unsigned (&left)[2][4], const LaneMatrix& right,
                                         float (&sum)[4][4]) {
#pragma unroll
  for (int tile = 0; tile < 4; ++tile) multiply<kAdd>(left[0], right.at[0][tile], sum[tile]);
#pragma unroll
  for (int tile = 0; tile < 4; ++tile) multiply<true>(left[1], right.at[1][tile], sum[tile]);
}

/// A matrix with its low parts.
struct Matrices {
  LaneMatrix hi, lo;
};

/// Multiplies 16 columns by a matrix. Small products first: they lose nothing to the sums' rounding.
template <bool kExact>
__device__ __forceinline__ void transform(const Matrices& matrix, bool split, LanePoints& points) {
  const LaneOperand operand = operand_of(points);
  float sum[4][4];
  if (split) {
    multiply<false>(operand.lo, matrix.hi, sum);
    if constexpr (!kExact) multiply<true>(operand.hi, matrix.lo, sum);
    multiply<true>(operand.hi, matrix.hi, sum);
  } else {
    multiply<false>(operand.hi, matrix.hi, sum);
  }
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
#pragma unroll
    for (int column = 0; column < 2; ++column)
      points.at[column][slot] = {sum[slot][2 * column], sum[slot][2 * column + 1]};
  }
}

template <class Tile>
class TileKernel {
  static constexpr int kTurns = Tile::kTurns, kLast = Tile::kStages - 1;

 public:
  __device__ __forceinline__ TileKernel(const Pass& pass, Point* shared, unsigned* largest)
      : pass_(pass),
        shared_(shared),
        largest_(largest),
        lane_(static_cast<int>(threadIdx.x) & 31),
        first_(static_cast<int>(threadIdx.x >> 5) * kTurns) {}

  __device__ __forceinline__ void run(std::int64_t tile) {
    const TileBase base = base_of(pass_, tile, Tile::kLogLines);
    bring_in(base);
    matrices_ = matrices_of(pass_.tables.first_matrix, Tile::kFirstBits == 4);
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      const Seat<Tile, 0> seat(lane_, first_, turn);
      LanePoints points = load_shared<Tile, 0>(seat, shared_);
      scale_in<Tile>(seat, largest_, points);
      transform<Tile::kExactFirst>(matrices_, pass_.split, points);
      finish(base, seat, points);
    }
    if constexpr (Tile::kFirstBits < 4 && Tile::kStages > 1)
      matrices_ = matrices_of(pass_.tables.matrix, true);
    further<1>(base);
    __syncthreads();
    pass_.wide ? carry_out<true>(base) : carry_out<false>(base);
  }

 private:
  template <int kStage>
  __device__ __forceinline__ void further(const TileBase& base) {
    if constexpr (kStage <= kLast) {
      __syncthreads();
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
        const Seat<Tile, kStage> seat(lane_, first_, turn);
        LanePoints points = load_shared<Tile, kStage>(seat, shared_);
        transform<false>(matrices_, pass_.split, points);
        finish(base, seat, points);
      }
      further<kStage + 1>(base);
    }
  }

  /// The points of a stage go to where they came from, or, after the last, to places of the same warp tile.
  template <int kStage>
  __device__ __forceinline__ void finish(const TileBase& base, const Seat<Tile, kStage>& seat,
                                         LanePoints& points) {
    if constexpr (kStage < kLast) {
      twiddle<Tile, kStage>(seat, pass_.tables.twiddles, points);
      store_shared<Tile, kStage>(seat, points, shared_);
    } else {
      finish_lines<Tile>(pass_, base, seat, largest_, points);
      __syncwarp();
      store_results<Tile>(seat, points, shared_);
    }
  }

  __device__ __forceinline__ Matrices matrices_of(const unsigned* table, bool of16) const {
    return of16 ? Matrices{matrix16_of(table, lane_, false), matrix16_of(table, lane_, true)}
                : Matrices{matrix_of(table, lane_, false), matrix_of(table, lane_, true)};
  }

  template <bool kWide>
  __device__ __forceinline__ void load_units(const TileBase& base, int thread,
                                             PointPair (&units)[Tile::kUnits]) const {
    const Point* const first = first_unit<Tile>(pass_, base, thread);
#pragma unroll
    for (int i = 0; i < Tile::kUnits; ++i) units[i] = load_unit<Tile, kWide>(pass_, base, first, thread, i);
  }

  /// Shared memory to memory, in the output's order.
  template <bool kWide>
  __device__ __forceinline__ void carry_out(const TileBase& base) const {
#pragma unroll
    for (int i = 0; i < Tile::kUnits; ++i)
      store_unit<Tile, kWide>(pass_, base, shared_, static_cast<int>(threadIdx.x), i);
  }

  /// Memory to shared memory, in memory's order, and the largest part of every line on the way.
  __device__ __forceinline__ void bring_in(const TileBase& base) {
    const int thread = static_cast<int>(threadIdx.x);
    PointPair units[Tile::kUnits];
    pass_.wide ? load_units<true>(base, thread, units) : load_units<false>(base, thread, units);
    for (int line = thread; line < Tile::kScales; line += Tile::kThreads) largest_[line] = 0;
    __syncthreads();
    const unsigned in_shared = swizzled(unit_position<Tile>(thread, 0));
    // Units in sequence of one line: a warp's are, from 64 points on, and those of further units.
    constexpr int kBlockLog = 9, kTogether = Tile::kColumns ? Tile::kUnits
                                             : Tile::kLog > kBlockLog
                                                 ? (Tile::kUnits < 1 << (Tile::kLog - kBlockLog)
                                                        ? Tile::kUnits
                                                        : 1 << (Tile::kLog - kBlockLog))
                                                 : 1;
#pragma unroll
    for (int i = 0; i < Tile::kUnits; i += kTogether) {
      unsigned largest = 0;
#pragma unroll
      for (int j = i; j < i + kTogether; ++j) {
        *reinterpret_cast<PointPair*>(shared_ + (in_shared ^ swizzled(unit_position<Tile>(0, j)))) = units[j];
        largest = max(largest, largest_bits<Tile>(units[j]));
      }
      keep_largest(unit_scale<Tile>(unit_position<Tile>(thread, i)), largest);
    }
    __syncthreads();
  }

  __device__ __forceinline__ void keep_largest(unsigned scale, unsigned largest) {
    constexpr int kLanes = Tile::kColumns || Tile::kLog >= 6 ? 32 : 1 << (Tile::kLog - 1);
    if constexpr (kLanes == 32) {
      largest = __reduce_max_sync(~0u, largest);
    } else {
#pragma unroll
      for (int distance = 1; distance < kLanes; distance *= 2)
        largest = max(largest, __shfl_xor_sync(~0u, largest, distance));
    }
    if (lane_ % kLanes == 0) atomicMax(largest_ + scale, largest);
  }

  const Pass& pass_;
  Point* shared_;
  unsigned* largest_;
  int lane_, first_;
  Matrices matrices_;
};

}  // namespace sfft::detail::tensor
