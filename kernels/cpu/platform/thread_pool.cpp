// SPDX-License-Identifier: Apache-2.0
// The caller and the workers take parts one by one, so that uneven parts balance themselves. Threads enter
// and leave a job under a mutex: a job cannot end, nor the next begin, before all have left.
#include "kernels/cpu/platform/thread_pool.hpp"

#include <exception>

namespace sfft::detail::cpu {

// Starting a thread takes tens of microseconds. Every worker starts two more, so that the caller waits for
// one.
ThreadPool::ThreadPool(int threads, Idle idle)
    : looks_(idle == Idle::look && threads <= static_cast<int>(std::thread::hardware_concurrency())),
      workers_(static_cast<std::size_t>(threads > 1 ? threads - 1 : 0)) {
  if (!workers_.empty()) start(0);
}

void ThreadPool::wake() noexcept {
  if (!looks_) return;
  {
    const std::lock_guard lock(mutex_);
    ++woken_;
  }
  start_.notify_all();
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) {  // who started it has ended by then
    if (worker.joinable()) worker.join();
  }
}

void ThreadPool::start(std::size_t worker) {
  if (worker >= workers_.size()) return;
  try {
    workers_[worker] = std::thread([this, worker] { work(worker); });
  } catch (const std::exception&) {  // no more threads, or no memory for one: those that run share the work
    refused_ = true;
  }
}

/// Looks for some hundred microseconds, without the mutex; longer while others run a job, because the next
/// one tends to follow it at once, and waking takes tens of microseconds.
template <class Ready>
void ThreadPool::look_for(const Ready& ready) const {
  constexpr int kTimes = 4000, kMost = 16000;
  for (int n = 0, all = 0; looks_ && n < kTimes && all < kMost && !ready(); ++all) {
    n = running_ > 0 ? 0 : n + 1;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

void ThreadPool::drain(int thread, std::unique_lock<std::mutex>& lock) {
  if (next_ >= parts_) return;
  ++running_;
  const void* const job = job_;
  const Call call = call_;
  const std::int64_t parts = parts_;
  lock.unlock();
  for (std::int64_t part = next_++; part < parts; part = next_++) call(job, part, thread);
  lock.lock();
  --running_;
}

void ThreadPool::run_erased(std::int64_t parts, const void* job, Call call) {
  if (workers_.empty() || parts == 1) {
    for (std::int64_t part = 0; part < parts; ++part) call(job, part, 0);
    return;
  }
  std::unique_lock lock(mutex_);
  job_ = job;
  call_ = call;
  next_ = 0;
  parts_ = parts;
  lock.unlock();
  start_.notify_all();
  lock.lock();
  drain(0, lock);
  if (running_ == 0) return;
  lock.unlock();
  look_for([this] { return running_ == 0; });
  lock.lock();
  done_.wait(lock, [this] { return running_ == 0; });
}

void ThreadPool::work(std::size_t worker) {
  start(2 * worker + 1);
  start(2 * worker + 2);
  const int thread = static_cast<int>(worker) + 1;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const std::int64_t woken = woken_;
    lock.unlock();
    look_for([this] { return stop_ || next_ < parts_; });
    lock.lock();
    start_.wait(lock, [&] { return stop_ || next_ < parts_ || woken_ != woken; });
    if (next_ >= parts_) continue;
    drain(thread, lock);
    if (running_ == 0) done_.notify_one();
  }
}

}  // namespace sfft::detail::cpu
