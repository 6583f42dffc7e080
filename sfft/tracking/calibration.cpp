// SPDX-License-Identifier: Apache-2.0
// Fits a robust line to log(true error / reported error) against the reported level. Recent comparisons weigh
// more, as do those with a similar level and shape of change. Intervals between comparisons grow until one
// comparison is surprising.
#include "sfft/tracking/calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace sfft::detail {

namespace {

/// Relative errors below this are not calibrated: they are rounding, or the signal is exactly sparse.
constexpr double kNegligible = 1e-5;
/// A report above this is not trusted if nothing similar was compared before: in noise, such reports were a
/// third of the true errors.
constexpr double kUnproved = 0.25;
/// Errors whose logarithms differ by less than this have one level.
constexpr double kOneLevel = std::numbers::ln2;
/// The same for the components of a change's shape. Within one kind of change they scatter by 0.05 to 0.4;
/// between kinds with different factors they mostly differ by 1 to 5.
constexpr double kOneShape = 0.6;
/// The same in units of the scatter of a true error. Changes are also sums over the coefficients, and with
/// few of these they scatter as well.
constexpr double kShapeScatters = 6;
/// A frame is unlike a comparison if their distance, in the units above, exceeds kUnlike. Several such frames
/// in a row cause a comparison, or a single one beyond kFar. Both limits double as the budget for unscheduled
/// comparisons is used up.
constexpr double kUnlike = 1.3, kFar = 2.5;
constexpr int kUnlikeFrames = 3;
/// Frames per unscheduled comparison in the long run.
constexpr double kRefill = 64;
/// Unscheduled comparisons that must remain in reserve when a kind of change is compared again.
constexpr double kSpare = 2;
constexpr std::size_t kMemory = 16;
/// The last comparisons, which represent the present kinds of change.
constexpr std::size_t kRecent = 4;
/// Factor on a comparison's weight for each later comparison nearby.
constexpr double kFading = 0.75;
/// A full memory drops the oldest comparison that has this many others nearby.
constexpr int kReplaced = 3;
/// Errors of single frames scatter by some tenths about their median, and a report that is slightly too large
/// does little harm.
constexpr double kMargin = 1.1;
/// Logarithms of the smallest and largest factor. Anything beyond is not a matter of calibration.
const double kMin = std::log(0.02), kMax = std::log(64.0);
/// Log of the smallest factor that needs no evidence. A smaller one more likely stems from a lucky frame,
/// unless the last kMinSimilar comparisons nearby all agree.
const double kMinAlone = std::log(0.35);
constexpr int kMinSimilar = 5;
/// The factor that is assumed if nothing similar was compared: its weight, as a number of comparisons, and
/// its log. Few kinds of change have a factor more than twice as large.
constexpr double kIgnorance = 0.25, kMinWeight = 1e-6;
const double kUnknownFactor = std::log(1.5);
/// The fit: number of passes, scatter of the log ratios, and the squared spread of levels below which they do
/// not determine a slope.
constexpr int kPasses = 3;
constexpr double kScatter = 0.15, kRidge = 0.05;
/// Minimum number of comparisons for an estimate of the scatter, and its upper limit: more is instability.
constexpr int kEnough = 4;
constexpr double kLargestScatter = 0.4;
/// The interval to the next comparison grows if the log of the true error exceeds the expected one by less
/// than this. After a surprise, the interval shrinks. An error below the expected one, where reports are on
/// the safe side, is a surprise only beyond kContradiction.
const double kAgreement = std::log(1.3);
constexpr std::int64_t kMinStep = 4, kShortStep = 8, kNextStep = 2, kManyFrames = 16, kNewKindStep = 32;
/// If the true error is this factor (as a log) above the expected one, earlier comparisons no longer hold.
const double kContradiction = std::log(1.7);

}  // namespace

void Calibration::restart() {
  const double scatter = scatter_;
  *this = Calibration(interval_);
  scatter_ = scatter;
}

/// Ensures that one comparison, and a second one after it, are within the budget.
void Calibration::referenced() noexcept {
  budget_ = std::max(budget_, kSpare + 1);
}

/// For Gaussian errors, the variance of log Σ|error|² over `count` complex coefficients is the trigamma
/// function at `count`.
void Calibration::coefficients(std::int64_t count) noexcept {
  const double k = static_cast<double>(std::max<std::int64_t>(count, 1));
  const double trigamma =
      1 / (k * k) + 1 / (k + 1) + 0.5 / ((k + 1) * (k + 1)) + 1 / (6 * std::pow(k + 1, 3));
  scatter_ = std::sqrt(trigamma) / 2;
}

