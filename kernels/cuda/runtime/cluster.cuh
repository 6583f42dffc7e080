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

/// Counts the bytes that the blocks of a cluster send to one of them (a barrier in its shared memory). A
/// barrier of the cluster would have to wait until every block's stores are acknowledged, then for all
/// blocks; what is sent to an inbox has arrived when its bytes are counted.
using Inbox = unsigned long long;

/// Where an address in this block's shared memory lies in that of block `rank` of the cluster.
__device__ __forceinline__ unsigned in_block(const void* own, int rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(own))), "r"(rank));
  return there;
}

/// Expects `bytes` in all. Called by one thread of the block, before announce_block().
__device__ __forceinline__ void open_inbox(Inbox* inbox, int bytes) {
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(inbox));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}

/// Waits until all has arrived in this block's shared memory; the calling thread then sees it. Acquires
/// within the block: acquiring within the cluster would also empty the first-level cache.
__device__ __forceinline__ void await_inbox(Inbox* inbox) {
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(inbox));
  unsigned done;
  do {
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(at)
        : "memory");
  } while (done == 0);
}

/// Writes `value`, of 4, 8 or 16 bytes, to block `rank` where `own` is in this one, and counts it there. The
/// blocks of the cluster must have started, and that one may not end before it has arrived.
template <class T>
__device__ __forceinline__ void send(T* own, int rank, Inbox* inbox, const T& value) {
  const unsigned to = in_block(own, rank), count = in_block(inbox, rank);
  const auto* words = reinterpret_cast<const unsigned*>(&value);
  if constexpr (sizeof(T) == 16) {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::
            "r"(to),
        "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(count)
        : "memory");
  } else if constexpr (sizeof(T) == 8) {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(to),
        "r"(words[0]), "r"(words[1]), "r"(count)
        : "memory");
  } else {
    static_assert(sizeof(T) == 4);
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to),
                 "r"(words[0]), "r"(count)
                 : "memory");
  }
}
#endif

}  // namespace sfft::detail::cuda
