// SPDX-License-Identifier: Apache-2.0
// Keeps the most recently used pools.
#include "kernels/cpu/platform/pool_loan.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace sfft::detail::cpu {

namespace {

struct Shelf {
  static constexpr std::size_t kMaxPools = 2;
  struct Entry {
    int threads;
    std::unique_ptr<ThreadPool> pool;
  };
  std::mutex mutex;
  std::vector<Entry> entries;  ///< the most recently used is last
  Shelf() { entries.reserve(kMaxPools + 1); }
};

/// Never destroyed: sleeping threads end with the process, and nothing has to wait for them.
Shelf& shelf() {
  static Shelf& kept = *new Shelf;
  return kept;
}

}  // namespace

PoolLoan::PoolLoan(int threads) : threads_(threads) {
  if (threads <= 1) return;
  {
    Shelf& kept = shelf();
    const std::lock_guard lock(kept.mutex);
    const auto found = std::find_if(kept.entries.begin(), kept.entries.end(),
                                    [&](const Shelf::Entry& entry) { return entry.threads == threads; });
    if (found != kept.entries.end()) {
      pool_ = std::move(found->pool);
      kept.entries.erase(found);
    }
  }
  if (pool_) {
    pool_->wake();
    return;
  }
  try {
    pool_ = std::make_unique<ThreadPool>(threads, ThreadPool::Idle::look);
  } catch (const std::bad_alloc&) {
  }
}

PoolLoan::~PoolLoan() {
  if (!pool_ || !pool_->complete()) return;
  std::unique_ptr<ThreadPool> dropped;  // destroyed outside the lock
  Shelf& kept = shelf();
  const std::lock_guard lock(kept.mutex);
  kept.entries.push_back({threads_, std::move(pool_)});
  if (kept.entries.size() <= Shelf::kMaxPools) return;
  dropped = std::move(kept.entries.front().pool);
  kept.entries.erase(kept.entries.begin());
}

void wake_kept_pools() noexcept {
  Shelf& kept = shelf();
  const std::lock_guard lock(kept.mutex);
  for (const Shelf::Entry& entry : kept.entries) entry.pool->wake();
}

}  // namespace sfft::detail::cpu
