// SPDX-License-Identifier: Apache-2.0
// Comparisons with a dense transform, and similarities of frames to the template. If the calibration requests
// a comparison, the exact spectrum becomes the result; if the caller requests one, the result does not
// change. Similarities come from the exact coefficients at the support and the largest coefficients, which a
// renewal has usually learned already.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

#include "kernels/runtime/elapsed.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/tracking/similarity.hpp"
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
  const bool known = frame_.renewed.size() == spectrum.values.size();
  if (!known || !(spectrum.quality.relative_error > ReferencePolicy::kExact))
    return spectrum.quality.relative_error;
  if (previous.size() != spectrum.values.size()) previous = {};
  const std::int64_t mean = inside(plan_).design->mean_coefficient;
  return {spectrum.quality.relative_error, change_shape<Real>(spectrum, frame_.renewed, previous, mean)};
}

/// The report of one of the next frames. Its sparse spectrum must be ready.
template <class Real>
Calibration::Report TrackerImpl<Real>::report_ahead(std::size_t next) {
  const std::int64_t number = frame_.number + static_cast<std::int64_t>(next);
  const auto known = expectation_.reports.find(number);
  if (known != expectation_.reports.end()) return known->second;
  const auto& previous = next == 0 ? frame_.previous : ahead_.spectrum(next - 1).values;
  return expectation_.reports.emplace(number, report_of(ahead_.spectrum(next), previous)).first->second;
}

/// What the comparison of one of the next frames will find. Its sparse spectrum must be ready. Empty until
/// its dense transform is also ready.
template <class Real>
std::optional<Calibration::KnownErrors> TrackerImpl<Real>::known_errors_ahead(std::size_t next) {
  const std::int64_t number = frame_.number + static_cast<std::int64_t>(next);
  if (const auto known = expectation_.found.find(number); known != expectation_.found.end())
    return known->second;
  const Spectrum<Real>* const exact = dense_.found(number);
  if (exact == nullptr || !exact->quality.finite) return std::nullopt;
  const Spectrum<Real>& sparse = ahead_.spectrum(next);
  return expectation_.found[number] = {distance(&sparse, *exact).error_l2, sparse.quality.error_l2};
}

/// Compares the sparse spectrum of a frame with the exact one, which becomes the result. Renews a stale
/// template or reference. True: at most the plan's reference is new, and either spectrum can be the result.
template <class Real>
bool TrackerImpl<Real>::compare(const SignalView& frame) {
  std::swap(frame_.sparse, frame_.result.spectrum);
  transform_densely(frame);
  if (!frame_.result.spectrum.quality
           .finite) {  // NaN or infinite in a sample that the sparse plan does not read
    std::swap(frame_.sparse, frame_.result.spectrum);
    return false;
  }
  frame_.compared = distance(&frame_.sparse, frame_.result.spectrum);
  const double relative =
      frame_.compared.norm_l2 > 0 ? frame_.compared.error_l2 / frame_.compared.norm_l2 : 0;
  policy_.calibration.compared(frame_.compared.error_l2, frame_.sparse.quality.error_l2, frame_.report);
  if (!differencing())
    policy_.watch.estimated(1 - frame_.sparse.quality.residual * frame_.sparse.quality.residual,
                            exact_share());
  expectation_.changed = true;
  ++counts.calibrated;
  frame_.result.action = TrackedFrame::Action::calibrated;
  frame_.result.reason =
      fmt::format("compared with a dense transform: the error was {:.3g}, reported as {:.3g}", relative,
                  frame_.sparse.quality.relative_error);
  // Comparisons are frequent while something passes through the scene. That is no reason for another
  // reference or template, so these are reconsidered at growing intervals.
  const bool reconsider = policy_.may_decide(frame_.number, differencing());
  const bool unacceptable = policy_.staleness.unacceptable(relative);
  if (unacceptable || (reconsider && policy_.staleness.drifted(relative))) {
    renew(frame, relative, !unacceptable);
    return false;
  }
  if (relearn_if_outdated(frame)) {
    ++counts.dense;
    return false;
  }
  if (reconsider) {
    policy_.reference.decided(frame_.number);
    if (reconsider_reference(frame, relative)) return false;
    if (policy_.reference.departing()) refresh(frame);
  } else if (give_up_failing_reference(frame, relative)) {
    return false;
  }
  policy_.staleness.compared();
  return true;
}

