// SPDX-License-Identifier: Apache-2.0
// Fits a robust line to the logarithms of (true error / reported error) against the reported level, recent
// and nearby comparisons first; comparisons are spaced ever wider unless one is a surprise.
#include "sfft/tracking/calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace sfft::detail {

namespace {

/// Below this relative error there is nothing to calibrate: rounding, or an exactly sparse signal.
constexpr double kNegligible = 1e-5;
/// A report above this is not believed where nothing like it was compared before: in noise such errors were a
/// third of the true ones.
constexpr double kUnproved = 0.25;
/// Errors that differ by less than this factor, given as a logarithm, are of one level.
constexpr double kOneLevel = std::numbers::ln2;
constexpr int kPatience = 3;
constexpr std::size_t kMemory = 12;
/// Factor on a comparison's weight each time another one is made.
constexpr double kFading = 0.75;
/// Frames scatter by some tenths about their median, and erring on the safe side costs little.
constexpr double kMargin = 1.1;
/// Factors beyond these are not a matter of calibration.
const double kMin = std::log(0.02), kMax = std::log(64.0);
/// A report that looks larger than this allows is more likely a lucky frame, unless the last comparisons at
/// its level, `kWitnesses` at least, all say so.
const double kLeastAlone = std::log(0.35);
constexpr int kWitnesses = 5;
/// Weight of the prior factor of 1, in comparisons at the level in question.
constexpr double kIgnorance = 0.25, kMinWeight = 1e-6;
/// The fit: its passes, the scatter of ratios, and the squared spread of levels below which they determine no
/// slope.
constexpr int kPasses = 3;
constexpr double kScatter = 0.15, kRidge = 0.05;
/// How far a true error may be above what is expected if the interval to the next comparison is to grow;
/// after a surprise it shrinks. Below, where reports are on the safe side, it may be as far off as a
/// contradiction.
const double kAgreement = std::log(1.3);
constexpr std::int64_t kMinStep = 4, kShortStep = 8, kNextStep = 2, kManyFrames = 16;
/// A true error this many times the reported one means that earlier comparisons no longer hold.
const double kContradiction = std::log(1.7);

}  // namespace

void Calibration::restart() {
  const double scatter = scatter_;
  *this = Calibration(interval_);
  scatter_ = scatter;
}

/// For Gaussian errors, the variance of log Σ|error|² over `count` complex coefficients is the trigamma
/// function.
void Calibration::coefficients(std::int64_t count) noexcept {
  const double k = static_cast<double>(std::max<std::int64_t>(count, 1));
  const double trigamma =
      1 / (k * k) + 1 / (k + 1) + 0.5 / ((k + 1) * (k + 1)) + 1 / (6 * std::pow(k + 1, 3));
  scatter_ = std::sqrt(trigamma) / 2;
}

/// Distance in level to the nearest comparison.
double Calibration::nearest(double level) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Comparison& one : known_) least = std::min(least, std::fabs(one.level - level));
  return least;
}

/// The least log of a factor that is believed at this level.
double Calibration::least(double level) const {
  double largest = kMin;
  int witnesses = 0;
  for (auto one = known_.rbegin(); one != known_.rend() && witnesses < kWitnesses; ++one) {
    if (std::fabs(one->level - level) > kOneLevel) continue;
    largest = std::max(largest, one->log_ratio);
    ++witnesses;
  }
  return witnesses < kWitnesses ? kLeastAlone : std::min(kLeastAlone, largest);
}

bool Calibration::due(double reported) {
  ++frames_;
  if (interval_ == 0 || !(reported > kNegligible)) return false;
  const bool unlike = nearest(std::log(reported)) > kOneLevel;  // also where nothing was compared at all
  if (frames_ >= next_ || (unlike && reported > kUnproved)) return true;
  const bool elsewhere = !known_.empty() && unlike;
  elsewhere_ = elsewhere ? elsewhere_ + 1 : 0;
  if (elsewhere_ < kPatience || frames_ - last_ < least_gap_) return false;
  least_gap_ = std::min<std::int64_t>(2 * least_gap_, interval_);
  return true;
}

