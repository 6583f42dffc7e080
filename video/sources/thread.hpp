// SPDX-License-Identifier: Apache-2.0
// Threads of the programs: they leave signals to the main thread, and where none can be started the error
// says what was tried.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace sfft::video {

/// Starts a thread that blocks all signals, so that they interrupt waits of the thread that handles them and
/// no other. `what` names the thread's purpose: "the decoder". Throws std::system_error with a sentence that
/// names it if the system starts no further thread, std::bad_alloc without memory.
std::thread start_thread(const char* what, std::function<void()> work);

/// Threads that join() and the destructor wait for.
class ThreadGroup {
 public:
  ThreadGroup() = default;
  ~ThreadGroup() { join(); }
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  /// As start_thread().
  void start(const char* what, std::function<void()> work);
  void join();

 private:
  std::vector<std::thread> threads_;
};

}  // namespace sfft::video
