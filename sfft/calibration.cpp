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
constexpr int kMemory = 4;  ///< comparisons that the factor is a mean of
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
      comparisons_ > 0 && (reported > kAnotherLevel * level_ || reported * kAnotherLevel < level_);
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
  comparisons_ = std::min(comparisons_ + 1, kMemory);
  log_ratio_ += (std::log(ratio) - log_ratio_) / comparisons_;
  factor_ = kMargin * std::exp(log_ratio_);
}

}  // namespace sfft::detail
