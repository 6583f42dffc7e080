// SPDX-License-Identifier: Apache-2.0
// Measures the wall time of one run.
#pragma once

#include <chrono>

namespace sfft::technologies {

class Stopwatch {
 public:
  double us() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sfft::technologies