/// Counts a frame of which nothing is known; true: it is due. One that is overdue has errors to wait for.
bool Calibration::scheduled() noexcept {
  return ++frames_ == next_ && interval_ != 0;
}

/// A comparison that found what is expected.
void Calibration::agreed(double reported) {
  compared(factor(reported) / kMargin, 1, reported);
}

std::int64_t Calibration::frames_to_next() const noexcept {
  const bool waiting = interval_ != 0 && frames_ < next_;
  return waiting ? next_ - frames_ : std::numeric_limits<std::int64_t>::max();
}

double Calibration::factor(double reported) const {
  if (known_.empty() || !(reported > kNegligible)) return 1;
  const double level = std::log(reported);
  std::array<double, kMemory> nearness{};
  double fresh = 1;
  for (std::size_t i = known_.size(); i-- > 0; fresh *= kFading) {
    const double distance = known_[i].level - level;
    nearness[i] = fresh * std::exp(-0.5 * distance * distance / (kOneLevel * kOneLevel));
  }
  // A line through the comparisons, weighted towards nearby ones and fitted so that an outlier hardly moves
  // it.
  double mean = 0, slope = 0, all = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    double weights = 0, levels = 0, ratios = 0, squares = 0, products = 0;
    all = 0;
    for (std::size_t i = known_.size(); i-- > 0;) {
      const double distance = known_[i].level - level, ratio = known_[i].log_ratio, near = nearness[i];
      const double off = std::fabs(ratio - mean - slope * distance);
      const double weight = pass == 0 ? near : near / std::max(1.0, off / kScatter);
      all += near;
      weights += weight;
      levels += weight * distance;
      ratios += weight * ratio;
      squares += weight * distance * distance;
      products += weight * distance * ratio;
    }
    if (!(weights > kMinWeight)) return kMargin;
    squares -= levels * levels / weights;
    products -= levels * ratios / weights;
    // The slope lies between 0, true errors follow the report, and −1, they stay the same whatever is
    // reported.
    slope = std::clamp(products / (squares + kRidge), -1.0, 0.0);
    mean = (ratios - slope * levels) / weights;
  }
  return std::exp(std::clamp(all / (all + kIgnorance) * mean, least(level), kMax)) * kMargin;
}

void Calibration::bring_forward() noexcept {
  next_ = std::min(next_, frames_);
  brought_forward_ = true;
}

void Calibration::compared(double true_l2, double reported_l2, double reported) {
  // Where somebody else asks for comparisons in short order, a report that was too large is no reason for
  // more, and one that was too small cannot wait for them.
  const bool more_come = std::exchange(brought_forward_, false) && frames_ - last_ <= kManyFrames;
  last_ = frames_;
  elsewhere_ = 0;
  if (reported_l2 > 0 && reported > kNegligible) {
    const double log_ratio = std::log(std::max(true_l2, 1e-300) / reported_l2);
    const double surprise = known_.empty() ? 0 : log_ratio - std::log(factor(reported) / kMargin);
    const double agreement = std::max(kAgreement, 1.5 * scatter_);
    if (surprise > std::max(kContradiction, 2 * scatter_)) known_.clear();
    if (more_come && surprise > agreement)
      step_ = kNextStep;
    else if (!more_come && (surprise > agreement || surprise < -std::max(kContradiction, 3 * scatter_)))
      step_ = std::clamp(step_ / 2, kMinStep, kShortStep);
    if (known_.size() == kMemory) known_.erase(known_.begin());
    known_.push_back({std::log(reported), std::clamp(log_ratio, kMin, kMax)});
  }
  if (frames_ < next_) return;  // the comparison was out of turn
  step_ = longer(step_);
  next_ = frames_ + step_;
}

std::int64_t Calibration::longer(std::int64_t step) const noexcept {
  return std::min<std::int64_t>(step + (step + 1) / 2, std::max(interval_, 1));
}

}  // namespace sfft::detail
