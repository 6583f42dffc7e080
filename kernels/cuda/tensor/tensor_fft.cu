// SPDX-License-Identifier: Apache-2.0
// The kernels of all tiles, and small kernels with which tests compare the arithmetic with the host's.
#include "kernels/cuda/tensor/tensor_transform.hpp"

#include "kernels/base/tensor/joined_tile.hpp"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/tensor/warp_fft.cuh"

namespace sfft::detail::tensor {

/// The kernel of long lines. A block of threads takes each line, and its warps transform parts of the line in
/// their registers.
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

namespace sfft::detail::cuda {

namespace {

/// Whether this build has kernels without the split.
#ifdef SFFT_TENSOR_UNSPLIT
constexpr bool kUnsplit = true;
#else
constexpr bool kUnsplit = false;
#endif

using tensor::JoinedTile;
using tensor::Pass;
using tensor::Point;
using tensor::Tile;
using tensor::TileKind;
using tensor::WarpTile;

/// Blocks per multiprocessor: radix 32 needs more than 80 registers.
template <class Tile>
constexpr int kResident = Tile::kSmall               ? 1
                          : Tile::radix_bits(0) == 5 ? 2
                                                     : 3;

template <class Tile, bool kSplit>
__global__ __launch_bounds__(Tile::kThreads,
                             kResident<Tile>) void tensor_kernel(const __grid_constant__ Pass pass) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) unsigned char bytes[];
  __shared__ unsigned largest[Tile::kLargest];
  allow_next_kernel();
  tensor::TileKernel<Tile, kSplit>(pass, reinterpret_cast<Point*>(bytes), largest).run(blockIdx.x);
#endif
}

/// A single stage needs no shared memory.
template <int kLog, int kLogLines, TileKind kKind, bool kSmall, int kLogRow>
constexpr int shared_bytes(Tile<kLog, kLogLines, kKind, kSmall, kLogRow> tile) {
  return tile.kStages == 1 ? 0 : static_cast<int>(sizeof(Point)) << tile.kBits;
}
template <int kLog, int kLogLines, TileKind kKind, bool kSmall, int kLogRow>
constexpr int resident(Tile<kLog, kLogLines, kKind, kSmall, kLogRow> tile) {
  return kResident<decltype(tile)>;
}
template <bool kSplit, int kLog, int kLogLines, TileKind kKind, bool kSmall, int kLogRow>
auto kernel_of(Tile<kLog, kLogLines, kKind, kSmall, kLogRow> tile) {
  return tensor_kernel<decltype(tile), kSplit>;
}

template <class Lines>
constexpr int kResidentWarps = Lines::kLog == 10 ? 12 : 16;

template <class Lines, bool kSplit>
__global__ __launch_bounds__(Lines::kThreads,
                             kResidentWarps<Lines> /
                                 Lines::kWarps) void warp_kernel(const __grid_constant__ Pass pass) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) unsigned char bytes[];
  allow_next_kernel();
  tensor::WarpKernel<Lines, kSplit>(pass, reinterpret_cast<Point*>(bytes)).run(blockIdx.x);
#endif
}
template <int kLog, int kLogLines, TileKind kKind>
constexpr int shared_bytes(WarpTile<kLog, kLogLines, kKind>) {
  return WarpTile<kLog, kLogLines, kKind>::kDirect ? 0
                                                   : static_cast<int>(sizeof(Point)) << (kLog + kLogLines);
}
/// A multiprocessor runs as many of these blocks as fit.
template <int kLog, int kLogLines, TileKind kKind>
constexpr int resident(WarpTile<kLog, kLogLines, kKind>) {
  return 32;
}
template <bool kSplit, int kLog, int kLogLines, TileKind kKind>
auto kernel_of(WarpTile<kLog, kLogLines, kKind>) {
  return warp_kernel<WarpTile<kLog, kLogLines, kKind>, kSplit>;
}

/// A multiprocessor runs 24 of these warps with 80 registers, or 16 with 128.
template <class Tile>
constexpr int kResidentLines = (Tile::kLogPart == 9 ? 24 : 16) / Tile::kParts;

template <class Tile, bool kSplit>
__global__ __launch_bounds__(Tile::kThreads,
                             kResidentLines<Tile>) void joined_kernel(const __grid_constant__ Pass pass) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) unsigned char bytes[];
  __shared__ unsigned largest[Tile::kParts];
  allow_next_kernel();
  tensor::JoinedKernel<Tile, kSplit>(pass, reinterpret_cast<Point*>(bytes), largest).run(blockIdx.x);
#endif
}
template <int kLog>
constexpr int shared_bytes(JoinedTile<kLog>) {
  return static_cast<int>(sizeof(Point)) << kLog;
}
template <int kLog>
constexpr int resident(JoinedTile<kLog>) {
  return kResidentLines<JoinedTile<kLog>>;
}
template <bool kSplit, int kLog>
auto kernel_of(JoinedTile<kLog>) {
  return joined_kernel<JoinedTile<kLog>, kSplit>;
}

__global__ void split_kernel(const Point* from, tensor::SplitPoint* to, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] = tensor::split(from[i]);
}

__global__ void roots_kernel(int log_order, unsigned step, float sign, Point* to, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] = tensor::root_of(static_cast<unsigned>(i) * step, log_order, sign);
}

unsigned blocks_for(std::int64_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

}  // namespace

bool have_tensor_kernels() {
  cudaFuncAttributes found{};
  check(cudaFuncGetAttributes(&found, kernel_of<true>(Tile<4, 4, TileKind::batch, true>{})),
        "a tensor kernel");
  return found.ptxVersion >= 80;
}

int prepare_tensor_pass(const tensor::TileChoice& choice) {
  int blocks = 0;
  tensor::with_tile(choice, [&blocks](auto tile) {
    blocks = resident(tile);
    // The rest of the memory is L1 cache for twiddle factors.
    constexpr int kPerMultiprocessor = 228 << 10, kReserved = 2 << 10;
    const int bytes = shared_bytes(tile),
              percent =
                  (resident(tile) * (bytes + kReserved) * 100 + kPerMultiprocessor - 1) / kPerMultiprocessor;
    for (const auto kernel : {kernel_of<true>(tile), kernel_of<!kUnsplit>(tile)}) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
            "shared memory of a tensor kernel");
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                 percent < 100 ? percent : 100),
            "share of shared memory of a tensor kernel");
    }
  });
  return blocks;
}

void launch_tensor_pass(const tensor::TileChoice& choice, const Pass& pass, bool overlap, Stream stream) {
  tensor::with_tile(choice, [&](auto tile) {
    const LaunchShape shape{pass.tiles, decltype(tile)::kThreads, 1,
                            static_cast<std::size_t>(shared_bytes(tile)), overlap};
    launch(pass.split ? kernel_of<true>(tile) : kernel_of<!kUnsplit>(tile), shape, pass, stream,
           "tensor FFT");
  });
}

void launch_tensor_split(const Point* from, tensor::SplitPoint* to, std::int64_t count, Stream stream) {
  split_kernel<<<blocks_for(count), kThreads, 0, stream>>>(from, to, count);
  check_launch("split of points");
}

void launch_tensor_roots(int log_order, unsigned step, float sign, Point* to, std::int64_t count,
                         Stream stream) {
  roots_kernel<<<blocks_for(count), kThreads, 0, stream>>>(log_order, step, sign, to, count);
  check_launch("roots of unity");
}

}  // namespace sfft::detail::cuda
