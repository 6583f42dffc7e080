// SPDX-License-Identifier: Apache-2.0
#include "sfft/calibration.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::detail {

namespace {

/// Below this relative error there is nothing to calibrate: rounding, or an exactly sparse signal.
constexpr double kNegligible = 1e-5;
/// Reported errors this many times those of the last comparison are another regime, if they stay.
constexpr double kAnotherLevel = 2;
constexpr int kPatience = 3;
constexpr std::size_t kMemory = 5;  ///< comparisons that the factor is the median of: one may be far off
/// Frames scatter about their median by some tenths: erring on the safe side costs little.
constexpr double kMargin = 1.1;
constexpr double kLeast = 0.25, kMost = 16;  ///< a factor beyond is no matter of calibration

}  // namespace

void Calibration::restart() {
  *this = Calibration(interval_);
}

bool Calibration::due(double reported) {
  ++frames_;
  if (interval_ == 0 || !(reported > kNegligible)) return false;
  if (frames_ >= next_) return true;
  const bool elsewhere =
      !ratios_.empty() && (reported > kAnotherLevel * level_ || reported * kAnotherLevel < level_);
  elsewhere_ = elsewhere ? elsewhere_ + 1 : 0;
  if (elsewhere_ < kPatience || frames_ - last_ < least_gap_) return false;
  least_gap_ = std::min<std::int64_t>(2 * least_gap_, interval_);
  return true;
}

void Calibration::compared(double true_l2, double reported_l2, double reported) {
  last_ = frames_;
  while (next_ <= frames_) next_ = std::min(2 * next_, next_ + interval_);
  elsewhere_ = 0;
  level_ = reported;
  if (!(reported_l2 > 0)) return;
  const double ratio = std::clamp(true_l2 / reported_l2, kLeast / kMargin, kMost / kMargin);
  if (ratios_.size() == kMemory) ratios_.erase(ratios_.begin());
  ratios_.push_back(ratio);
  std::vector<double> sorted = ratios_;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t upper = sorted.size() / 2, lower = (sorted.size() - 1) / 2;
  factor_ = kMargin * std::sqrt(sorted[lower] * sorted[upper]);
}

}  // namespace sfft::detail
