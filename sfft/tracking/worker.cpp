// SPDX-License-Identifier: Apache-2.0
// A queue under a mutex. A job runs outside the mutex, so give() never waits for one.
#include "sfft/tracking/worker.hpp"

#include "kernels/runtime/memory_budget.hpp"

namespace sfft::detail {

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = called_ = true;
  }
  given_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Worker::give(std::function<void()> job) {
  if (MemoryBudget::current() != nullptr) {  // what the job holds counts like what the caller holds
    job = [budget = BudgetReference(), job = std::move(job)] {
      const MemoryBudget::Use use(budget.get());
      job();
    };
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    called_ = true;
  }
  given_.notify_one();
}

void Worker::stay_awake(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const auto until = std::chrono::steady_clock::now() + awake_;
  while (!called_ && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  lock.lock();
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (awake_.count() > 0 && !called_) stay_awake(lock);
    given_.wait(lock, [this] { return ends_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    called_ = ends_ || !jobs_.empty();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace sfft::detail
