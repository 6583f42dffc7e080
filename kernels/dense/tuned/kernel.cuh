// A generated kernel: one step, with a block for every tile, or with blocks that stay for many.
#pragma once

#include "kernels/dense/tuned/tile_fft.cuh"

namespace sfft::device {

__device__ __forceinline__ void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ __forceinline__ void sleep_nanoseconds(unsigned count) {
#if __CUDA_ARCH__ >= 700
  __nanosleep(count);
#else
  (void)count;
#endif
}

template <class Step>
__device__ __forceinline__ void run_step(const Arguments& a) {
  extern __shared__ __align__(16) unsigned char shared[];
  if constexpr (Step::kBeginEarly) {
    if (blockIdx.x < a.early) Tile<Step>(a, blockIdx.x).prefetch();
  }
  wait_for_previous_kernel();
  if constexpr (Step::kBeginEarly) let_next_kernel_start();
  if constexpr (Step::kSpread > 0) {
    constexpr unsigned kPhases = 8;
    if (blockIdx.x < a.spread) {
      sleep_nanoseconds(blockIdx.x % kPhases * (Step::kSpread / kPhases));
      __syncthreads();
    }
  }
  if constexpr (Step::kReadAhead) {
    TileFft<Step>::run_ahead(a, shared);
  } else {
    TileFft<Step>::run(a, blockIdx.x, shared);
  }
  // Earlier, waiting blocks without anything to prefetch only take the places of working ones (measured).
  if constexpr (!Step::kBeginEarly) let_next_kernel_start();
}

}  // namespace sfft::device
