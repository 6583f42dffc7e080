// SPDX-License-Identifier: Apache-2.0
// The kernel of a pass: a block of threads transforms the lines of one tile. Points go from memory to
// registers, are exchanged in place through shared memory between stages, and go from registers to memory.
#pragma once

#include "kernels/base/tensor/results.hpp"
#include "kernels/cuda/runtime/entry.cuh"

namespace sfft::detail::tensor {

/// Computes sum = left·right, or sum += left·right (kAdd), for 16 columns by 8 results.
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
/// As above, for both halves of an 8-point matrix.
template <bool kAdd>
__device__ __forceinline__ void multiply(const unsigned (&left)[4], const unsigned (&right)[2][2],
                                         float (&sum)[2][4]) {
#pragma unroll
  for (int s = 0; s < 2; ++s) multiply<kAdd>(left, right[s], sum[s]);
}

/// Matrices and their low parts.
template <int kProducts>
struct Matrices {
  LaneMatrix<kProducts> hi, lo;
};

/// Multiplies a stage of 16 columns. Adds small products first, so that rounding of the sums does not lose
/// them.
template <bool kSplit, bool kExact, int kSlots, int kProducts>
__device__ __forceinline__ void transform(const Matrices<kProducts>& matrices, float sign,
                                          LanePoints<kSlots>& points) {
  constexpr int kOwn = kSlots / 2;
#pragma unroll
  for (int a = 0; a < kOwn; ++a) {
    const LaneOperand operand = operand_of(points, a);
    const auto& hi = matrices.hi.at[a * (kProducts / kOwn)];
    const auto& lo = matrices.lo.at[a * (kProducts / kOwn)];
    float sum[2][4];
    if constexpr (kSplit) {
      multiply<false>(operand.lo, hi, sum);
      if constexpr (!kExact) multiply<true>(operand.hi, lo, sum);
      multiply<true>(operand.hi, hi, sum);
    } else {
      multiply<false>(operand.hi, hi, sum);
    }
#pragma unroll
    for (int s = 0; s < 2; ++s) {
#pragma unroll
      for (int column = 0; column < 2; ++column)
        points.at[column][s * kOwn + a] = {sum[s][2 * column], sum[s][2 * column + 1]};
    }
  }
  combine(sign, points);
}

template <class Tile, bool kSplit>
class TileKernel {
  static constexpr int kLast = Tile::kLast, kTurns = Tile::turns(0), kLastTurns = Tile::turns(kLast),
                       kSlots = Tile::slots(0), kProducts = 1 << Tile::butterfly_bits(0);

 public:
  __device__ __forceinline__ TileKernel(const Pass& pass, Point* shared, unsigned* largest)
      : pass_(pass),
        shared_(shared),
        largest_(largest),
        lane_(static_cast<int>(threadIdx.x) & 31),
        warp_(static_cast<int>(threadIdx.x >> 5)),
        matrices_{matrix_of<kProducts>(pass.tables.matrices, lane_, false),
                  matrix_of<kProducts>(pass.tables.matrices, lane_, true)} {}

  __device__ __forceinline__ void run(std::int64_t tile) {
    const TileBase base = base_of(pass_, tile, Tile::kLogLines);
    // Factors do not depend on the results of other kernels.
    Early early;
    if constexpr (kLast > 0) find_early(base, early);
    cuda::await_previous_kernel();
    LanePoints<kSlots> points[kTurns];
    pass_.wide ? load<true>(base, points) : load<false>(base, points);
    LaneLargest largest[kTurns];
    find_largest(points, largest);
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      const Seat<Tile, 0> seat(lane_, warp_ * kTurns, turn);
      scale_in<Tile>(largest[turn], points[turn]);
      transform<kSplit, Tile::kShort>(matrices_, pass_.sign, points[turn]);
      if constexpr (kLast == 0) {
        leave(base, early, turn, seat, largest[turn], points[turn]);
      } else {
        twiddle<Tile>(early.twiddles[turn], points[turn]);
        store_shared<Tile>(seat, points[turn], shared_);
      }
    }
    if constexpr (kLast > 0) last_stage(base, early, largest[0]);
  }

