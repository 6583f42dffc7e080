// SPDX-License-Identifier: Apache-2.0
// A progress bar on standard error: one line rewritten on a terminal, a line now and then elsewhere.
#pragma once

#include <chrono>
#include <string>

namespace sfft::apps {

class ProgressBar {
 public:
  /// `steps` of about equal length.
  ProgressBar(int steps, bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Says what is being done now.
  void show(const std::string& what);
  void step() { ++done_; }
  /// Clears the line, so that results can be printed; show() brings it back.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  int steps_, done_ = 0;
  bool quiet_, terminal_, open_ = false;
  Clock::time_point last_ = Clock::now();
};

}  // namespace sfft::apps
