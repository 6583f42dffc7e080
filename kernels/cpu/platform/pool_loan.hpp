// SPDX-License-Identifier: Apache-2.0
// Thread pools that the process keeps between short jobs: starting and joining threads takes longer than
// planning does.
#pragma once

#include <memory>

#include "kernels/cpu/platform/thread_pool.hpp"

namespace sfft::detail::cpu {

/// A pool of so many threads for one owner at a time. Between loans a few pools stay, asleep, until the
/// process ends; a child after fork() finds them without threads, and does the work in its own. Thread-safe.
class PoolLoan {
 public:
  /// One thread is the caller's own: there is no pool then, nor if there is no memory for one.
  explicit PoolLoan(int threads);
  ~PoolLoan();
  PoolLoan(const PoolLoan&) = delete;
  PoolLoan& operator=(const PoolLoan&) = delete;

  ThreadPool* get() const noexcept { return pool_.get(); }

 private:
  int threads_;
  std::unique_ptr<ThreadPool> pool_;
};

/// Has the threads of the pools that are kept look for work, as it is about to come: of threads that have
/// been asleep for long the first takes tens of microseconds to be there. Costs little where there are none.
void wake_kept_pools() noexcept;

}  // namespace sfft::detail::cpu
