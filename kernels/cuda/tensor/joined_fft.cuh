// SPDX-License-Identifier: Apache-2.0
// The kernel of long lines. A block of threads takes each line, and its warps transform parts of the line in
// their registers.
#pragma once

#include "kernels/base/tensor/joined_tile.hpp"
#include "kernels/cuda/tensor/warp_fft.cuh"

namespace sfft::detail::tensor {

template <class Tile, bool kSplit>
class JoinedKernel {
  using Part = typename Tile::Part;

 public:
  /// `largest`: the largest part of every warp.
  __device__ __forceinline__ JoinedKernel(const Pass& pass, Point* shared, unsigned* largest)
      : pass_(pass), shared_(shared), largest_(largest), part_(pass, shared) {}

  __device__ __forceinline__ void run(std::int64_t tile) const {
    const TileBase base = base_of(pass_, tile, 0);
    cuda::await_previous_kernel();
    pass_.wide ? run<true>(tile, pass_.from + base.from, pass_.to + base.to)
               : run<false>(tile, pass_.from + base.from, pass_.to + base.to);
  }

 private:
  template <bool kWide>
  __device__ __forceinline__ void run(std::int64_t tile, const Point* from, Point* to) const {
    const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, warp = thread >> 5;
    const Scale out = separate<kWide>(tile, from, thread);
    __syncthreads();
    LinePoints<Part::kSlots> line[1];
    load_lines<Part>(shared_, static_cast<unsigned>(warp), lane, line);
    part_.transform(line[0], out, 0);
    __syncwarp();
    store_lines<Part>(line, static_cast<unsigned>(warp), lane, shared_);
    __syncthreads();
    carry_joined<Tile, kWide>(shared_, thread, to);
  }
  /// Leaves the parts in shared memory. Returns the scale of the results.
  template <bool kWide>
  __device__ __forceinline__ Scale separate(std::int64_t tile, const Point* from, int thread) const {
    JoinedPoints<Tile> points;
    load_joined<Tile, kWide>(from, thread, points);
    const unsigned own = __reduce_max_sync(~0u, largest_of_joined(points));
    if ((thread & 31) == 0) largest_[thread >> 5] = own;
    __syncthreads();
    if constexpr (kWide && Tile::kFetchesAhead) fetch_ahead(tile, from);
    unsigned highest = 0;
#pragma unroll
    for (int i = 0; i < Tile::kParts; ++i) highest = max(highest, largest_[i]);
    const JoinedScales scales = joined_scales<Tile>(highest, pass_.factor);
    scale_joined(scales.in, points);
    separate_parts<Tile>(pass_.tables.twiddles, thread, pass_.sign, points);
    store_joined<Tile>(points, thread, shared_);
    return scales.out;
  }

  /// Prefetches the line that a later block will read, so that memory works while this block calculates.
  __device__ __forceinline__ void fetch_ahead(std::int64_t tile, const Point* from) const {
#if __CUDA_ARCH__ >= 900
    if (pass_.ahead == 0 || threadIdx.x != 0 || tile + pass_.ahead >= pass_.tiles) return;
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from + (pass_.ahead << Tile::kLog)),
                 "n"(static_cast<int>(sizeof(Point)) << Tile::kLog));
#endif
  }

  const Pass& pass_;
  Point* shared_;
  unsigned* largest_;
  WarpKernel<Part, kSplit> part_;
};

}  // namespace sfft::detail::tensor