/// Measures the true error of a frame's sparse spectrum, which remains the result. False: it caused a
/// renewal.
template <class Real>
bool TrackerImpl<Real>::compare_for_check(const SignalView& frame) {
  const auto begin = std::chrono::steady_clock::now();
  policy_.calibration.bring_forward();
  const bool either = compare(frame);
  if (!either && frame_.result.action != TrackedFrame::Action::sparse) return false;
  if (either) {
    --counts.calibrated;
    std::swap(frame_.sparse, frame_.result.spectrum);
    frame_.result.action = TrackedFrame::Action::sparse;
    frame_.result.reason.clear();
    frame_.result.check = frame_.compared;
    frame_.result.check->us = us_since(begin);
  }
  return true;
}

/// Sets the check of a frame whose result is exact.
template <class Real>
void TrackerImpl<Real>::note_check() {
  const bool dense = frame_.result.action != TrackedFrame::Action::sparse || plan_.info().path == Path::dense;
  if (!options_.check || frame_.result.check || !frame_.result.spectrum.quality.finite || !dense ||
      !options_.check(frame_.number))
    return;
  frame_.result.check = distance<Real>(nullptr, frame_.result.spectrum);
}

/// Compares a frame, just transformed densely, with the template. Call before the template is renewed.
template <class Real>
void TrackerImpl<Real>::note_similarity(const SignalView& frame) {
  if (frame_.result.similarity || !frame_.result.spectrum.quality.finite) return;
  if (ahead_.overlaps() && !options_.similarity && !frame_.largest) return begin_similarity(frame);
  const auto start = std::chrono::steady_clock::now();
  const Template& old = plan_.source();
  if (!frame_.largest) {
    LearnOptions how = options_.learn;
    how.threads = options_.plan.threads;
    frame_.largest = largest_of(frame, old.k(), how);
  }
  if (!frame_.largest) return;
  const std::vector<std::complex<double>> now = in_double(frame_.result.spectrum);
  frame_.result.similarity = similarity({old, frame_.renewed, now}, *frame_.largest);
  frame_.result.similarity->us = us_since(start);
}

/// The same on a separate thread. The samples must not change until the similarities are given.
template <class Real>
void TrackerImpl<Real>::begin_similarity(const SignalView& frame) {
  LearnOptions how = options_.learn;
  how.threads = options_.plan.threads;
  similarities_.begin(frame_.number,
                      [frame, how, old = plan_.source(), before = frame_.renewed,
                       now = in_double(frame_.result.spectrum)]() -> PendingSimilarities::Found {
                        try {
                          const std::optional<Template> largest = largest_of(frame, old.k(), how);
                          if (largest) return similarity({old, before, now}, *largest);
                        } catch (const std::exception&) {  // the frame has its spectrum nevertheless
                        }
                        return std::nullopt;
                      });
}

/// The same as note_similarity() for any frame, including one that was transformed sparsely.
template <class Real>
void TrackerImpl<Real>::note_similarity_of_any(const SignalView& frame) {
  if (frame_.result.similarity || !frame_.result.spectrum.quality.finite) return;
  if (frame_.result.action != TrackedFrame::Action::sparse) return note_similarity(frame);
  const auto start = std::chrono::steady_clock::now();
  std::swap(frame_.sparse, frame_.result.spectrum);
  transform_densely(frame);
  note_similarity(frame);
  std::swap(frame_.sparse, frame_.result.spectrum);
  if (frame_.result.similarity) frame_.result.similarity->us = us_since(start);
}

template Calibration::Report TrackerImpl<float>::report_of(const Spectrum<float>&,
                                                           std::span<const std::complex<float>>) const;
template Calibration::Report TrackerImpl<double>::report_of(const Spectrum<double>&,
                                                            std::span<const std::complex<double>>) const;
template Calibration::Report TrackerImpl<float>::report_ahead(std::size_t);
template Calibration::Report TrackerImpl<double>::report_ahead(std::size_t);
template std::optional<Calibration::KnownErrors> TrackerImpl<float>::known_errors_ahead(std::size_t);
template std::optional<Calibration::KnownErrors> TrackerImpl<double>::known_errors_ahead(std::size_t);
template bool TrackerImpl<float>::compare(const SignalView&);
template bool TrackerImpl<double>::compare(const SignalView&);
template bool TrackerImpl<float>::compare_for_check(const SignalView&);
template bool TrackerImpl<double>::compare_for_check(const SignalView&);
template void TrackerImpl<float>::note_check();
template void TrackerImpl<double>::note_check();
template void TrackerImpl<float>::note_similarity(const SignalView&);
template void TrackerImpl<double>::note_similarity(const SignalView&);
template void TrackerImpl<float>::note_similarity_of_any(const SignalView&);
template void TrackerImpl<double>::note_similarity_of_any(const SignalView&);

}  // namespace sfft::detail
