// SPDX-License-Identifier: Apache-2.0
// Comparisons with a dense transform. If the calibration requests one, the exact spectrum becomes the result.
// If the caller requests one, the result does not change.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "kernels/base/elapsed.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/tracking/tracker_impl.hpp"

namespace sfft::detail {

namespace {

/// ‖a − b‖ and ‖b‖ without f = 0. If `a` is null, the error is 0.
template <class Real>
TrackedFrame::ErrorCheck distance(const Spectrum<Real>* a, const Spectrum<Real>& b) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < b.values.size(); ++i) {
    if ((*b.support)[i] == 0) continue;
    const std::complex<double> truth(b.values[i]);
    if (a != nullptr) error += std::norm(std::complex<double>(a->values[i]) - truth);
    norm += std::norm(truth);
  }
  return {std::sqrt(error), std::sqrt(norm), 0};
}

}  // namespace

/// `previous`: the values that the same plan found for the previous frame, or empty.
template <class Real>
Calibration::Report TrackerImpl<Real>::report_of(const Spectrum<Real>& spectrum,
                                                 std::span<const std::complex<Real>> previous) const {
  const bool known = renewed_values_.size() == spectrum.values.size();
  if (!known || !(spectrum.quality.relative_error > kExact)) return spectrum.quality.relative_error;
  if (previous.size() != spectrum.values.size()) previous = {};
  const std::int64_t mean = inside(plan_).design->mean_coefficient;
  return {spectrum.quality.relative_error, change_shape<Real>(spectrum, renewed_values_, previous, mean)};
}

/// The report of one of the next frames. Its sparse spectrum must be ready.
template <class Real>
Calibration::Report TrackerImpl<Real>::report_ahead(std::size_t next) {
  const std::int64_t number = frames_ + static_cast<std::int64_t>(next);
  const auto known = reports_.find(number);
  if (known != reports_.end()) return known->second;
  const auto& previous = next == 0 ? previous_ : ahead_.spectrum(next - 1).values;
  return reports_.emplace(number, report_of(ahead_.spectrum(next), previous)).first->second;
}

/// What the comparison of one of the next frames will find. Its sparse spectrum must be ready. Empty until
/// its dense transform is also ready.
template <class Real>
std::optional<Calibration::KnownErrors> TrackerImpl<Real>::known_errors_ahead(
    std::span<const SignalView> frames, std::size_t next) {
  const std::int64_t number = frames_ + static_cast<std::int64_t>(next);
  if (const auto known = found_.find(number); known != found_.end()) return known->second;
  const Spectrum<Real>* const exact = dense_.found(frames[next]);
  if (exact == nullptr || !exact->quality.finite) return std::nullopt;
  const Spectrum<Real>& sparse = ahead_.spectrum(next);
  return found_[number] = {distance(&sparse, *exact).error_l2, sparse.quality.error_l2};
}

/// Compares the sparse spectrum of a frame with the exact one, which becomes the result. Renews a stale
/// template or reference. True: at most the plan's reference is new, and either spectrum can be the result.
template <class Real>
bool TrackerImpl<Real>::compare(const SignalView& frame) {
  std::swap(sparse_, result_.spectrum);
  transform_densely(frame);
  if (!result_.spectrum.quality.finite) {  // NaN or infinite in a sample that the sparse plan does not read
    std::swap(sparse_, result_.spectrum);
    return false;
  }
  compared_ = distance(&sparse_, result_.spectrum);
  const double relative = compared_.norm_l2 > 0 ? compared_.error_l2 / compared_.norm_l2 : 0;
  calibration_.compared(compared_.error_l2, sparse_.quality.error_l2, report_);
  if (!differencing())
    watch_.estimated(1 - sparse_.quality.residual * sparse_.quality.residual, exact_share());
  expectation_outdated_ = true;
  ++calibrated_count;
  result_.action = TrackedFrame::Action::calibrated;
  result_.reason = fmt::format("compared with a dense transform: the error was {:.3g}, reported as {:.3g}",
                               relative, sparse_.quality.relative_error);
  // Comparisons are frequent while something passes through the scene. That is no reason for another
  // reference or template, so these are reconsidered at growing intervals.
  const bool reconsider = may_decide();
  const bool unacceptable = staleness_.unacceptable(relative);
  if (unacceptable || (reconsider && staleness_.drifted(relative))) {
    renew(frame, relative, !unacceptable);
    return false;
  }
  if (relearn_if_outdated(frame)) {
    ++dense_count;
    return false;
  }
  if (reconsider) {
    decision_step_ = next_step(decision_step_);
    next_decision_ = frames_ + decision_step_;
    if (reconsider_reference(frame, relative)) return false;
    if (departures_ > 0) refresh(frame);
  } else if (give_up_failing_reference(frame, relative)) {
    return false;
  }
  staleness_.compared();
  return true;
}

/// Measures the true error of a frame's sparse spectrum, which remains the result. False: it caused a
/// renewal.
template <class Real>
bool TrackerImpl<Real>::compare_for_check(const SignalView& frame) {
  const auto begin = std::chrono::steady_clock::now();
  calibration_.bring_forward();
  const bool either = compare(frame);
  if (!either && result_.action != TrackedFrame::Action::sparse) return false;
  if (either) {
    --calibrated_count;
    std::swap(sparse_, result_.spectrum);
    result_.action = TrackedFrame::Action::sparse;
    result_.reason.clear();
    result_.check = compared_;
    result_.check->us = us_since(begin);
  }
  return true;
}

/// Sets the check of a frame whose result is exact.
template <class Real>
void TrackerImpl<Real>::note_check() {
  const bool dense = result_.action != TrackedFrame::Action::sparse || plan_.info().path == Path::dense;
  if (!options_.check || result_.check || !result_.spectrum.quality.finite || !dense ||
      !options_.check(frames_))
    return;
  result_.check = distance<Real>(nullptr, result_.spectrum);
}

template Calibration::Report TrackerImpl<float>::report_of(const Spectrum<float>&,
                                                           std::span<const std::complex<float>>) const;
template Calibration::Report TrackerImpl<double>::report_of(const Spectrum<double>&,
                                                            std::span<const std::complex<double>>) const;
template Calibration::Report TrackerImpl<float>::report_ahead(std::size_t);
template Calibration::Report TrackerImpl<double>::report_ahead(std::size_t);
template std::optional<Calibration::KnownErrors> TrackerImpl<float>::known_errors_ahead(
    std::span<const SignalView>, std::size_t);
template std::optional<Calibration::KnownErrors> TrackerImpl<double>::known_errors_ahead(
    std::span<const SignalView>, std::size_t);
template bool TrackerImpl<float>::compare(const SignalView&);
template bool TrackerImpl<double>::compare(const SignalView&);
template bool TrackerImpl<float>::compare_for_check(const SignalView&);
template bool TrackerImpl<double>::compare_for_check(const SignalView&);
template void TrackerImpl<float>::note_check();
template void TrackerImpl<double>::note_check();

}  // namespace sfft::detail
