// SPDX-License-Identifier: Apache-2.0
// Thread pools that the process keeps between short jobs: starting and joining threads takes longer than
// planning does.
#pragma once

#include <memory>

#include "kernels/cpu/platform/thread_pool.hpp"

namespace sfft::detail::cpu {

/// Lends a pool of `threads` to one owner at a time. A few pools stay asleep between loans until the process
/// ends. After fork(), the pools have no threads in the child, which then works in the caller's thread.
/// Thread-safe.
class PoolLoan {
 public:
  /// There is no pool if `threads` is 1 or memory is short: the caller's thread then does the work.
  explicit PoolLoan(int threads);
  ~PoolLoan();
  PoolLoan(const PoolLoan&) = delete;
  PoolLoan& operator=(const PoolLoan&) = delete;

  ThreadPool* get() const noexcept { return pool_.get(); }

 private:
  int threads_;
  std::unique_ptr<ThreadPool> pool_;
};

/// Wakes the threads of idle pools because work will follow soon: after a long sleep, the first thread takes
/// tens of microseconds to wake. Cheap if there are no pools.
void wake_kept_pools() noexcept;

}  // namespace sfft::detail::cpu