 private:
  /// What a tile of two stages prefetches before its points: the factors after the first stage and those
  /// between passes.
  struct Early {
    LaneTwiddles<Tile> twiddles[kLast > 0 ? kTurns : 1];
    LastPoints<Tile> factors[Tile::kColumns ? kLastTurns : 1];
  };
  __device__ __forceinline__ void find_early(const TileBase& base, Early& early) const {
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn)
      early.twiddles[turn] = load_twiddles<Tile>(pass_.tables.twiddles, lane_, warp_ * kTurns + turn);
    if constexpr (Tile::kColumns) {
#pragma unroll
      for (int turn = 0; turn < kLastTurns; ++turn)
        early.factors[turn] = factors_of(base, LastSeat<Tile>(lane_, warp_ * kLastTurns, turn));
    }
  }

  /// Each lane computes the factor of one line and slot.
  __device__ __forceinline__ LastPoints<Tile> factors_of(const TileBase& base,
                                                         const LastSeat<Tile>& seat) const {
    static_assert(LastSeat<Tile>::kSlots << Tile::kLogLines <= 32);
    const Point found = pass_root(pass_, base, static_cast<unsigned>(lane_) & Tile::kLineMask,
                                  frequency_of_slot<Tile>(lane_ >> Tile::kLogLines));
    return pass_factors<Tile>(pass_, base, seat, [&](unsigned line, int slot) {
      const int lane = static_cast<int>(line) | slot << Tile::kLogLines;
      return Point{__shfl_sync(~0u, found.re, lane), __shfl_sync(~0u, found.im, lane)};
    });
  }

  __device__ __forceinline__ void last_stage(const TileBase& base, const Early& early,
                                             const LaneLargest& only) {
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < kLastTurns; ++turn) {
      const LastSeat<Tile> seat(lane_, warp_ * kLastTurns, turn);
      LastPoints<Tile> points;
      load_shared<Tile>(seat, shared_, points);
      transform<kSplit, false>(matrices_, pass_.sign, points);
      leave(base, early, turn, seat, largest_of_results(seat, only), points);
    }
  }

  template <bool kWide>
  __device__ __forceinline__ void load(const TileBase& base, LanePoints<kSlots> (&points)[kTurns]) const {
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn)
      load_samples<Tile, kWide>(pass_, base, Seat<Tile, 0>(lane_, warp_ * kTurns, turn), points[turn]);
  }

  __device__ __forceinline__ void leave(const TileBase& base, const Early& early, int turn,
                                        const LastSeat<Tile>& seat, const LaneLargest& largest,
                                        LastPoints<Tile>& points) const {
    scale_out<Tile>(largest, pass_.factor, points);
    if constexpr (Tile::kColumns) twiddle_pass(early.factors[turn], points);
    pass_.wide ? store_results<Tile, true>(pass_, base, seat, points)
               : store_results<Tile, false>(pass_, base, seat, points);
  }

  /// Finds the largest parts of the lines of a lane's columns, for every turn of the first stage.
  __device__ __forceinline__ void find_largest(const LanePoints<kSlots> (&points)[kTurns],
                                               LaneLargest (&largest)[kTurns]) const {
    constexpr bool kTwo = Tile::kLogColumnsOfLine == 0;
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      const Seat<Tile, 0> seat(lane_, warp_ * kTurns, turn);
      largest[turn] = own_largest<Tile>(points[turn]);
      largest[turn].at[0] = across_lanes(largest[turn].at[0]);
      largest[turn].at[1] = kTwo ? across_lanes(largest[turn].at[1]) : largest[turn].at[0];
      if constexpr (kLast > 0) {
        if ((lane_ & lanes_of_line()) == 0) largest_[largest_place<Tile>(seat, 0)] = largest[turn].at[0];
      }
    }
    if constexpr (Tile::kLogParts > 0) {
      __syncthreads();
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
        const Seat<Tile, 0> seat(lane_, warp_ * kTurns, turn);
        const unsigned max =
            turn > 0 && Tile::kScales == 1 ? largest[0].at[0] : largest_of<Tile>(largest_, seat.position);
        largest[turn] = {{max, max}};
      }
    }
  }
  __device__ __forceinline__ LaneLargest largest_of_results(const LastSeat<Tile>& seat,
                                                            const LaneLargest& only) const {
    if constexpr (Tile::kScales == 1) return only;
    const unsigned first = largest_of<Tile>(largest_, seat.position);
    return {{first, leaves_two_lines<Tile>
                        ? largest_of<Tile>(largest_, seat.position | LastSeat<Tile>::column_offset(1))
                        : first}};
  }

  static __device__ __forceinline__ constexpr int lanes_of_line() {
    int mask = 0;
    for (int bit = 0; bit < kLaneBits; ++bit) mask |= Tile::same_line(bit) ? 1 << bit : 0;
    return mask;
  }
  static __device__ __forceinline__ unsigned across_lanes(unsigned largest) {
    if constexpr (lanes_of_line() == 31) {
      return __reduce_max_sync(~0u, largest);
    } else {
#pragma unroll
      for (int bit = 0; bit < kLaneBits; ++bit) {
        if (Tile::same_line(bit)) largest = max(largest, __shfl_xor_sync(~0u, largest, 1 << bit));
      }
      return largest;
    }
  }

  const Pass& pass_;
  Point* shared_;
  unsigned* largest_;
  int lane_, warp_;
  Matrices<kProducts> matrices_;
};

}  // namespace sfft::detail::tensor
