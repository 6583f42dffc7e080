// SPDX-License-Identifier: Apache-2.0
// An empty kernel stands for all kernels of the build: the runtime reports its code version and the
// clusters that fit.
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/runtime/probe.hpp"

namespace sfft::detail::cuda {

namespace {

__global__ void probe() {}

bool fits(int cluster) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(cluster));
  config.blockDim = dim3(1024);
  config.attrs = &attribute;
  config.numAttrs = 1;
  int count = 0;
  return cudaFuncSetAttribute(probe, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess &&
         cudaOccupancyMaxActiveClusters(&count, probe, &config) == cudaSuccess && count > 0;
}

}  // namespace

int code_version() noexcept {
  cudaFuncAttributes attributes{};
  const bool found = cudaFuncGetAttributes(&attributes, probe) == cudaSuccess;
  static_cast<void>(cudaGetLastError());
  return found ? std::max(1, attributes.ptxVersion) : 0;
}

int largest_cluster() noexcept {
  const int cluster = fits(kMaxCluster) ? kMaxCluster : kPortableCluster;
  static_cast<void>(cudaGetLastError());
  return cluster;
}

}  // namespace sfft::detail::cuda
