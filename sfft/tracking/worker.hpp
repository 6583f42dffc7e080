// SPDX-License-Identifier: Apache-2.0
// A thread that stays for what goes on beside a stream: to start one takes as long as some ten frames.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace sfft::detail {

/// Does one job after another, in the order in which they were given. The thread is started by the first.
/// The destructor waits for all.
class Worker {
 public:
  Worker() = default;
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// The job may not throw. Throws std::system_error where there is no thread to be had.
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

  std::mutex mutex_;
  std::condition_variable given_;
  std::deque<std::function<void()>> jobs_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace sfft::detail
