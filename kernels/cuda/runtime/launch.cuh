// SPDX-License-Identifier: Apache-2.0
// Launches with clusters, and launches that may start before the stream's previous kernel has ended
// (programmatic dependent launch). Both need compute capability 9.0.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/runtime/entry.cuh"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

struct LaunchShape {
  std::int64_t blocks = 1;
  int threads = 32;
  int cluster = 1;  ///< divides blocks
  std::size_t shared_bytes = 0;
  bool overlap = false;  ///< may overlap with the previous kernel; the kernel calls await_previous_kernel()
};

/// `attributes` has room for two elements and must outlive the launch.
inline cudaLaunchConfig_t configuration(const LaunchShape& shape, cudaLaunchAttribute* attributes) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(shape.blocks));
  config.blockDim = dim3(static_cast<unsigned>(shape.threads));
  config.dynamicSmemBytes = shape.shared_bytes;
  config.attrs = attributes;
  if (shape.cluster > 1) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(shape.cluster), 1, 1};
  }
  if (shape.overlap) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  return config;
}

template <class Arguments>
void launch(void (*kernel)(Arguments), const LaunchShape& shape, const Arguments& arguments, Stream stream,
            const char* what) {
  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t config = configuration(shape, attributes);
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, kernel, arguments), what);
}

/// The number of clusters of such a launch that the device runs at the same time.
template <class Arguments>
int clusters_at_once(void (*kernel)(Arguments), LaunchShape shape, const char* what) {
  cudaLaunchAttribute attributes[2]{};
  shape.overlap = false;
  const cudaLaunchConfig_t config = configuration(shape, attributes);
  int count = 0;
  check(cudaOccupancyMaxActiveClusters(&count, kernel, &config), what);
  return count;
}

}  // namespace sfft::detail::cuda
