// SPDX-License-Identifier: Apache-2.0
// Shows the progress of one input on standard error.
#pragma once

#include <cstdint>

#include "apps/status_line.hpp"

namespace sfft::apps {

class Progress {
 public:
  explicit Progress(bool quiet) : line_(quiet) {}
  /// `expected`: frames, 0 or less if their number is unknown.
  void update(std::int64_t done, std::int64_t expected);

 private:
  StatusLine line_;
};

}  // namespace sfft::apps
