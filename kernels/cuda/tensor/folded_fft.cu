// SPDX-License-Identifier: Apache-2.0
// Transforms of folded lines: the kernel, the upload of its matrices, and its launch with as many blocks as
// fit on the GPU. Blocks are persistent. While some warps multiply the lines of a tile, others store the
// results of the previous tile and fold the lines of the next one; then they swap roles, so there is one
// barrier per tile. Points are loaded one tile ahead or, for tiles of 8 lines, copied several tiles ahead.
#include "kernels/cuda/tensor/tensor_transform.hpp"

#include <algorithm>

#include "kernels/base/tensor/folded.hpp"
#include "kernels/base/tensor/folded_tables.hpp"
#include "kernels/cuda/runtime/copy_async.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/tensor/tensor_fft.cuh"

namespace sfft::detail::tensor {

/// Copies a point, or writes zeros if there is nothing to copy.
__device__ __forceinline__ void copy_some_async(Point* shared, const Point* from, bool some) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int bytes = some ? 8 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void multiply_operand(const unsigned (&left)[4], unsigned right0, unsigned right1,
                                                 float (&sum)[4]) {
  const unsigned right[2] = {right0, right1};
  multiply<true>(left, right, sum);
}

template <class Tile, bool kSplit>
class FoldedKernel {
  static constexpr int kTiles = Tile::kTiles, kHeight = Tile::kHeight, kRounds = Tile::kRounds;
  /// The number of parts multiplied together: as many as there are registers for the sums.
  static constexpr int kAtOnce = kHeight * kTiles <= 16 && kHeight <= 2 ? 2 : 1;

 public:
  __device__ __forceinline__ FoldedKernel(const FoldedPass& pass, void* shared)
      : pass_(pass),
        operands_(static_cast<FoldedOperand*>(shared)),
        results_(reinterpret_cast<float*>(operands_ + 2 * Tile::kOperands)),
        ahead_(reinterpret_cast<Point*>(results_ + 2 * (Tile::kResultBytes / 4))),
        lane_(static_cast<int>(threadIdx.x) & 31),
        warp_(static_cast<int>(threadIdx.x >> 5)),
        pairs_(folded_pairs<Tile>(pass.points, FoldedSeat<Tile>(warp_, lane_, 0).own)) {}

  __device__ __forceinline__ void run() {
    const auto tiles = static_cast<int>((pass_.lines + Tile::kLines - 1) / Tile::kLines);
    const int first = static_cast<int>(blockIdx.x), step = static_cast<int>(gridDim.x);
    tiles_ = (tiles - first + step - 1) / step;
    // Whether the block's last tile is the last tile of all, which may have fewer lines.
    const bool ends = (tiles - 1 - first) % step == 0;
    lines_of_last_ = ends
                         ? static_cast<int>(pass_.lines - static_cast<std::int64_t>(tiles - 1) * Tile::kLines)
                         : Tile::kLines;
    step_ = static_cast<std::int64_t>(step) * Tile::kLines * pass_.points;
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const std::int64_t line =
          static_cast<std::int64_t>(first) * Tile::kLines + FoldedSeat<Tile>(warp_, lane_, round).line();
      from_[round] = pass_.from + line * pass_.points;
      to_[round] = pass_.to + line * pass_.points - step_;  // address for tile -1
    }
    load_matrices();
    cuda::await_previous_kernel();
#pragma unroll
    for (int i = 0; i < Tile::kAhead; ++i) load(i);
    fold_tile(0);
    rotate();
    load(Tile::kAhead);
    __syncthreads();
    // Half of the warps carry tile i + 1 after multiplying tile i, and the others carry tile i; this avoids
    // duplicate code.
    const int late = warp_ >= Tile::kWarps / 2 ? 1 : 0;
#pragma unroll 1
    for (int i = -late; i <= tiles_ - late; ++i) {
      const bool some = static_cast<unsigned>(i) < static_cast<unsigned>(tiles_);
      if (some) multiply_tile(i);
      barrier_if(some && late != 0);
      carry(i + late);
      barrier_if(some && late == 0);
    }
    cuda::await_copies();
  }

 private:
  /// Waits at the barrier without a branch, which would double the code around it.
  static __device__ __forceinline__ void barrier_if(bool some) {
    asm volatile("{\n .reg .pred p;\n setp.ne.s32 p, %0, 0;\n @p bar.sync 0;\n}" ::"r"(static_cast<int>(some))
                 : "memory");
  }
  /// Stores tile i - 1, folds tile i + 1, and starts to load into the place of the folded tile. Tiles beyond
  /// the end are zeros and are not stored.
  __device__ __forceinline__ void carry(int i) {
    store(i - 1);
    fold_tile(i + 1);
    rotate();
    load(i + 1 + Tile::kAhead);
  }

