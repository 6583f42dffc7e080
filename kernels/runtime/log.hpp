// SPDX-License-Identifier: Apache-2.0
// Sends messages about decisions to the receiver of sfft/log.hpp.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

namespace sfft::detail {

/// The receiver of the process. Thread-safe.
class Log {
 public:
  using Receiver = std::function<void(std::string_view topic, std::string_view message)>;

  static bool wanted() noexcept { return wanted_.load(std::memory_order_relaxed); }
  /// Replaces the receiver; see set_log().
  static void set(Receiver receiver);
  /// Passes a message on, unless the receiver itself causes it.
  static void send(const char* topic, const std::string& message) noexcept;

 private:
  inline static constinit std::atomic<bool> wanted_{false};
};

/// Logs what message() returns. Costs one comparison if nobody listens; a message that cannot be made for
/// lack of memory is lost.
template <class Message>
void log_decision(const char* topic, const Message& message) noexcept {
  if (!Log::wanted()) return;
  try {
    Log::send(topic, message());
  } catch (...) {
  }
}

}  // namespace sfft::detail
