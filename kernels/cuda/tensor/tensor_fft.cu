// SPDX-License-Identifier: Apache-2.0
// The kernels of all tiles, and small kernels with which tests compare the arithmetic with the host's.
#include "kernels/cuda/tensor/tensor_transform.hpp"

#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/tensor/tensor_fft.cuh"

namespace sfft::detail::cuda {

namespace {

/// Whether this build has kernels without the split.
#ifdef SFFT_TENSOR_UNSPLIT
constexpr bool kUnsplit = true;
#else
constexpr bool kUnsplit = false;
#endif

using tensor::Pass;
using tensor::Point;
using tensor::Tile;
using tensor::TileKind;

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
template <class Tile>
constexpr int kSharedBytes = Tile::kStages == 1 ? 0 : static_cast<int>(sizeof(Point)) << Tile::kBits;

__global__ void split_kernel(const Point* from, tensor::SplitPoint* to, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] = tensor::split(from[i]);
}

__global__ void roots_kernel(int log_order, float sign, Point* to, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] = tensor::root_of(static_cast<unsigned>(i), log_order, sign);
}

unsigned blocks_for(std::int64_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

}  // namespace

bool have_tensor_kernels() {
  cudaFuncAttributes found{};
  check(cudaFuncGetAttributes(&found, tensor_kernel<Tile<4, 4, TileKind::batch, true>, true>),
        "a tensor kernel");
  return found.ptxVersion >= 80;
}

void prepare_tensor_pass(const tensor::TileChoice& choice) {
  tensor::with_tile(choice, [](auto tile) {
    using Tile = decltype(tile);
    // The rest of the memory is L1 cache for twiddle factors.
    constexpr int kPerMultiprocessor = 228 << 10, kReserved = 2 << 10;
    const int bytes = kSharedBytes<Tile>,
              percent =
                  (kResident<Tile> * (bytes + kReserved) * 100 + kPerMultiprocessor - 1) / kPerMultiprocessor;
    for (const auto kernel : {tensor_kernel<Tile, true>, tensor_kernel<Tile, !kUnsplit>}) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
            "shared memory of a tensor kernel");
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                 percent < 100 ? percent : 100),
            "share of shared memory of a tensor kernel");
    }
  });
}

void launch_tensor_pass(const tensor::TileChoice& choice, const Pass& pass, bool overlap, Stream stream) {
  tensor::with_tile(choice, [&](auto tile) {
    using Tile = decltype(tile);
    const LaunchShape shape{pass.tiles, Tile::kThreads, 1, static_cast<std::size_t>(kSharedBytes<Tile>),
                            overlap};
    launch(pass.split ? tensor_kernel<Tile, true> : tensor_kernel<Tile, !kUnsplit>, shape, pass, stream,
           "tensor FFT");
  });
}

void launch_tensor_split(const Point* from, tensor::SplitPoint* to, std::int64_t count, Stream stream) {
  split_kernel<<<blocks_for(count), kThreads, 0, stream>>>(from, to, count);
  check_launch("split of points");
}

void launch_tensor_roots(int log_order, float sign, Point* to, std::int64_t count, Stream stream) {
  roots_kernel<<<blocks_for(count), kThreads, 0, stream>>>(log_order, sign, to, count);
  check_launch("roots of unity");
}

}  // namespace sfft::detail::cuda
