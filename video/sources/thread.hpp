// SPDX-License-Identifier: Apache-2.0
// Starts the programs' threads. They leave signals to the main thread, and if one cannot be started the error
// names its purpose.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace sfft::video {

/// Starts a thread that blocks all signals, so that signals interrupt only the thread that handles them.
/// `what` names the thread's purpose, such as "the decoder". Throws std::system_error with a sentence that
/// contains `what` if the system cannot start a thread, and std::bad_alloc without memory.
std::thread start_thread(const char* what, std::function<void()> work);

/// Threads that join() and the destructor wait for.
class ThreadGroup {
 public:
  ThreadGroup() = default;
  ~ThreadGroup() { join(); }
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  /// Starts a thread of the group: see start_thread().
  void start(const char* what, std::function<void()> work);
  void join();

 private:
  std::vector<std::thread> threads_;
};

}  // namespace sfft::video
