// SPDX-License-Identifier: Apache-2.0
// Keeps thread pools between the calls of one plan.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/cpu/platform/thread_pool.hpp"

namespace sfft::detail::cpu {

/// Pools of one size, one per concurrent call. Thread-safe.
class PoolCache {
 public:
  explicit PoolCache(int threads) : threads_(threads) {}

  /// Returns null if there is no memory for threads; the caller's thread then does the work.
  std::unique_ptr<ThreadPool> take() noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto pool = std::move(idle_.back());
        idle_.pop_back();
        return pool;
      }
    }
    try {
      return std::make_unique<ThreadPool>(threads_, ThreadPool::Idle::look);
    } catch (...) {
      return nullptr;
    }
  }

  void give_back(std::unique_ptr<ThreadPool> pool) noexcept {
    if (pool == nullptr) return;
    const std::lock_guard lock(mutex_);
    try {
      idle_.push_back(std::move(pool));
    } catch (...) {  // the pool's threads end
    }
  }

 private:
  int threads_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadPool>> idle_;
};

}  // namespace sfft::detail::cpu
