#include "sfft/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace sfft::detail {

namespace {

/// Below this relative error there is nothing to calibrate: rounding, or an exactly sparse signal.
constexpr double kNegligible = 1e-5;
/// Errors that differ by less than this factor, as a logarithm, are of one level.
constexpr double kOneLevel = std::numbers::ln2;
constexpr int kPatience = 3;
constexpr std::size_t kMemory = 8;
/// Frames scatter about their median by some tenths: erring on the safe side costs little.
constexpr double kMargin = 1.1;
/// A factor beyond is no matter of calibration. What looks far too large is rather a frame that was lucky.
const double kLeast = std::log(0.35), kMost = std::log(16.0);
/// Weight of knowing nothing, in comparisons at the level asked for.
constexpr double kIgnorance = 0.25, kLeastWeight = 1e-6;
/// Of the fit: passes, what ratios scatter by, and a squared spread of levels below which they tell no slope.
constexpr int kPasses = 3;
constexpr double kScatter = 0.15, kRidge = 0.05;
/// A true error this many times the one reported says that what was known holds no longer.
const double kContradiction = std::log(2.0);

}  // namespace

void Calibration::restart() {
  *this = Calibration(interval_);
}

/// Distance in level to the nearest comparison.
double Calibration::nearest(double level) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Comparison& one : known_) least = std::min(least, std::fabs(one.level - level));
  return least;
}

bool Calibration::due(double reported) {
  ++frames_;
  if (interval_ == 0 || !(reported > kNegligible)) return false;
  if (frames_ >= next_) return true;
  const bool elsewhere = !known_.empty() && nearest(std::log(reported)) > kOneLevel;
  elsewhere_ = elsewhere ? elsewhere_ + 1 : 0;
  if (elsewhere_ < kPatience || frames_ - last_ < least_gap_) return false;
  least_gap_ = std::min<std::int64_t>(2 * least_gap_, interval_);
  return true;
}

double Calibration::factor(double reported) const {
  if (known_.empty() || !(reported > kNegligible)) return 1;
  const double level = std::log(reported);
  // A line through the comparisons, nearby ones first, fitted so that a single one far off hardly moves it.
  double mean = 0, slope = 0, all = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    double weights = 0, levels = 0, ratios = 0, squares = 0, products = 0;
    all = 0;
    for (const Comparison& one : known_) {
      const double distance = one.level - level;
      const double near = std::exp(-0.5 * distance * distance / (kOneLevel * kOneLevel));
      const double off = std::fabs(one.log_ratio - mean - slope * distance);
      const double weight = pass == 0 ? near : near / std::max(1.0, off / kScatter);
      all += near;
      weights += weight;
      levels += weight * distance;
      ratios += weight * one.log_ratio;
      squares += weight * distance * distance;
      products += weight * distance * one.log_ratio;
    }
    if (!(weights > kLeastWeight)) return kMargin;
    squares -= levels * levels / weights;
    products -= levels * ratios / weights;
    // From errors that follow the report to errors that stay what they are.
    slope = std::clamp(products / (squares + kRidge), -1.0, 0.0);
    mean = (ratios - slope * levels) / weights;
  }
  return std::exp(std::clamp(all / (all + kIgnorance) * mean, kLeast, kMost)) * kMargin;
}

void Calibration::compared(double true_l2, double reported_l2, double reported) {
  last_ = frames_;
  while (next_ <= frames_) {
    next_ += step_;
    step_ = std::min<std::int64_t>(2 * step_, std::max(interval_, 1));
  }
  elsewhere_ = 0;
  if (!(reported_l2 > 0) || !(reported > 0)) return;
  const double ratio = std::log(std::max(true_l2, 1e-300) / reported_l2);
  if (!known_.empty() && ratio - std::log(factor(reported)) > kContradiction) {
    known_.clear();
    next_ = frames_ + 2;
    step_ = 2;
  }
  if (known_.size() == kMemory) known_.erase(known_.begin());
  known_.push_back({std::log(reported), std::clamp(ratio, kLeast, kMost)});
}

}  // namespace sfft::detail
