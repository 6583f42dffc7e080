// SPDX-License-Identifier: Apache-2.0
// A signal handler sets a flag that the measuring loops poll. Free memory is read from /proc/meminfo.
#include "run_control.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <fstream>
#include <limits>

#include "sfft/error.hpp"

namespace sfft::apps {

namespace {

std::atomic<bool> stop_requested{false};

extern "C" void on_signal(int number) {
  if (stop_requested.exchange(true)) {
    signal(number, SIG_DFL);
    raise(number);
  }
}

/// Returns no limit if the system does not report one.
std::int64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string key, rest; file >> key && std::getline(file, rest);) {
    if (key == "MemAvailable:") return 1024 * std::stoll(rest);
  }
  return std::numeric_limits<std::int64_t>::max();
}

}  // namespace

void install_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupt_requested() noexcept {
  return stop_requested;
}

void check_interrupt() {
  if (interrupt_requested()) throw Interrupted();
}

void require_memory(std::int64_t bytes, const std::string& what) {
  const std::int64_t available = available_bytes();
  if (bytes <= available) return;
  throw Error(ErrorCode::out_of_memory,
              fmt::format("{} needs about {:.1f} GB, and {:.1f} GB are available", what,
                          static_cast<double>(bytes) * 1e-9, static_cast<double>(available) * 1e-9));
}

}  // namespace sfft::apps