  __device__ __forceinline__ bool has(int i, const FoldedSeat<Tile>& seat) const {
    const int lines = i < tiles_ - 1 ? Tile::kLines : i < tiles_ ? lines_of_last_ : 0;
    return i >= 0 && seat.line() < lines;
  }
  /// Where point `at` of a thread's pairs waits to be folded; no other thread accesses it.
  __device__ __forceinline__ Point* ahead(int i, int round, int at) const {
    return ahead_ + ((i % Tile::kAhead * kRounds + round) * 2 * Tile::kPairs + at) * Tile::kThreads +
           threadIdx.x;
  }
  /// Starts to copy the points of a tile; tiles beyond the end become zeros.
  __device__ __forceinline__ void load(int i) {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const FoldedSeat<Tile> seat(warp_, lane_, round);
      const bool some = has(i, seat) && seat.holds();
      const Point* const line = some ? from_[round] : pass_.from;
#pragma unroll
      for (int pair = 0; pair < Tile::kPairs; ++pair) {
        const Point *const first = line + pairs_.first[pair], *const second = line + pairs_.second[pair];
        if constexpr (Tile::kHeld) {
          held_[round].first[pair] = some ? *first : Point{0, 0};
          held_[round].second[pair] = some ? *second : Point{0, 0};
        } else {
          copy_some_async(ahead(i, round, 2 * pair), first, some);
          copy_some_async(ahead(i, round, 2 * pair + 1), second, some);
        }
      }
      from_[round] += step_;
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  __device__ __forceinline__ void fold_tile(int i) {
    asm volatile("cp.async.wait_group %0;" ::"n"(Tile::kAhead - 1) : "memory");
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const FoldedSeat<Tile> seat(warp_, lane_, round);
      FoldedPoints points = held_[Tile::kHeld ? round : 0];
#pragma unroll
      for (int pair = 0; pair < (Tile::kHeld ? 0 : Tile::kPairs); ++pair) {
        points.first[pair] = *ahead(i, round, 2 * pair);
        points.second[pair] = *ahead(i, round, 2 * pair + 1);
      }
      unsigned largest = largest_of_pairs(points);
      if constexpr (Tile::kLanes == 32) {
        largest = __reduce_max_sync(~0u, largest);
      } else {
#pragma unroll
        for (int bit = 1; bit < Tile::kLanes; bit *= 2)
          largest = max(largest, __shfl_xor_sync(~0u, largest, bit));
      }
      next_[round] = largest;
      fold<Tile>(points, largest, seat, operands_ + (i & 1) * Tile::kOperands);
    }
  }
  __device__ __forceinline__ void store(int i) {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const FoldedSeat<Tile> seat(warp_, lane_, round);
      if (has(i, seat) && seat.holds()) {
        unfold<Tile>(pass_, before_[round], seat, pairs_, results_ + (i & 1) * (Tile::kResultBytes / 4),
                     to_[round]);
      }
      to_[round] += step_;
    }
  }
  /// Rotates the largest parts of the lines by one tile: previous, current, next.
  __device__ __forceinline__ void rotate() {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      before_[round] = now_[round];
      now_[round] = next_[round];
    }
  }

  __device__ __forceinline__ void load_matrices() {
    const auto* from = reinterpret_cast<const MatrixQuad*>(pass_.matrices) +
                       warp_ % Tile::kRoles * (kHeight * kTiles * 2 * 32) + lane_;
#pragma unroll
    for (int i = 0; i < kHeight * kTiles; ++i) {
      hi_[i] = from[64 * i];
      lo_[i] = from[64 * i + 32];
    }
  }
  __device__ __forceinline__ void multiply_tile(int i) const {
    const int role = warp_ % Tile::kRoles, group = warp_ / Tile::kRoles, type = role & 1, strip = role >> 1,
              g = lane_ >> 2, t = lane_ & 3;
    const FoldedOperand* const operands = operands_ + (i & 1) * Tile::kOperands;
    float* const results = results_ + (i & 1) * (Tile::kResultBytes / 4) +
                           (Tile::kColumns * group + 2 * t) * Tile::kPitch + 16 * kHeight * strip + g;
#pragma unroll
    for (int first = 0; first < Tile::kParts; first += kAtOnce) {
      float large[kAtOnce][kHeight][4] = {}, small[kAtOnce][kHeight][4] = {};
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
        for (int p = 0; p < kAtOnce; ++p) {
          const FoldedOperand operand = operands[operand_place<Tile>(type, first + p, group, tile, g, t)];
#pragma unroll
          for (int m = 0; m < kHeight; ++m) {
            const int matrix = m * kTiles + tile;
            multiply_operand(hi_[matrix].at, operand.at[0], operand.at[1], large[p][m]);
            if (kSplit) multiply_operand(hi_[matrix].at, operand.at[2], operand.at[3], small[p][m]);
          }
          if (kSplit) {
#pragma unroll
            for (int m = 0; m < kHeight; ++m)
              multiply_operand(lo_[m * kTiles + tile].at, operand.at[0], operand.at[1], small[p][m]);
          }
        }
      }
#pragma unroll
      for (int p = 0; p < kAtOnce; ++p) {
        float* const plane = results + result_plane<Tile>(type, first + p);
#pragma unroll
        for (int m = 0; m < kHeight; ++m) {
#pragma unroll
          for (int j = 0; j < 4; ++j)
            plane[(j & 1) * Tile::kPitch + 16 * m + 8 * (j >> 1)] = large[p][m][j] + small[p][m][j];
        }
      }
    }
  }

  const FoldedPass& pass_;
  FoldedOperand* operands_;
  float* results_;
  Point* ahead_;
  FoldedPoints held_[kRounds];
  int lane_, warp_, tiles_ = 0, lines_of_last_ = 0;
  FoldedPairs pairs_;
  const Point* from_[kRounds];
  Point* to_[kRounds];
  std::int64_t step_ = 0;
  unsigned before_[kRounds] = {}, now_[kRounds] = {}, next_[kRounds] = {};
  MatrixQuad hi_[kHeight * kTiles], lo_[kHeight * kTiles];
};

}  // namespace sfft::detail::tensor

