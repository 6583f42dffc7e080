// SPDX-License-Identifier: Apache-2.0
// Updates ten times per second on a terminal and once in five seconds elsewhere; the remaining time follows
// from the mean rate.
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "streams.hpp"

namespace sfft::apps {

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  finish();
}

void Progress::update(std::int64_t done, std::int64_t expected) {
  if (quiet_) return;
  const auto now = Clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
  if (now - last_ < pause) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(done) / seconds;
  std::string line;
  if (expected > 0) {
    const double left = static_cast<double>(expected - done) / rate;
    line = fmt::format("{}/{} frames ({:.0f} %), {:.0f} a second, {:.0f} s left", done, expected,
                       100.0 * static_cast<double>(done) / static_cast<double>(expected), rate,
                       left > 0 ? left : 0.0);
  } else {
    line = fmt::format("{} frames, {:.0f} a second", done, rate);
  }
  if (terminal_) {
    print(stderr, "\r{}\x1b[K", line);
    std::fflush(stderr);
    line_open_ = true;
  } else {
    print(stderr, "{}\n", line);
  }
}

void Progress::finish() {
  if (line_open_) print(stderr, "\r\x1b[K");
  line_open_ = false;
}

}  // namespace sfft::apps
