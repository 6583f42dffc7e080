// SPDX-License-Identifier: Apache-2.0
// The kernel of a pass in which each warp transforms whole lines in its registers.
#pragma once

#include "kernels/base/tensor/warp_tile.hpp"
#include "kernels/cuda/runtime/copy_async.cuh"
#include "kernels/cuda/tensor/tensor_fft.cuh"

namespace sfft::detail::tensor {

/// Copies kBytes, or writes zeros if there is nothing to copy.
template <int kBytes>
__device__ __forceinline__ void copy_some_async(Point* shared, const Point* from, bool some) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int bytes = some ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
  }
}
/// Multiplies constant matrix `a` by 8 columns; the result is parts of outputs g and g + 8 in columns 2t and
/// 2t + 1.
template <bool kSplit>
__device__ __forceinline__ void line_product(const LineMatrices& matrices, int a, const LineOperand& operand,
                                             Point (&results)[2]) {
  float sum[4];
  if constexpr (kSplit) {
    multiply<false>(matrices.hi[a].at, operand.lo, sum);
    multiply<true>(matrices.lo[a].at, operand.hi, sum);
    multiply<true>(matrices.hi[a].at, operand.hi, sum);
  } else {
    multiply<false>(matrices.hi[a].at, operand.hi, sum);
  }
#pragma unroll
  for (int v = 0; v < 2; ++v) results[v] = {sum[v], sum[2 + v]};
}

template <class Tile, bool kSplit>
class WarpKernel {
  static constexpr int kSlots = Tile::kSlots, kInner = Tile::kInner, kProducts = Tile::kProducts,
                       kOuter = Tile::kOuter, kQs = Tile::kQs;
  using Line = LinePoints<kSlots>;

