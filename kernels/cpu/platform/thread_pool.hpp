// SPDX-License-Identifier: Apache-2.0
// A few worker threads that run the parts of one job. A workspace owns the pool.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/runtime/memory_budget.hpp"
#include "kernels/runtime/run_scope.hpp"

namespace sfft::detail::cpu {

/// run(parts, job) calls job(part, thread) for every part, on the caller's thread (0) and the workers, and
/// returns when all are done. One run at a time. Jobs must not throw. If jobs have the same number of parts,
/// a thread mostly gets the same parts each time, whose data may still be in its caches.
class ThreadPool {
 public:
  /// Idle threads sleep at once, or spin for a while first. If they spin, back-to-back jobs start within a
  /// few microseconds instead of tens.
  enum class Idle { sleep, look };

  /// Has fewer threads if the system refuses to start more; the caller's thread is always available.
  explicit ThreadPool(int threads, Idle idle = Idle::sleep);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The maximum number of threads that run a job. Jobs receive thread numbers below it.
  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }
  /// Announces that a job will follow soon: sleeping threads start to spin (Idle::look).
  void wake() noexcept;
  /// Whether the system has started every thread so far.
  bool complete() const noexcept { return !refused_; }

  template <class Job>
  void run(std::int64_t parts, const Job& job) {
    run_erased(parts, &job, [](const void* erased, std::int64_t part, int thread) {
      (*static_cast<const Job*>(erased))(part, thread);
    });
  }

 private:
  using Call = void (*)(const void* job, std::int64_t part, int thread);
  void run_erased(std::int64_t parts, const void* job, Call call);
  void start(std::size_t worker);
  void work(std::size_t worker);
  void drain(int thread);
  template <class Ready>
  void look_for(const Ready& ready) const;

  const bool looks_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  // Written only while no job is open.
  const void* job_ = nullptr;
  Call call_ = nullptr;
  /// Parts next … end − 1 of the open job. A thread takes these before it takes parts from other ranges.
  struct Range {
    alignas(64) std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };
  std::vector<Range> ranges_;
  std::size_t used_ranges_ = 0;
  alignas(64) std::atomic<bool> open_{false};         ///< parts may be left
  alignas(64) std::atomic<std::int64_t> running_{0};  ///< threads that may be in the job
  std::atomic<std::int64_t> sleepers_{0}, woken_{0};
  std::atomic<bool> caller_sleeps_{false}, stop_{false}, refused_{false};
  std::vector<std::thread> workers_;  ///< worker w is started by worker (w − 1)/2, or was refused
};

/// Calls job(i, thread) for i < count on the threads of a pool, or on the caller's thread
/// without one. Jobs may throw: a pool still calls all of them, then rethrows the
/// exception of the lowest-numbered job. Their memory counts in the caller's budget. Jobs may poll
/// (kernels/runtime/run_scope.hpp), and no job begins after a request to stop.
template <class Job>
void for_each(ThreadPool* pool, std::size_t count, const Job& job) {
  LoopPolls polls(static_cast<std::int64_t>(count));
  if (pool == nullptr) {
    for (std::size_t i = 0; i < count; ++i) {
      polls.poll();
      job(i, 0);
    }
    return;
  }
  std::vector<std::exception_ptr> failures(count);
  MemoryBudget* const budget = MemoryBudget::current();
  pool->run(static_cast<std::int64_t>(count), [&](std::int64_t i, int thread) {
    const auto at = static_cast<std::size_t>(i);
    const RunScope::Use use(polls.scope(), polls.in_part());
    const MemoryBudget::Use counted(budget);
    try {
      polls.poll();
      job(at, thread);
    } catch (...) {
      failures[at] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace sfft::detail::cpu
