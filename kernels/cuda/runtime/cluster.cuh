// SPDX-License-Identifier: Apache-2.0
// Barriers and memory of a cluster of blocks (compute capability 9.0).
#pragma once

namespace sfft::detail::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/// Says that the block has started; await_blocks() then knows that all have.
__device__ __forceinline__ void announce_block() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void await_blocks() {
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
/// Ends what the block has written to the memory of others; await_written() sees what all have.
__device__ __forceinline__ void release_written() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void await_written() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Where `own`, in this block's shared memory, lies in that of block `rank` of the cluster.
template <class T>
__device__ __forceinline__ T* in_block(T* own, int rank) {
  T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(own), "r"(rank));
  return there;
}
#endif

}  // namespace sfft::detail::cuda
