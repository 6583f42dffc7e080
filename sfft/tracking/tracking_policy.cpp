// SPDX-License-Identifier: Apache-2.0
// The step after a sparse transform, and the restarts of the calibration.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/math/quantiles.hpp"
#include "sfft/tracking/tracking_policy.hpp"
#include "template/planning/error_table.hpp"

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

namespace {

/// Frames after a renewal whose errors set the level that later ones are compared with.
constexpr std::size_t kBaselineFrames = 16;
constexpr int kLongestHold = 256;

}  // namespace

void Staleness::forget_level() {
  levels_.clear();
  levels_.reserve(kBaselineFrames);
  level_ = 0;
}

void Staleness::note_level(double error) {
  if (levels_.size() == kBaselineFrames) return;
  levels_.push_back(error);
  if (levels_.size() < kBaselineFrames) return;
  level_ = detail::median_in_place(levels_);
}

bool Staleness::unacceptable(double error) {
  const bool asked = options_.accuracy > 0;
  const double limit = asked ? options_.accuracy : kMaxUsefulError;
  if (error <= limit) return false;
  reason_ = fmt::format("reported error {:.3g} is above {} {:.3g}", error,
                        asked ? "the accuracy" : "what is of use to anyone,", limit);
  return true;
}

bool Staleness::drifted(double error) {
  if (!(level_ > 0 && error > options_.drift * level_)) return false;
  reason_ =
      fmt::format("error {:.3g} is above {:.3g} times its level of {:.3g}", error, options_.drift, level_);
  return true;
}

bool Staleness::suspect(double error) {
  const bool above = drifted(error);
  note_level(error);
  above_in_a_row_ = above ? above_in_a_row_ + 1 : 0;
  return above_in_a_row_ >= options_.patience && may_learn();
}

void Staleness::accepted() noexcept {
  ++since_renewal_;
  dense_in_a_row_ = 0;
  if (since_renewal_ > 4 * hold_) hold_ = options_.hold;
}

int Staleness::renewed(bool lately) noexcept {
  ++dense_in_a_row_;
  if (lately) hold_ = std::min(2 * hold_, kLongestHold);
  since_renewal_ = above_in_a_row_ = 0;
  return dense_in_a_row_ >= options_.patience ? hold_ : 0;
}

namespace {
/// Minimum number of frames between two restarts of the calibration because of a new template.
constexpr std::int64_t kSettled = 512;
}  // namespace

std::optional<double> PlanAccuracy::smaller() const noexcept {
  constexpr double kStep = 0.7, kMin = 0.3;
  if (!possible_ || kStep * fraction_ < kMin) return std::nullopt;
  return kStep * fraction_;
}

TrackingPolicy::Decision TrackingPolicy::after_sparse(const SparseFrame& frame) {
  const bool due = calibration.due(frame.report) || frame.testing_repetition;
  const double factor = calibration.factor(frame.report);
  const double error = factor * frame.relative_error;
  if (due || staleness.unacceptable(error)) return {Step::compare, factor};
  // A drift alone calls for a comparison only if that may lead to a renewal. Otherwise the calibration
  // alone chooses the frames that are compared.
  const bool drifted = staleness.suspect(error) && may_decide(frame.number, frame.differencing);
  if (drifted && frame.differencing) return {Step::compare, factor};
  if ((drifted || frame.tones_lost) && watch.may_compare()) return {Step::compare_suspect, factor};
  return {Step::accept, factor};
}

void TrackingPolicy::restart_calibration(std::int64_t frame, bool may_continue) {
  const bool closely = frame - calibration_began_ < kSettled && frame > 0;
  if (may_continue && closely) return;
  calibration.restart();
  calibration_began_ = frame;
}

}  // namespace sfft::detail
