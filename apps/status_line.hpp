// SPDX-License-Identifier: Apache-2.0
// A progress line on standard error: rewritten on a terminal, printed now and then elsewhere.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace sfft::apps {

class StatusLine {
 public:
  explicit StatusLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether another line is due: after `pause` on a terminal, after five seconds elsewhere.
  bool due(std::chrono::milliseconds pause = std::chrono::milliseconds(100)) {
    if (quiet_ || Clock::now() - last_ < (terminal_ ? pause : std::chrono::milliseconds(5000))) return false;
    last_ = Clock::now();
    return true;
  }
  void show(const std::string& text) {
    std::fputs((terminal_ ? '\r' + text + "\x1b[K" : text + '\n').c_str(), stderr);
    std::fflush(stderr);
    open_ = terminal_;
  }
  /// Erases a rewritten line, so that the next output starts on a clean line.
  void clear() {
    if (open_) std::fputs("\r\x1b[K", stderr);
    open_ = false;
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  bool quiet_, terminal_, open_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace sfft::apps
