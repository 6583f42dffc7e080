// SPDX-License-Identifier: Apache-2.0
// Caller and workers take parts one by one, first from their own ranges, then from others', so uneven parts
// and late threads balance themselves. Threads count themselves in before they check whether a job is open;
// the caller closes the job before it waits for the count to reach zero. Therefore no thread is ever inside a
// finished job, and threads that need not sleep take no mutex. This order relies on sequentially consistent
// atomics.
#include "kernels/cpu/platform/thread_pool.hpp"

#include <algorithm>
#include <exception>

#include "kernels/runtime/host_resources.hpp"

namespace sfft::detail::cpu {

// Starting a thread takes tens of microseconds. Every worker starts two more, so the caller waits
// for only one.
ThreadPool::ThreadPool(int threads, Idle idle)
    : looks_(idle == Idle::look && threads <= usable_processors()),
      ranges_(static_cast<std::size_t>(std::max(threads, 1))),
      workers_(ranges_.size() - 1) {
  if (!workers_.empty()) start(0);
}

void ThreadPool::wake() noexcept {
  if (!looks_ || sleepers_ == 0) return;
  {
    // Threads that have just been woken pass the mutex on to each other, so this thread need not queue for
    // it.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
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
  for (std::thread& worker : workers_) {  // the thread that started it has ended by then
    if (worker.joinable()) worker.join();
  }
}

void ThreadPool::start(std::size_t worker) {
  if (worker >= workers_.size()) return;
  try {
    workers_[worker] = std::thread([this, worker] { work(worker); });
  } catch (const std::exception&) {  // no more threads, or no memory for one: the running ones share the work
    refused_ = true;
  }
}

/// Spins for some hundred microseconds without the mutex; longer while others run a job, because the next one
/// tends to follow at once, and waking up takes tens of microseconds.
template <class Ready>
void ThreadPool::look_for(const Ready& ready) const {
  constexpr int kTimes = 4000, kMax = 16000;
  for (int n = 0, all = 0; looks_ && n < kTimes && all < kMax && !ready(); ++all) {
    n = running_ > 0 ? 0 : n + 1;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
  }
}

void ThreadPool::drain(int thread) {
  ++running_;
  if (open_) {
    for (std::size_t i = 0; i < used_ranges_; ++i) {
      Range& range = ranges_[(static_cast<std::size_t>(thread) + i) % used_ranges_];
      while (range.next < range.end) {
        const std::int64_t part = range.next++;
        if (part < range.end) call_(job_, part, thread);
      }
    }
    open_ = false;  // so that no thread searches in vain during the last parts
  }
  if (--running_ > 0 || !caller_sleeps_) return;
  { const std::lock_guard lock(mutex_); }  // once the mutex is free, the caller is asleep and can be notified
  done_.notify_one();
}

void ThreadPool::run_erased(std::int64_t parts, const void* job, Call call) {
  if (workers_.empty() || parts <= 1) {
    for (std::int64_t part = 0; part < parts; ++part) call(job, part, 0);
    return;
  }
  job_ = job;
  call_ = call;
  used_ranges_ = static_cast<std::size_t>(std::min<std::int64_t>(threads(), parts));
  for (std::size_t i = 0; i < used_ranges_; ++i) {
    const auto at = static_cast<std::int64_t>(i), all = static_cast<std::int64_t>(used_ranges_);
    ranges_[i].next = parts * at / all;
    ranges_[i].end = parts * (at + 1) / all;
  }
  open_ = true;
  if (sleepers_ > 0) {
    { const std::lock_guard lock(mutex_); }
    start_.notify_all();
  }
  drain(0);
  look_for([this] { return running_ == 0; });
  if (running_ == 0) return;
  std::unique_lock lock(mutex_);
  caller_sleeps_ = true;
  done_.wait(lock, [this] { return running_ == 0; });
  caller_sleeps_ = false;
}

void ThreadPool::work(std::size_t worker) {
  start(2 * worker + 1);
  start(2 * worker + 2);
  const int thread = static_cast<int>(worker) + 1;
  while (!stop_) {
    const std::int64_t woken = woken_;
    look_for([this] { return stop_ || open_; });
    if (!stop_ && !open_) {
      std::unique_lock lock(mutex_);
      ++sleepers_;
      start_.wait(lock, [&] { return stop_ || open_ || woken_ != woken; });
      --sleepers_;
    }
    if (open_) drain(thread);
  }
}

}  // namespace sfft::detail::cpu
