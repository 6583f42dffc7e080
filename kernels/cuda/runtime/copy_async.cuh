// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies from global to shared memory (synchronous below compute capability 8.0). They replace
// <cuda_pipeline.h>, which run-time compilation cannot find without a toolkit.
#pragma once

namespace sfft::detail::cuda {

/// Both addresses are multiples of kBytes: 4, 8 or 16.
template <int kBytes>
__device__ __forceinline__ void copy_async(void* shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(kBytes) : "memory");
  }
#else
  for (int i = 0; i < kBytes / 4; ++i) static_cast<int*>(shared)[i] = static_cast<const int*>(global)[i];
#endif
}

/// Waits for this thread's copies.
__device__ __forceinline__ void await_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace sfft::detail::cuda
