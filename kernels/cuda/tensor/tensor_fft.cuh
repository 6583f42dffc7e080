// SPDX-License-Identifier: Apache-2.0
// The kernel of a pass: a block of threads transforms the lines of one tile. Its points are in registers
// during a stage and change threads through shared memory, in place, between stages.
#pragma once

#include "kernels/base/tensor/lane.hpp"

namespace sfft::detail::tensor {

/// sum += left·right for 16 columns by 8 results.
__device__ __forceinline__ void multiply_add(const unsigned (&left)[4], const unsigned (&right)[2],
                                             float (&sum)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}

/// A matrix with its low parts.
struct Matrices {
  LaneMatrix hi, lo;
};

/// Multiplies 16 columns by a matrix. Small products first: they lose nothing to the sums' rounding.
template <bool kExact>
__device__ __forceinline__ void transform(const Matrices& matrix, bool split, LanePoints& points) {
  const LaneOperand operand = operand_of(points);
  float sum[4][4] = {};
  if (split) {
    if constexpr (!kExact) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int tile = 0; tile < 4; ++tile)
          multiply_add(operand.hi[half], matrix.lo.at[half][tile], sum[tile]);
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int tile = 0; tile < 4; ++tile)
        multiply_add(operand.lo[half], matrix.hi.at[half][tile], sum[tile]);
    }
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int tile = 0; tile < 4; ++tile) multiply_add(operand.hi[half], matrix.hi.at[half][tile], sum[tile]);
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
    LanePoints points[kTurns];
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn)
      points[turn] = load_lines<Tile>(pass_, base, lane_, first_ + turn);
    for (int i = static_cast<int>(threadIdx.x); i < Tile::kScales; i += Tile::kThreads) largest_[i] = 0;
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) find_largest(points[turn], first_ + turn);
    __syncthreads();
    matrices_ = {matrix_of(pass_.tables.first_matrix, lane_, false),
                 matrix_of(pass_.tables.first_matrix, lane_, true)};
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      const Seat<Tile, 0> seat(lane_, first_ + turn);
#pragma unroll
      for (int column = 0; column < 2; ++column) {
        const Scale scale = entry_scale(largest_[scale_index<Tile, 0>(seat, column)]);
#pragma unroll
        for (int slot = 0; slot < kSlots; ++slot)
          points[turn].at[column][slot] = scaled(points[turn].at[column][slot], scale);
      }
      transform<Tile::kExactFirst>(matrices_, pass_.split, points[turn]);
      finish<0>(base, first_ + turn, points[turn]);
    }
    if constexpr (Tile::kFirstBits < 4 && Tile::kStages > 1)
      matrices_ = {matrix_of(pass_.tables.matrix, lane_, false), matrix_of(pass_.tables.matrix, lane_, true)};
    further<1>(base);
  }

 private:
  template <int kStage>
  __device__ __forceinline__ void further(const TileBase& base) {
    if constexpr (kStage <= kLast) {
      __syncthreads();
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
        LanePoints points = load_shared<Tile, kStage>(Seat<Tile, kStage>(lane_, first_ + turn), shared_);
        transform<false>(matrices_, pass_.split, points);
        finish<kStage>(base, first_ + turn, points);
      }
      further<kStage + 1>(base);
    }
  }

  /// The points of a stage go to where they came from, or, after the last, to memory.
  template <int kStage>
  __device__ __forceinline__ void finish(const TileBase& base, int warp_tile, LanePoints& points) {
    const Seat<Tile, kStage> seat(lane_, warp_tile);
    if constexpr (kStage < kLast) {
      twiddle<Tile, kStage>(seat, pass_.tables.twiddles, points);
      store_shared<Tile, kStage>(seat, points, shared_);
    } else {
      const unsigned largest[2] = {largest_[scale_index<Tile, kStage>(seat, 0)],
                                   largest_[scale_index<Tile, kStage>(seat, 1)]};
      store_lines<Tile>(pass_, base, lane_, warp_tile, largest, points);
    }
  }

  /// Lanes of one line combine first.
  __device__ __forceinline__ void find_largest(const LanePoints& points, int warp_tile) {
    const Seat<Tile, 0> seat(lane_, warp_tile);
    unsigned largest[2] = {largest_bits(points.at[0]), largest_bits(points.at[1])};
    constexpr bool kOneLine = Tile::kColumns || Tile::column_bit(0, 0) < Tile::kLog;
    if constexpr (kOneLine) largest[0] = max(largest[0], largest[1]);
    combine<0>(largest);
    combine<1>(largest);
    combine<2>(largest);
    if (((lane_ & 3) == 0) &&
        (seat.position & kOfPoints) == (Seat<Tile, 0>(0, warp_tile).position & kOfPoints)) {
#pragma unroll
      for (int column = 0; column < (kOneLine ? 1 : 2); ++column)
        atomicMax(largest_ + scale_index<Tile, 0>(seat, column), largest[column]);
    }
  }
  template <int i>
  __device__ __forceinline__ void combine(unsigned (&largest)[2]) const {
    constexpr bool kSame = Tile::kColumns || Tile::column_bit(0, 1 + i) < Tile::kLog;
    if constexpr (i == 0) {
#pragma unroll
      for (int distance = 1; distance <= 2; distance *= 2) {  // t
#pragma unroll
        for (int column = 0; column < 2; ++column)
          largest[column] = max(largest[column], __shfl_xor_sync(~0u, largest[column], distance));
      }
    }
    if constexpr (kSame) {
#pragma unroll
      for (int column = 0; column < 2; ++column)
        largest[column] = max(largest[column], __shfl_xor_sync(~0u, largest[column], 4 << i));
    }
  }
  /// The bits of a position that tell points of one scale apart.
  static constexpr unsigned kOfPoints = Tile::kColumns ? (1u << Tile::kBits) - 1 : Tile::kPointMask;

  const Pass& pass_;
  Point* shared_;
  unsigned* largest_;
  int lane_, first_;
  Matrices matrices_;
};

}  // namespace sfft::detail::tensor
