// SPDX-License-Identifier: Apache-2.0
// Thread pools that the process keeps between short jobs: starting and joining threads takes longer than
// planning does.
#pragma once

#include <memory>

#include "kernels/cpu/platform/thread_pool.hpp"

namespace sfft::detail::cpu {

/// A pool of `threads` for one owner at a time. A few pools stay asleep between loans until the process ends.
/// After fork() a child finds them without threads and works in its own thread. Thread-safe.
class PoolLoan {
 public:
  /// One thread means the caller's own, without a pool, as does a lack of memory.
  explicit PoolLoan(int threads);
  ~PoolLoan();
  PoolLoan(const PoolLoan&) = delete;
  PoolLoan& operator=(const PoolLoan&) = delete;

  ThreadPool* get() const noexcept { return pool_.get(); }

 private:
  int threads_;
  std::unique_ptr<ThreadPool> pool_;
};

/// Tells the threads of idle pools to look for work that is about to come: after a long sleep the first of
/// them takes tens of microseconds to wake. Cheap if there are no pools.
void wake_kept_pools() noexcept;

}  // namespace sfft::detail::cpu
