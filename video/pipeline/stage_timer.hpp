// SPDX-License-Identifier: Apache-2.0
// Measures where the time of a run goes.
#pragma once

#include <chrono>

#include "kernels/base/elapsed.hpp"

namespace sfft::video {

/// Adds the microseconds of its lifetime to a sum.
class StageTimer {
 public:
  explicit StageTimer(double& us) : us_(us) {}
  ~StageTimer() { us_ += detail::us_since(begin_); }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  double& us_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace sfft::video
