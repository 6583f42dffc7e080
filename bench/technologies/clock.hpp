// SPDX-License-Identifier: Apache-2.0
// Measures the wall time of one run.
#pragma once

#include <chrono>

#include "kernels/runtime/elapsed.hpp"

namespace sfft::technologies {

class Stopwatch {
 public:
  double us() const { return detail::us_since(start_); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sfft::technologies