Calibration::Comparison::Comparison(const Report& report, double found)
    : level(std::log(report.error)), shape(report.shape), log_ratio(std::clamp(found, kMin, kMax)) {}

double Calibration::distance(const Comparison& a, const Comparison& b) const noexcept {
  const double one_shape = std::max(kOneShape, kShapeScatters * scatter_);
  const double level = (a.level - b.level) / kOneLevel, held = (a.shape.held - b.shape.held) / one_shape,
               shared = (a.shape.shared - b.shape.shared) / one_shape,
               fresh = (a.shape.fresh - b.shape.fresh) / one_shape;
  const double known = std::isnan(fresh) ? 0 : fresh;
  return std::sqrt(level * level + held * held + shared * shared + known * known);
}

/// Standard deviation of log(true error / reported error) over comparisons of similar frames. If a few
/// coefficients have most of the error, it is larger than the number of coefficients suggests.
double Calibration::scatter(const Comparison& frame) const {
  double sum = 0, squares = 0;
  int count = 0;
  for (const Comparison& one : known_) {
    if (distance(one, frame) > kFar) continue;
    sum += one.log_ratio;
    squares += one.log_ratio * one.log_ratio;
    ++count;
  }
  if (count < kEnough) return scatter_;
  const double variance = squares / count - sum / count * (sum / count);
  return std::clamp(std::sqrt(std::max(0.0, variance)), scatter_, std::max(scatter_, kLargestScatter));
}

/// Distance to the nearest of the last `count` comparisons.
double Calibration::nearest(const Comparison& frame, std::size_t count) const {
  double min = std::numeric_limits<double>::infinity();
  for (auto one = known_.rbegin(); one != known_.rend() && count-- > 0; ++one)
    min = std::min(min, distance(*one, frame));
  return min;
}

/// Log of the smallest factor that is trusted for this frame.
double Calibration::min(const Comparison& frame) const {
  double largest = kMin;
  int similar = 0;
  for (auto one = known_.rbegin(); one != known_.rend() && similar < kMinSimilar; ++one) {
    if (distance(*one, frame) > kUnlike) continue;
    largest = std::max(largest, one->log_ratio);
    ++similar;
  }
  return similar < kMinSimilar ? kMinAlone : std::min(kMinAlone, largest);
}

bool Calibration::due(const Report& report) {
  ++frames_;
  budget_ = std::min(kBudget, budget_ + 1 / kRefill);
  if (interval_ == 0 || !(report.error > kNegligible)) return false;
  const Comparison frame(report);
  const double distance = nearest(frame, kMemory);  // infinite if nothing was compared
  if (frames_ >= next_ || (distance > kUnlike && report.error > kUnproved)) return true;
  // A change that looks like one from long ago may be of another kind.
  const double moved = nearest(frame, kRecent);
  const double strictness = 2 - budget_ / kBudget;
  const bool unlike = !known_.empty() && moved > strictness * kUnlike;
  unlike_in_a_row_ = unlike ? unlike_in_a_row_ + 1 : 0;
  const double needed = distance > strictness * kUnlike ? 1 : kSpare + 1;
  if (!unlike || budget_ < needed) return false;
  if (unlike_in_a_row_ < kUnlikeFrames && distance < strictness * kFar) return false;
  budget_ -= 1;
  return true;
}

/// Counts a frame about which nothing is known. True: its comparison is scheduled. An overdue comparison is
/// not predicted, because it waits for a frame whose error is not negligible.
bool Calibration::scheduled() noexcept {
  return ++frames_ == next_ && interval_ != 0;
}

/// Records a comparison that found the expected error.
void Calibration::agreed(const Report& report) {
  compared(factor(report) / kMargin, 1, report);
}

std::int64_t Calibration::frames_to_next() const noexcept {
  const bool waiting = interval_ != 0 && frames_ < next_;
  return waiting ? next_ - frames_ : std::numeric_limits<std::int64_t>::max();
}

