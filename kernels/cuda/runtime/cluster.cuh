// SPDX-License-Identifier: Apache-2.0
// Barriers and distributed shared memory of a thread block cluster (compute capability 9.0).
#pragma once

namespace sfft::detail::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/// Announces that the block has started; await_blocks() waits for all announcements.
__device__ __forceinline__ void announce_block() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void await_blocks() {
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

/// An mbarrier in a block's shared memory that counts the bytes that the cluster's blocks send to it. Once
/// the bytes are counted, the data have arrived. A cluster barrier would also wait for the acknowledgement of
/// every store and for all other blocks.
using Inbox = unsigned long long;

/// The address in block `rank` of the cluster that corresponds to an address in this block's shared memory.
__device__ __forceinline__ unsigned in_block(const void* own, int rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(own))), "r"(rank));
  return there;
}

/// Makes the inbox expect `bytes` in total. One thread of the block calls this before announce_block().
__device__ __forceinline__ void open_inbox(Inbox* inbox, int bytes) {
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(inbox));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}

/// Waits until everything has arrived in this block's shared memory and is visible to the calling thread.
/// Acquires at block scope: cluster scope would also invalidate the L1 cache.
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

/// Writes `value` (4, 8 or 16 bytes) to the address in block `rank` that corresponds to `own`; that block's
/// inbox counts the bytes. The cluster's blocks must have started, and the receiving block must not end
/// before the data arrive.
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
