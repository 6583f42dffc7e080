// SPDX-License-Identifier: Apache-2.0
// Shows a progress bar on standard error.
#pragma once

#include <algorithm>
#include <string>

#include "apps/status_line.hpp"

namespace sfft::apps {

class ProgressBar {
 public:
  /// `steps`: number of steps, which should take about the same time.
  ProgressBar(int steps, bool quiet) : line_(quiet), steps_(std::max(steps, 1)) {}

  /// Shows the current activity.
  void show(const std::string& what);
  void step() { ++done_; }
  /// Clears the line before results are printed; show() brings it back.
  void clear() { line_.clear(); }

 private:
  StatusLine line_;
  int steps_, done_ = 0;
};

}  // namespace sfft::apps
