// SPDX-License-Identifier: Apache-2.0
// Limits how often progress is reported, and keeps what a report throws for run_with_control().
#include "kernels/runtime/run_scope.hpp"

namespace sfft::detail {

namespace {

constexpr std::chrono::milliseconds kBetweenReports{50};

}  // namespace

bool RunScope::stopped() noexcept {
  if (stop_.stop_requested() || ended_) return true;
  if (!report_ || std::this_thread::get_id() != owner_) return false;
  const Clock::time_point now = Clock::now();
  if (now - reported_ < kBetweenReports) return false;
  reported_ = now;
  const Use none(nullptr);  // what the report calls is not part of the work
  try {
    if (report_(stage_, share_)) return false;
  } catch (...) {
    failure_ = std::current_exception();
  }
  ended_ = true;
  return true;
}

}  // namespace sfft::detail
