// A generated kernel: one step, with a block for every tile.
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

template <class Step>
__device__ __forceinline__ void run_step(const Arguments& a) {
  extern __shared__ __align__(16) unsigned char shared[];
  wait_for_previous_kernel();
  const long long tiles =
      Step::kTiles > 0 ? Step::kTiles : (a.lines + Step::Line::kLines - 1) / Step::Line::kLines;
  const long long group = Step::kTiles > 0 ? a.first_group + blockIdx.x / tiles : 0;
  const long long tile = Step::kTiles > 0 ? blockIdx.x % tiles : blockIdx.x;
  TileFft<Step>::run(a, group, tile, shared);
  let_next_kernel_start();  // earlier, waiting blocks take the places of working ones (measured)
}

}  // namespace sfft::device
