// SPDX-License-Identifier: Apache-2.0
// Calls the receiver under a lock, so that set_log() can wait for it.
#include "kernels/runtime/log.hpp"

#include <mutex>
#include <utility>

#include "kernels/runtime/run_scope.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

struct Listening {
  std::mutex mutex;
  Log::Receiver receiver;
};

/// Never destroyed, because threads may log until the process ends.
Listening& listening() {
  static auto* const one = new Listening;
  return *one;
}

/// On the thread that calls the receiver, which holds the lock.
constinit thread_local bool in_receiver = false;

}  // namespace

void Log::set(Receiver receiver) {
  if (in_receiver) {
    throw Error(ErrorCode::invalid_argument,
                "the receiver of the log cannot replace itself: call set_log() outside of it");
  }
  Listening& own = listening();
  const std::lock_guard lock(own.mutex);
  own.receiver.swap(receiver);
  wanted_.store(static_cast<bool>(own.receiver), std::memory_order_relaxed);
}

void Log::send(const char* topic, const std::string& message) noexcept {
  if (in_receiver) return;
  try {
    Listening& own = listening();
    const std::lock_guard lock(own.mutex);
    if (!own.receiver) return;
    const RunScope::Use none(nullptr);  // what the receiver calls is not part of the work
    in_receiver = true;
    try {
      own.receiver(topic, message);
    } catch (...) {  // its exceptions are its own business
    }
    in_receiver = false;
  } catch (...) {  // no memory, or no lock
  }
}

}  // namespace sfft::detail
