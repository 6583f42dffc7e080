// SPDX-License-Identifier: Apache-2.0
// Every thread keeps several loads in flight. The cluster version also exchanges values through distributed
// shared memory, as an FFT would between its passes.
#include "bench/cuda/dense/tile_copies.hpp"

#include <cooperative_groups.h>

#include "bench/cuda/device_memory.hpp"

namespace sfft::bench {

namespace {

namespace cg = cooperative_groups;

__device__ long long place(const TileCopy& m, bool strided, long long tile, long long row, int width,
                           int column) {
  return strided ? row * m.columns + tile * width + column : (tile * m.rows + row) * width + column;
}

template <bool kPrefetch>
__device__ float2 load(const float2* from) {
  if constexpr (kPrefetch) {
#if __CUDA_ARCH__ >= 800
    float2 value;
    asm volatile("ld.global.L2::256B.v2.f32 {%0, %1}, [%2];" : "=f"(value.x), "=f"(value.y) : "l"(from));
    return value;
#else
    return *from;
#endif
  } else {
    return __ldcs(from);
  }
}

/// Each block copies a tile. Each thread keeps eight values in flight.
template <int kWidth, bool kPrefetch>
__global__ void __launch_bounds__(512) copy_tiles(const float2* in, float2* out, TileCopy m) {
  constexpr int kAtOnce = 8;
  const int step = static_cast<int>(blockDim.x) / kWidth, column = static_cast<int>(threadIdx.x) % kWidth;
  for (long long row = static_cast<int>(threadIdx.x) / kWidth; row < m.rows; row += kAtOnce * step) {
    float2 value[kAtOnce];
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e)
      value[e] = load<kPrefetch>(in + place(m, m.strided_in, blockIdx.x, row + e * step, kWidth, column));
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e)
      __stcs(out + place(m, m.strided_out, blockIdx.x, row + e * step, kWidth, column), value[e]);
  }
}

/// Exchanges values kTimes through the block's shared memory, as the passes of an FFT do.
template <int kWidth, int kValues, int kTimes>
__device__ void exchange_within(float2* shared, float2* value, int thread, int column, int step) {
  for (int i = 0; i < kTimes; ++i) {
    __syncthreads();
#pragma unroll
    for (int e = 0; e < kValues; ++e) shared[(thread * kValues + e) * kWidth + column] = value[e];
    __syncthreads();
#pragma unroll
    for (int e = 0; e < kValues; ++e) value[e] = shared[(thread + e * step) * kWidth + column];
  }
}

/// A cluster copies a tile of 16 columns. Block r has the rows r, r + size, … before the exchange through
/// distributed shared memory, and a run of rows after it.
template <int kValues, int kWithin>
__global__ void __launch_bounds__(512) copy_clusters(const float2* in, float2* out, TileCopy m) {
#if __CUDA_ARCH__ >= 900
  constexpr int kWidth = 16;
  extern __shared__ float2 shared[];
  const cg::cluster_group cluster = cg::this_cluster();
  const int size = static_cast<int>(cluster.num_blocks()), rank = static_cast<int>(cluster.block_rank());
  const long long tile = blockIdx.x / size;
  const int column = static_cast<int>(threadIdx.x) % kWidth, thread = static_cast<int>(threadIdx.x) / kWidth;
  const int step = static_cast<int>(blockDim.x) / kWidth, rows = kValues * step, share = rows / size;
  float2 value[kValues];
#pragma unroll
  for (int e = 0; e < kValues; ++e) {
    const long long row = static_cast<long long>(thread + e * step) * size + rank;
    value[e] = __ldcs(in + place(m, m.strided_in, tile, row, kWidth, column));
  }
  exchange_within<kWidth, kValues, kWithin>(shared, value, thread, column, step);
  cluster.sync();
#pragma unroll
  for (int e = 0; e < kValues; ++e) {
    const int row = thread + e * step;
    float2* other = cluster.map_shared_rank(shared, row / share);
    other[(row % share * size + rank) * kWidth + column] = value[e];
  }
  cluster.sync();
#pragma unroll
  for (int e = 0; e < kValues; ++e) value[e] = shared[(thread + e * step) * kWidth + column];
  exchange_within<kWidth, kValues, kWithin>(shared, value, thread, column, step);
#pragma unroll
  for (int e = 0; e < kValues; ++e)
    __stcs(out + place(m, m.strided_out, tile, rank * rows + thread + e * step, kWidth, column), value[e]);
#endif
}

template <int kValues, int kWithin>
void launch_clusters(const float2* in, float2* out, const TileCopy& copy, int size, cudaStream_t stream) {
  const auto kernel = copy_clusters<kValues, kWithin>;
  const auto threads = static_cast<unsigned>(copy.rows / size * 16 / kValues);
  const std::size_t shared = threads * kValues * sizeof(float2);
  gpu(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  gpu(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(size);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(copy.columns / 16 * size));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  gpu(cudaLaunchKernelEx(&config, kernel, in, out, copy));
}

}  // namespace

void copy_by_tiles(const float2* in, float2* out, const TileCopy& copy, int width, bool prefetch,
                   cudaStream_t stream) {
  const auto kernel = width == 16 ? (prefetch ? copy_tiles<16, true> : copy_tiles<16, false>)
                                  : (prefetch ? copy_tiles<4, true> : copy_tiles<4, false>);
  kernel<<<static_cast<unsigned>(copy.columns / width), 512, 0, stream>>>(in, out, copy);
  gpu(cudaGetLastError());
}

bool copy_by_clusters(const float2* in, float2* out, const TileCopy& copy, int size, bool within,
                      cudaStream_t stream) {
  int device = 0, major = 0;
  gpu(cudaGetDevice(&device));
  gpu(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major < 9) return false;
  // A tile has 512 KiB, so four blocks need 32 values per thread to hold it.
  const auto launch = size == 4 ? (within ? launch_clusters<32, 2> : launch_clusters<32, 0>)
                                : (within ? launch_clusters<16, 2> : launch_clusters<16, 0>);
  launch(in, out, copy, size, stream);
  return true;
}

}  // namespace sfft::bench
