// SPDX-License-Identifier: Apache-2.0
// Thresholds for references, and the waits between decisions.
#include "sfft/tracking/reference_policy.hpp"

#include <algorithm>

namespace sfft::detail {

namespace {

/// Differences are worthwhile if their energy outside the support is less than kRepeats times that of the
/// frames themselves, and no longer if it is more than kRepeatsNoMore times that.
constexpr double kRepeats = 0.3, kRepeatsNoMore = 1;
/// A larger relative error is caused by the differences themselves if the support changes by more energy than
/// there is outside it, because a plan for differences expects small ones. Differences fail after kFailures
/// such frames, each within kLately frames of the one before.
constexpr double kLargeError = 0.25;
constexpr int kFailures = 3;
constexpr std::int64_t kLately = 64;
/// Frames after which differences that failed are tried again.
constexpr std::int64_t kTryAgain = 1024;

}  // namespace

int ReferencePolicy::next_step(int step) noexcept {
  constexpr int kLongestWait = 256;
  return std::min(2 * step, kLongestWait);
}

void ReferencePolicy::decided(std::int64_t frame) noexcept {
  decision_step_ = next_step(decision_step_);
  next_decision_ = frame + decision_step_;
}

bool ReferencePolicy::may_take(std::int64_t frame, double error) noexcept {
  ++tests_;
  return error > kExact && frame >= next_reference_;
}

bool ReferencePolicy::repeats(const StreamMemory::Change& change, double tail) noexcept {
  return change.outside < kRepeats * tail && change.support < tail;
}

bool ReferencePolicy::departs(const StreamMemory::Change& change, double tail) noexcept {
  departures_ = change.outside > kRepeatsNoMore * tail ? departures_ + 1 : 0;
  return departing();
}

bool ReferencePolicy::large(double error) noexcept {
  return error > kLargeError;
}

bool ReferencePolicy::differences_fail(const StreamMemory::Change& change, double tail, double error,
                                       std::int64_t frame) noexcept {
  if (!(large(error) && change.support > tail)) return false;
  failures_ = frame - failed_at_ < kLately ? failures_ + 1 : 1;
  failed_at_ = frame;
  if (failures_ < kFailures) return false;
  next_reference_ = frame + kTryAgain;
  return true;
}

}  // namespace sfft::detail
