// SPDX-License-Identifier: Apache-2.0
// The step after a sparse transform, and the restarts of the calibration.
#include "sfft/tracking/tracking_policy.hpp"

namespace sfft::detail {

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
