// SPDX-License-Identifier: Apache-2.0
// Launches with clusters, and launches that may begin before the stream's previous kernel has ended
// (programmatic dependent launch). Both need compute capability 9.0.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Lets the stream's next kernel be set up beside this one, if it was launched to `overlap`.
__device__ __forceinline__ void allow_next_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits for what the stream did before. Until then a kernel that overlaps may touch nothing but its plan.
__device__ __forceinline__ void await_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Fetches a kernel's parameters into the constant cache at once, instead of line by line as they are used.
template <class Arguments>
__device__ __forceinline__ void touch_parameters(const Arguments& arguments) {
  constexpr int kLine = 64 / sizeof(int);
  const int* words = reinterpret_cast<const int*>(&arguments);
  int all = 0;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(Arguments) / sizeof(int)); i += kLine) all |= words[i];
  asm volatile("" ::"r"(all));
}

struct LaunchShape {
  std::int64_t blocks = 1;
  int threads = 32;
  int cluster = 1;  ///< divides blocks
  std::size_t shared_bytes = 0;
  bool overlap = false;  ///< with the previous kernel; the kernel calls await_previous_kernel()
};

template <class Arguments>
void launch(void (*kernel)(Arguments), const LaunchShape& shape, const Arguments& arguments, Stream stream,
            const char* what) {
  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(shape.blocks));
  config.blockDim = dim3(static_cast<unsigned>(shape.threads));
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
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
  check(cudaLaunchKernelEx(&config, kernel, arguments), what);
}

}  // namespace sfft::detail::cuda
