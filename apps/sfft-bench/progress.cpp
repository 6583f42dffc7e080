// SPDX-License-Identifier: Apache-2.0
// Rewrites one line with a carriage return on a terminal; prints at most one line per five seconds elsewhere.
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace sfft::apps {

ProgressBar::ProgressBar(int steps, bool quiet)
    : steps_(std::max(steps, 1)), quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  clear();
}

void ProgressBar::show(const std::string& what) {
  if (quiet_) return;
  const auto now = Clock::now();
  if (!terminal_ && now - last_ < std::chrono::seconds(5)) return;
  last_ = now;
  constexpr int kWidth = 30;
  const int full = std::min(kWidth, kWidth * done_ / steps_);
  const std::string bar = std::string(static_cast<std::size_t>(full), '#') +
                          std::string(static_cast<std::size_t>(kWidth - full), '.');
  const std::string line = fmt::format("[{}] {:3d} %  {}", bar, std::min(100, 100 * done_ / steps_), what);
  if (terminal_) {
    fmt::print(stderr, "\r{}\x1b[K", line);
    std::fflush(stderr);
    open_ = true;
  } else {
    fmt::print(stderr, "{}\n", line);
  }
}

void ProgressBar::clear() {
  if (open_) fmt::print(stderr, "\r\x1b[K");
  open_ = false;
}

}  // namespace sfft::apps
