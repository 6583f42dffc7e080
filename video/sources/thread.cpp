// SPDX-License-Identifier: Apache-2.0
// A new thread inherits the signal mask of the one that starts it.
#include "video/sources/thread.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <system_error>
#include <utility>

namespace sfft::video {

namespace {

class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

std::thread start_thread(const char* what, std::function<void()> work) {
  const BlockedSignals inherited_by_the_thread;
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    throw std::system_error(
        error.code(), fmt::format("thread creation failed for {}: raise the limits of processes (ulimit -u, "
                                  "pids.max) or of memory",
                                  what));
  }
}

void ThreadGroup::start(const char* what, std::function<void()> work) {
  threads_.emplace_back();  // allocates first, so that a running thread is never lost for lack of memory
  try {
    threads_.back() = start_thread(what, std::move(work));
  } catch (...) {
    threads_.pop_back();
    throw;
  }
}

void ThreadGroup::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace sfft::video