 public:
  __device__ __forceinline__ WarpKernel(const Pass& pass, Point* shared)
      : pass_(pass),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x) & 31),
        warp_(static_cast<int>(threadIdx.x >> 5)),
        matrices_(line_matrices_of(pass.tables.matrices, lane_)),
        inner_(inner_twiddles_of<Tile>(pass.tables.twiddles, lane_)) {}

  __device__ __forceinline__ void run(std::int64_t tile) {
    const TileBase base = base_of(pass_, tile, Tile::kLogLines);
    cuda::await_previous_kernel();
    if constexpr (Tile::kDirect) {
      pass_.wide ? direct<true>(base) : direct<false>(base);
      return;
    }
    pass_.wide ? bring_in<true>(base) : bring_in<false>(base);
    cuda::await_copies();
    __syncthreads();
#pragma unroll 1
    for (int turn = 0; turn < Tile::kTurns; ++turn) {
      const auto line = static_cast<unsigned>(turn * Tile::kWarps + warp_) << Tile::kLogTogether;
      Line lines[Tile::kTogether];
      load_lines<Tile>(shared_, line, lane_, lines);
#pragma unroll
      for (int i = 0; i < Tile::kTogether; ++i) {
        const Scales scales = scales_of(largest_of(lines[i]));
        scale_all(lines[i].at, scales.in);
        transform(lines[i], scales.out, base.first_line + line + i);
      }
      __syncwarp();
      store_lines<Tile>(lines, line, lane_, shared_);
    }
    __syncthreads();
    const int thread = static_cast<int>(threadIdx.x);
    pass_.wide ? carry_out<Tile, true>(pass_, base, shared_, thread)
               : carry_out<Tile, false>(pass_, base, shared_, thread);
  }

  /// Transforms one line of the warp; `number` is the line's number in its group. `out` scales the results.
  __device__ __forceinline__ void transform(Line& line, const Scale& out, unsigned number) const {
    Line results;
#pragma unroll
    for (int j = 0; j < Tile::kRadix; ++j) {
      Point between[kQs][kProducts][2];  // [q][h][v]
#pragma unroll
      for (int q = 0; q < kQs; ++q) {
#pragma unroll
        for (int a = 0; a < kProducts; ++a) {
          const int slot = j | (q | a << Tile::kQBits) << kOuter;
          line_product<kSplit>(matrices_, a,
                               line_operand_of(line.at[slot], line.at[slot | kQs * kProducts << kOuter]),
                               between[q][a]);
        }
#pragma unroll
        for (int v = 0; v < 2; ++v) {
          if constexpr (kProducts == 2) butterfly(between[q][0][v], between[q][1][v]);
#pragma unroll
          for (int h = 0; h < kProducts; ++h) {
            const PointPair& factors = inner_.at[q * kProducts + h];
            between[q][h][v] = times(between[q][h][v], v == 0 ? factors.first : factors.second);
          }
        }
      }
#pragma unroll
      for (int h = 0; h < kProducts; ++h) {
        Point both[kQs][2];
#pragma unroll
        for (int q = 0; q < kQs; ++q)
          line_product<kSplit>(matrices_, q, line_operand_of(between[q][h][0], between[q][h][1]), both[q]);
#pragma unroll
        for (int v = 0; v < 2; ++v) {
          if constexpr (kQs == 2) {
            butterfly(both[0][v], both[1][v]);
            results.at[j * kInner + 2 * (kProducts + h) + v] = both[1][v];
          }
          results.at[j * kInner + 2 * h + v] = both[0][v];
        }
      }
    }
    line = results;
    join_lines<Tile>(pass_.tables.twiddles + 32 * kInner, lane_, pass_.sign, line);
    scale_all(line.at, out);
    if constexpr (Tile::kColumns) {
      if (pass_.log_order > 0) twiddle(line, number);
    }
  }

 private:
  template <bool kWide>
  __device__ __forceinline__ void direct(const TileBase& base) const {
    static_assert(!Tile::kDirect || Tile::kTurns == 1);
    const int first = warp_ * Tile::kTogether, count = base.lines - first;
    const std::int64_t place = std::int64_t{first} << Tile::kLog;
    const Point* const from = pass_.from + base.from + place;
    Point* const to = pass_.to + base.to + place;
    Line lines[Tile::kTogether];
#pragma unroll
    for (int i = 0; i < Tile::kTogether; ++i) {
      if (i < count) {
        load_line<Tile, kWide>(from + (i << Tile::kLog), lane_, lines[i]);
      } else {
        lines[i] = {};
      }
    }
    if constexpr (Tile::kTogether == 1) {
      if (count < 1) return;
      const Scales scales = scales_of(largest_of(lines[0]));
      scale_all(lines[0].at, scales.in);
      transform(lines[0], scales.out, 0);
      store_line<Tile, kWide>(lines[0], lane_, to);
    } else {
      const Scales scales = scales_of_lane(lines);
      const bool second = __any_sync(~0u, scales.in.second != 1 || scales.out.second != 1) != 0;
#pragma unroll
      for (int i = 0; i < Tile::kTogether; ++i) {
        if (i >= count) return;
        const Scales own = from_lane(scales, i, second);
        scale_all(lines[i].at, own.in);
        transform(lines[i], own.out, 0);
        store_line<Tile, kWide>(lines[i], lane_, to + (i << Tile::kLog));
      }
    }
  }
  /// Factors that scale a line on its way in and out.
  struct Scales {
    Scale in, out;
  };
  __device__ __forceinline__ unsigned largest_of(const Line& line) const {
    return __reduce_max_sync(~0u, largest_bits<Tile>(line.at));
  }
  __device__ __forceinline__ Scales scales_of(unsigned largest) const {
    return {entry_scale(largest), scale_of(Tile::kFirst - scale_exponent(largest), pass_.factor)};
  }
  /// Lane i computes the factors of line i.
  __device__ __forceinline__ Scales scales_of_lane(const Line (&lines)[Tile::kTogether]) const {
    unsigned own = 0;
#pragma unroll
    for (int i = 0; i < Tile::kTogether; ++i) {
      const unsigned largest = largest_of(lines[i]);
      if (lane_ == i) own = largest;
    }
    return scales_of(own);
  }
  /// `second`: whether any lane has a second factor.
  static __device__ __forceinline__ Scales from_lane(const Scales& scales, int lane, bool second) {
    const auto get = [&](float value) { return __shfl_sync(~0u, value, lane); };
    Scales found{{get(scales.in.first), 1}, {get(scales.out.first), 1}};
    if (second) {
      found.in.second = get(scales.in.second);
      found.out.second = get(scales.out.second);
    }
    return found;
  }
  template <bool kWide>
  __device__ __forceinline__ void bring_in(const TileBase& base) const {
    const int thread = static_cast<int>(threadIdx.x);
    const unsigned own = unit_position<Tile>(thread, 0);
    const Point* const first = pass_.from + base.from + place_of<Tile>(pass_, own);
#pragma unroll
    for (int i = 0; i < Tile::kUnits; ++i) {
      const unsigned other = unit_position<Tile>(0, i);
      Point* const to = shared_ + (swizzled<Tile>(own) ^ swizzled<Tile>(other));
      const bool some = has_line<Tile>(base, own | other);
      const Point* const from = some ? first + place_of<Tile>(pass_, other) : pass_.from;
      if constexpr (kWide) {
        copy_some_async<16>(to, from, some);
      } else {
        copy_some_async<8>(to, from, some);
        copy_some_async<8>(to + 1, from + 1, some);
      }
    }
  }
  /// Each lane computes the factor of one slot.
  __device__ __forceinline__ void twiddle(Line& line, unsigned number) const {
    const Point own = pass_factor_of_lane<Tile>(pass_, number, lane_),
                step = pass_factor_of_slot<Tile>(pass_, number, lane_ & (kSlots - 1));
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      const Point of_slot{__shfl_sync(~0u, step.re, slot), __shfl_sync(~0u, step.im, slot)};
      line.at[slot] = times(line.at[slot], slot == 0 ? own : times(own, of_slot));
    }
  }

  const Pass& pass_;
  Point* shared_;
  int lane_, warp_;
  LineMatrices matrices_;
  InnerTwiddles<Tile> inner_;
};

}  // namespace sfft::detail::tensor
