// SPDX-License-Identifier: Apache-2.0
// A thread for background work of a stream: to start one takes as long as some ten frames, and on
// virtual machines to wake one up takes longer than a dense transform.
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

/// For how long a thread of a stream stays awake: while frames of a batch are awaited and decided about.
constexpr std::chrono::microseconds kAwake{2000};

/// Does one job after another, in the order in which they were given. The thread is started by the first.
/// The destructor waits for all.
class Worker {
 public:
  Worker() = default;
  /// For jobs that follow each other closely and that the caller will wait for: stays awake for this time
  /// after each.
  explicit Worker(std::chrono::microseconds awake) : awake_(awake) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Has the thread stay awake from now on, as after a job.
  void wake() {
    give([] {});
  }
  /// The job may not throw. Throws std::system_error if no thread can be created.
  void give(std::function<void()> job);
  /// The same for a job with a result, or an exception.
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
  std::atomic<bool> called_{false};  ///< there are jobs, or it ends
  std::thread thread_;
};

}  // namespace sfft::detail
