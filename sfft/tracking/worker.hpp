// SPDX-License-Identifier: Apache-2.0
// A thread for background work of a stream. Starting a thread takes as long as about ten frames. On virtual
// machines, waking one up takes longer than a dense transform.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace sfft::detail {

/// How long a stream's thread stays awake after a job: long enough to wait for the frames of a batch and
/// decide about them.
constexpr std::chrono::microseconds kAwake{2000};

/// Runs jobs one after another, in the order in which they were given. The first job starts the thread. The
/// destructor waits for all jobs.
class Worker {
 public:
  Worker() = default;
  /// For jobs in close succession that the caller waits for: the thread stays awake for this time after each.
  explicit Worker(std::chrono::microseconds awake) : awake_(awake) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Starts or wakes up the thread, which then stays awake as after a job.
  void wake() {
    give([] {});
  }
  /// Enqueues a job, which must not throw. Throws std::system_error if no thread can be created.
  void give(std::function<void()> job);
  /// The same for a job that returns a result or throws; the future delivers either.
  template <class Job>
  auto ask(Job job) -> std::future<decltype(job())> {
    auto task = std::make_shared<std::packaged_task<decltype(job())()>>(std::move(job));
    auto result = task->get_future();
    give([task] { (*task)(); });
    return result;
  }

 private:
  void work();
  void stay_awake(std::unique_lock<std::mutex>& lock);

  const std::chrono::microseconds awake_{0};
  std::mutex mutex_;
  std::condition_variable given_;
  std::deque<std::function<void()>> jobs_;
  bool ends_ = false;
  std::atomic<bool> called_{false};  ///< there are jobs, or the worker is ending
  std::thread thread_;
};

}  // namespace sfft::detail
