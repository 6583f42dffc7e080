// SPDX-License-Identifier: Apache-2.0
// The caller and the workers take parts one by one under a mutex, so that uneven parts balance themselves.
#include "kernels/cpu/platform/thread_pool.hpp"

#include <exception>

namespace sfft::detail::cpu {

// Starting a thread takes tens of microseconds. Every worker starts two more, so that the caller waits for
// one.
ThreadPool::ThreadPool(int threads) : workers_(static_cast<std::size_t>(threads > 1 ? threads - 1 : 0)) {
  if (!workers_.empty()) start(0);
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
  }
}

void ThreadPool::drain(int thread, std::unique_lock<std::mutex>& lock) {
  while (next_ < parts_) {
    const std::int64_t part = next_++;
    ++running_;
    lock.unlock();
    call_(job_, part, thread);
    lock.lock();
    --running_;
  }
}

void ThreadPool::run_erased(std::int64_t parts, const void* job, Call call) {
  if (workers_.empty() || parts == 1) {
    for (std::int64_t part = 0; part < parts; ++part) call(job, part, 0);
    return;
  }
  std::unique_lock lock(mutex_);
  job_ = job;
  call_ = call;
  parts_ = parts;
  next_ = 0;
  start_.notify_all();
  drain(0, lock);
  done_.wait(lock, [this] { return running_ == 0; });
}

void ThreadPool::work(std::size_t worker) {
  start(2 * worker + 1);
  start(2 * worker + 2);
  const int thread = static_cast<int>(worker) + 1;
  std::unique_lock lock(mutex_);
  while (true) {
    start_.wait(lock, [this] { return stop_ || next_ < parts_; });
    if (stop_) return;
    drain(thread, lock);
    if (running_ == 0) done_.notify_one();
  }
}

}  // namespace sfft::detail::cpu
