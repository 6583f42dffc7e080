// SPDX-License-Identifier: Apache-2.0
// Uploads the matrices of folded lines, and launches as many blocks as fit on the GPU.
#include "kernels/cuda/tensor/folded_fft.hpp"

#include <algorithm>

#include "kernels/base/tensor/folded_tables.hpp"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/tensor/folded_fft.cuh"
#include "kernels/cuda/tensor/tensor_transform.hpp"

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
constexpr int kResidentFolded = Tile::kTiles == 1   ? 3
                                : Tile::kTiles == 2 ? 2
                                                    : 1;

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

void FoldedTransform::run(const Call& call, Stream stream) const {
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