namespace sfft::detail::cuda {

namespace {

using tensor::FoldedPass;
using tensor::FoldedTile;

/// Whether this build has kernels without the split.
#ifdef SFFT_TENSOR_UNSPLIT
constexpr bool kUnsplit = true;
#else
constexpr bool kUnsplit = false;
#endif

/// Blocks per multiprocessor: matrices of more than 32 registers leave room for one.
template <class Tile>
constexpr int kResidentFolded = Tile::kTiles == 2 ? 2 : 1;

template <class Tile, bool kSplit>
__global__ __launch_bounds__(Tile::kThreads, kResidentFolded<Tile>) void folded_kernel(
    const __grid_constant__ FoldedPass pass) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) unsigned char bytes[];
  allow_next_kernel();
  tensor::FoldedKernel<Tile, kSplit>(pass, bytes).run();
#endif
}

}  // namespace

FoldedTransform::FoldedTransform(int points, std::int64_t lines, int device) {
  check_tensor_device(device);
  const DeviceInfo& info = device_info(device);
  overlap_ = info.overlap;
  pass_.points = points;
  pass_.lines = lines;
  tensor::with_folded_tile(points, [&](auto tile) {
    using Tile = decltype(tile);
    matrices_ = upload(tensor::folded_table<Tile>(points));
    for (const auto kernel : {folded_kernel<Tile, true>, folded_kernel<Tile, !kUnsplit>}) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::kSharedBytes),
            "shared memory of a tensor kernel");
    }
    int resident = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, folded_kernel<Tile, true>, Tile::kThreads,
                                                        Tile::kSharedBytes),
          "blocks of a tensor kernel");
    const std::int64_t tiles = (lines + Tile::kLines - 1) / Tile::kLines;
    blocks_ = static_cast<int>(
        std::min<std::int64_t>(tiles, std::max(1, resident) * std::int64_t{info.multiprocessors}));
  });
  pass_.matrices = matrices_.as<unsigned>();
}

void FoldedTransform::run(const TensorCall& call, Stream stream) const {
  FoldedPass pass = pass_;
  pass.from = static_cast<const tensor::Point*>(call.from);
  pass.to = static_cast<tensor::Point*>(call.to);
  pass.sign = call.inverse ? 1.0f : -1.0f;
  pass.factor = call.scale;
  tensor::with_folded_tile(pass.points, [&](auto tile) {
    using Tile = decltype(tile);
    const LaunchShape shape{blocks_, Tile::kThreads, 1, static_cast<std::size_t>(Tile::kSharedBytes),
                            overlap_};
    launch(call.split ? folded_kernel<Tile, true> : folded_kernel<Tile, !kUnsplit>, shape, pass, stream,
           "folded lines");
  });
}

}  // namespace sfft::detail::cuda
