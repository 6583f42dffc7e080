// SPDX-License-Identifier: Apache-2.0
// A generated kernel runs one step, either with one block per tile or with persistent blocks that process
// many tiles.
#pragma once

#include "kernels/dense/tuned/device/product_lines.cuh"
#include "kernels/dense/tuned/device/tile_fft.cuh"

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

/// Delays the first blocks, so that the blocks of neighbouring multiprocessors begin one after the other, and
/// so do the blocks of one multiprocessor. Every thread waits by itself, and nothing is divided: with a
/// barrier and a division the delay gained nothing (measured).
__device__ __forceinline__ void delay(const Arguments& a) {
  if (blockIdx.x >= a.resident_blocks) return;
#ifdef __CUDA_ARCH__
  constexpr unsigned kPhases = 8;  // multiprocessors are delayed over this many phases
  const auto before = static_cast<unsigned>((static_cast<float>(blockIdx.x) + 0.5f) * a.per_multiprocessor);
  const unsigned cycles = before * a.block_delay + blockIdx.x % kPhases * (a.multiprocessor_delay / kPhases);
  const auto begin = static_cast<unsigned>(clock());
  while (static_cast<unsigned>(clock()) - begin < cycles) {
  }
#endif
}

template <class K>
__device__ __forceinline__ void run_step(const Arguments& a) {
  extern __shared__ __align__(16) unsigned char shared[];
  if constexpr (K::step.policy.early_prefetch) {
    if (blockIdx.x < a.early_blocks) Tile<K>(a, blockIdx.x).prefetch();
  }
  wait_for_previous_kernel();
  if constexpr (K::step.policy.early_prefetch) let_next_kernel_start();
  if constexpr (K::step.policy.block_delay > 0) delay(a);
  if constexpr (K::step.multiplies()) {
    ProductLines<K>::run(a, shared);
  } else if constexpr (K::step.policy.double_buffered) {
    TileFft<K>::run_double_buffered(a, shared);
  } else {
    TileFft<K>::run(a, blockIdx.x, shared);
  }
  // The next kernel must not start earlier: waiting blocks with nothing to prefetch only take the slots of
  // working ones (measured).
  if constexpr (!K::step.policy.early_prefetch) let_next_kernel_start();
}

}  // namespace sfft::device