double Calibration::factor(const Report& report) const {
  if (known_.empty() || !(report.error > kNegligible)) return 1;
  const Comparison frame(report);
  std::array<double, kMemory> nearness{};
  double fresh = 1, nearest = 0;
  for (std::size_t i = known_.size(); i-- > 0;) {
    const double off = distance(known_[i], frame), near = std::exp(-0.5 * off * off);
    nearness[i] = fresh * near;
    nearest = std::max(nearest, near);
    fresh *= 1 - (1 - kFading) * near;  // a distant comparison does not make nearby ones outdated
  }
  // Fits a line through the comparisons. Nearby ones weigh more, and an outlier hardly moves the line.
  double mean = 0, slope = 0, all = 0, scatter = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    double weights = 0, levels = 0, ratios = 0, squares = 0, products = 0;
    all = scatter = 0;
    for (std::size_t i = known_.size(); i-- > 0;) {
      const double above = known_[i].level - frame.level, ratio = known_[i].log_ratio, near = nearness[i];
      const double off = std::fabs(ratio - mean - slope * above);
      const double weight = pass == 0 ? near : near / std::max(1.0, off / kScatter);
      all += near;
      scatter += near * off;
      weights += weight;
      levels += weight * above;
      ratios += weight * ratio;
      squares += weight * above * above;
      products += weight * above * ratio;
    }
    if (!(weights > kMinWeight)) return kMargin * std::exp(kUnknownFactor);
    squares -= levels * levels / weights;
    products -= levels * ratios / weights;
    // The slope is between 0 (true errors are proportional to reported ones) and −1 (true errors do not
    // depend on reported ones).
    slope = std::clamp(products / (squares + kRidge), -1.0, 0.0);
    mean = (ratios - slope * levels) / weights;
  }
  // If comparisons of similar frames differ, the next frame may be as far off as they are.
  const double caution = std::max(0.0, scatter / all - kScatter);
  const double belief =
      (all * (mean + caution) + kIgnorance * (1 - nearest) * kUnknownFactor) / (all + kIgnorance);
  return std::exp(std::clamp(belief, min(frame), kMax)) * kMargin;
}

void Calibration::bring_forward() noexcept {
  next_ = std::min(next_, frames_);
  brought_forward_ = true;
}

void Calibration::remember(const Comparison& comparison) {
  if (known_.size() == kMemory) {
    const auto replaced = [&](const Comparison& one) {
      const auto near = [&](const Comparison& other) { return distance(one, other) < kUnlike; };
      return std::ranges::count_if(known_, near) > kReplaced;
    };
    const auto found = std::ranges::find_if(known_, replaced);
    known_.erase(found == known_.end() ? known_.begin() : found);
  }
  known_.push_back(comparison);
}

void Calibration::compared(double true_l2, double reported_l2, const Report& report) {
  // If the caller requests comparisons at short intervals, a report that was too large is no reason for more.
  // After a report that was too small, the next comparison comes soon and does not wait for the caller.
  const bool more_come = std::exchange(brought_forward_, false) && frames_ - last_ <= kManyFrames;
  last_ = frames_;
  unlike_in_a_row_ = 0;
  bool surprising = false, of_known_kind = false;
  if (reported_l2 > 0 && report.error > kNegligible) {
    const double log_ratio = std::log(std::max(true_l2, 1e-300) / reported_l2);
    const Comparison now(report, log_ratio);
    const double surprise = known_.empty() ? 0 : log_ratio - std::log(factor(report) / kMargin);
    const double usual = scatter(now), agreement = std::max(kAgreement, 1.5 * usual);
    if (surprise > std::max(kContradiction, 2 * usual))
      std::erase_if(known_, [&](const Comparison& one) { return distance(one, now) < kFar; });
    of_known_kind = nearest(now, kMemory) <= kUnlike;
    const double below = of_known_kind && !more_come ? -std::max(kContradiction, 4 * usual)
                                                     : -std::numeric_limits<double>::infinity();
    surprising = surprise > agreement || surprise < below;
    if (more_come && surprising)
      step_ = kNextStep;
    else if (surprising)
      step_ = std::clamp(step_ / 2, kMinStep, kShortStep);
    remember(now);
  }
  if (frames_ < next_) {
    // Unscheduled. The comparison may have met an unusual frame of a new kind of change, so others follow if
    // the budget allows.
    if (!surprising && (of_known_kind || budget_ < kSpare)) return;
    if (!surprising) budget_ -= 1;
    step_ = std::min(step_, kNewKindStep);
    next_ = std::min(next_, frames_ + std::min(step_, kShortStep));
    return;
  }
  step_ = longer(step_);
  next_ = frames_ + step_;
}

std::int64_t Calibration::longer(std::int64_t step) const noexcept {
  return std::min<std::int64_t>(step + (step + 1) / 2, std::max(interval_, 1));
}

}  // namespace sfft::detail
