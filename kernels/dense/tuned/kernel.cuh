// SPDX-License-Identifier: Apache-2.0
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

/// Holds the first blocks back: those of neighbouring multiprocessors begin one after the other, and those of
/// the same one do. Every thread waits by itself, and nothing is divided: with a barrier and a division
/// nothing was won (measured).
__device__ __forceinline__ void delay(const Arguments& a) {
  if (blockIdx.x >= a.resident) return;
#ifdef __CUDA_ARCH__
  constexpr unsigned kPhases = 8;  // of a spread
  const auto before = static_cast<unsigned>((static_cast<float>(blockIdx.x) + 0.5f) * a.per_multiprocessor);
  const unsigned cycles = before * a.stagger + blockIdx.x % kPhases * (a.spread / kPhases);
  const auto begin = static_cast<unsigned>(clock());
  while (static_cast<unsigned>(clock()) - begin < cycles) {
  }
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
  if constexpr (Step::kDelay) delay(a);
  if constexpr (Step::kReadAhead) {
    TileFft<Step>::run_ahead(a, shared);
  } else {
    TileFft<Step>::run(a, blockIdx.x, shared);
  }
  // Earlier, waiting blocks without anything to prefetch only take the places of working ones (measured).
  if constexpr (!Step::kBeginEarly) let_next_kernel_start();
}

}  // namespace sfft::device
