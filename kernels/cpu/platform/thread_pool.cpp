// SPDX-License-Identifier: Apache-2.0
// The caller and the workers take parts one by one, so that uneven parts balance themselves. With its first part
// a worker counts as running, and the caller waits for those that run: a job cannot end, nor the next begin,
// while somebody may look at it. Only those that sleep, and those that wake them, take a lock.
#include "kernels/cpu/platform/thread_pool.hpp"

#include <algorithm>
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

void ThreadPool::rouse(std::condition_variable& sleepers, const std::atomic<std::int64_t>& sleeping) {
  if (sleeping == 0) return;
  { const std::lock_guard lock(mutex_); }  // who is about to sleep has seen what changed, or sleeps by now
  sleepers.notify_all();
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
    n = state_ >= kOneRunning ? 0 : n + 1;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

std::int64_t ThreadPool::take(std::uint64_t beside) noexcept {
  std::uint64_t state = state_;
  while (left(state) > 0) {
    if (state_.compare_exchange_weak(state, state - 1 + beside)) return left(state);
  }
  return 0;
}

void ThreadPool::run_erased(std::int64_t parts, const void* job, Call call) {
  if (workers_.empty() || parts == 1) {
    for (std::int64_t part = 0; part < parts; ++part) call(job, part, 0);
    return;
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const auto done = [this] { return state_ == 0; };
  job_ = job;
  call_ = call;
  for (std::int64_t first = 0; first < parts; first += kMost) {
    end_ = std::min(parts, first + kMost);
    state_ = static_cast<std::uint64_t>(end_ - first);
    rouse(start_, idle_);
    for (std::int64_t rest = take(0); rest > 0; rest = take(0)) this->call(rest, 0);
    look_for(done);
    if (done()) continue;
    std::unique_lock lock(mutex_);
    ++waiting_;
    done_.wait(lock, done);
    --waiting_;
  }
}

void ThreadPool::work(std::size_t worker) {
  start(2 * worker + 1);
  start(2 * worker + 2);
  const int thread = static_cast<int>(worker) + 1;
  std::int64_t woken = 0;
  const auto ready = [this] { return stop_ || left(state_) > 0; };
  while (!stop_) {
    look_for(ready);
    if (!ready()) {
      std::unique_lock lock(mutex_);
      ++idle_;
      start_.wait(lock, [&] { return ready() || woken_ != woken; });
      --idle_;
      woken = woken_;
    }
    std::int64_t rest = take(kOneRunning);
    if (rest == 0) continue;
    for (; rest > 0; rest = take(0)) this->call(rest, thread);
    if (state_.fetch_sub(kOneRunning) == kOneRunning) rouse(done_, waiting_);
  }
}

}  // namespace sfft::detail::cpu
