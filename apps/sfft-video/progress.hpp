// SPDX-License-Identifier: Apache-2.0
// Progress on standard error: one line rewritten on a terminal, a line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>

namespace sfft::apps {

class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::int64_t done, std::int64_t expected);
  /// Ends the rewritten line, so that what is printed next starts on its own.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  bool quiet_, terminal_;
  bool line_open_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace sfft::apps
