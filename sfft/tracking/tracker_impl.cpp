// SPDX-License-Identifier: Apache-2.0
// Processes frames: a sparse transform, for some frames also a dense one, and then decisions about reference,
// template and calibration. Sparse transforms of several frames run ahead of the decisions.
#include "sfft/tracking/tracker_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "kernels/base/elapsed.hpp"
#include "kernels/base/region.hpp"
#include "sfft/error.hpp"
#include "sfft/page_locked.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/tracking/held_energy.hpp"

namespace sfft::detail {

namespace {

using Clock = std::chrono::steady_clock;

/// Minimum number of frames between two restarts of the calibration because of a new template.
constexpr std::int64_t kSettled = 512;

void check(const TrackerOptions& options) {
  const auto invalid = [](const std::string& message) { throw Error(ErrorCode::invalid_argument, message); };
  if (!(options.accuracy >= 0)) invalid(fmt::format("accuracy = {} must be 0 or positive", options.accuracy));
  if (!(options.drift > 1)) invalid(fmt::format("drift = {} must be above 1", options.drift));
  if (options.patience < 1) invalid(fmt::format("patience = {} must be at least 1", options.patience));
  if (options.hold < 1) invalid(fmt::format("hold = {} must be at least 1", options.hold));
  if (options.calibrate < 0)
    invalid(fmt::format("calibrate = {} must be a number of frames, or 0 for never", options.calibrate));
  if (!(options.relearn_below >= 0 && options.relearn_below <= 1)) {
    invalid(fmt::format("relearn_below = {} must be in [0, 1]", options.relearn_below));
  }
}

}  // namespace

template <class Real>
PlanOptions TrackerImpl<Real>::plan_options(bool reference, double fraction) const {
  check(options_);
  PlanOptions options = options_.plan;
  options.use_reference = reference;
  if (options_.refine) options.effort = PlanEffort::quick;
  if (options.accuracy == 0) options.accuracy = fraction * options_.accuracy;
  return options;
}

template <class Real>
void TrackerImpl<Real>::install(Plan<Real> plan, std::optional<Plan<Real>> exact) {
  replace(std::move(plan), std::move(exact));
  begin_refinement();
}

template <class Real>
void TrackerImpl<Real>::replace(Plan<Real> plan, std::optional<Plan<Real>> exact) {
  // A plan for the same template is no renewal, so the values of the last renewal remain valid.
  const bool renewal = frames_ == 0 || data_of(plan.source()) != data_of(plan_.source());
  const bool other_support =
      frames_ == 0 || data_of(plan.source())->support != data_of(plan_.source())->support;
  const bool differenced = differencing();
  use(std::move(plan));
  if (renewal) renewed_values_ = {plan_.source().values().begin(), plan_.source().values().end()};
  dense_.renew(std::move(exact));
  found_.clear();
  expectation_outdated_ = true;
  if (other_support) {
    // A plan for drifting tones is made for a fraction.
    const bool asked = options_.accuracy > 0 && options_.plan.accuracy == 0;
    accuracy_fraction_ = asked ? plan_.options().accuracy / options_.accuracy : 1;
    smaller_errors_possible_ = true;
  }
  staleness_.forget_level();
  calibration_.coefficients(plan_.source().k());
  if (other_support)
    watch_.renewed(plan_.source().energy_captured(), !differencing());
  else
    watch_.replanned();
  // If templates change in close succession, each of them would start with frequent comparisons again.
  const bool closely = frames_ - calibration_began_ < kSettled && frames_ > 0;
  if (other_support && closely && !differenced && !differencing()) return;
  calibration_.restart();
  calibration_began_ = frames_;
}

/// Freeing memory that a GPU may still read blocks until the GPU is idle, so a worker does it.
template <class Real>
void TrackerImpl<Real>::use(Plan<Real> plan) {
  reports_.clear();
  previous_.clear();
  ahead_.use(plan);
  std::swap(plan, plan_);
  if (!ahead_.overlaps() || frames_ == 0) return;
  try {
    retired_.give([old = std::optional(std::move(plan))]() mutable { old.reset(); });
  } catch (const std::exception&) {  // thread creation failed
  }
}

template <class Real>
void TrackerImpl<Real>::remember_reference() {
  const TemplateData& data = *data_of(plan_.source());
  if (!differencing() || data.reference.empty()) return memory_.forget();
  memory_.keep(SignalView(data.reference.data(), static_cast<std::size_t>(data.shape.points()),
                          data.reference_type, data.shape),
               data.values);
}

template <class Real>
void TrackerImpl<Real>::transform_densely(const SignalView& frame) {
  dense_.execute(plan_.source(), frame, result_.spectrum);
}

template <class Real>
void TrackerImpl<Real>::forget_ahead() noexcept {
  ahead_.forget();
  dense_.forget();
  memory_.settle();
  similar_.clear();
  found_.clear();  // another frame may get the same number
  reports_.clear();
}

/// How many of the next frames to transform before the decision about the first: up to the next that will be
/// compared with a dense transform, because a comparison may change the plan. All, if that costs the host no
/// time, because few comparisons change more than the reference.
template <class Real>
std::size_t TrackerImpl<Real>::run_length() const {
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  if (skip_sparse_ > 0) return 0;
  if (plan_.info().path == Path::dense) return kAll;
  if (testing_repetition() && !exact_) return 1;
  if (ahead_.overlaps() && differencing()) return kAll;
  return static_cast<std::size_t>(calibration_.frames_to_next());
}

/// Starts the background work for the comparisons that are expected among the next frames: dense transforms,
/// and the changes that decisions about the reference need.
template <class Real>
void TrackerImpl<Real>::begin_comparisons(std::span<const SignalView> frames) noexcept {
  if (!ahead_.overlaps() || exact_ || skip_sparse_ > 0) return;
  std::int64_t decision = next_decision_;
  int step = decision_step_;
  for (const std::int64_t number : expected_) {
    if (number < frames_) continue;
    const SignalView& frame = frames[static_cast<std::size_t>(number - frames_)];
    dense_.begin(frame);
    const bool learned = learning_.under_way() && number == learning_.due();
    if (!differencing() || number < decision || learned) continue;
    memory_.begin(frame);
    step = next_step(step);
    decision = number + step;
  }
}

/// Predicts which of the next frames will need a dense transform: for scheduled comparisons, and for those
/// that spectra ahead will cause.
template <class Real>
void TrackerImpl<Real>::look_ahead(std::span<const SignalView> frames) noexcept {
  if (!ahead_.overlaps()) return;
  const std::size_t ready = ahead_.ready(frames);
  const Seen seen{frames_ + static_cast<std::int64_t>(ready),
                  frames_ + static_cast<std::int64_t>(frames.size()), dense_.found()};
  if (!expectation_outdated_ && seen == seen_) return;
  expectation_outdated_ = false;
  seen_ = seen;
  expected_.clear();
  try {
    expect_comparisons(frames, ready);
  } catch (const std::exception&) {  // dense transforms then start when they are due
    expected_.clear();
  }
}

template <class Real>
void TrackerImpl<Real>::expect_comparisons(std::span<const SignalView> frames, std::size_t ready) {
  if (learning_.under_way() && learning_.due() >= frames_ && learning_.due() < seen_.known)
    expected_.push_back(learning_.due());
  const auto reported = [&](std::size_t next) -> std::optional<Calibration::Report> {
    return next < ready ? std::optional(report_ahead(next)) : std::nullopt;
  };
  found_.erase(found_.begin(), found_.lower_bound(frames_));
  reports_.erase(reports_.begin(), reports_.lower_bound(frames_));
  const auto found = [&](std::size_t next) { return known_errors_ahead(frames, next); };
  calibration_.expected(frames.size(), reported, found, [&](std::size_t next) {
    if (expected_.size() == BackgroundDense<Real>::kMax) return false;
    expected_.push_back(frames_ + static_cast<std::int64_t>(next));
    return true;
  });
}

/// Moves the sparse spectrum of the first frame into the result, and may submit some of the following frames.
template <class Real>
void TrackerImpl<Real>::find_spectrum(std::span<const SignalView> frames) {
  const auto begin = Clock::now();
  sharing_results_.push_back(results_done_);
  look_ahead(frames);
  begin_comparisons(frames);
  const std::size_t of_push = pushed_ > results_done_ ? pushed_ - results_done_ : 1;
  ahead_.take(frames, of_push, run_length(), result_.spectrum);
  sparse_us_ += us_since(begin);
}

template <class Real>
void TrackerImpl<Real>::transform_sparsely(std::span<const SignalView> frames) {
  const SignalView& frame = frames.front();
  Spectrum<Real>& spectrum = result_.spectrum;
  find_spectrum(frames);
  if (plan_.info().path == Path::dense) {
    ++dense_count;
    result_.action = TrackedFrame::Action::dense;
    result_.reason = plan_.info().reason;
    previous_.clear();
    review_dense(frame);
    return;
  }
  if (!spectrum.quality.finite) {
    previous_.clear();
    result_.reason = "a sample is NaN or infinite";
    return;
  }
  exact_ = !(spectrum.quality.relative_error > kExact);
  const auto known = reports_.find(frames_);
  const Calibration::Report report = known == reports_.end() ? report_of(spectrum, previous_) : known->second;
  report_ = report;
  previous_.assign(spectrum.values.begin(), spectrum.values.end());
  const bool due = calibration_.due(report) || (testing_repetition() && !exact_);
  const double factor = calibration_.factor(report);
  result_.calibration = factor;
  const double error = factor * spectrum.quality.relative_error;
  const bool lost = options_.calibrate > 0 && tones_seem_lost(frame);
  if (due || staleness_.unacceptable(error)) {
    compare(frame);
    return;
  }
  // A drift alone calls for a comparison only if that may lead to a renewal. Until then, the calibration
  // alone chooses the frames that it needs.
  const bool drifted = staleness_.suspect(error) && may_decide();
  if (drifted && differencing()) {
    compare(frame);
    return;
  }
  if ((drifted || lost) && watch_.may_compare()) {
    compare_suspect(frame);
    return;
  }
  if (options_.check && options_.check(frames_) && !compare_for_check(frame)) return;
  if (factor != 1) {
    spectrum.quality.error_l2 *= factor;
    spectrum.quality.relative_error = error;
    for (Real& one : spectrum.standard_error) one *= static_cast<Real>(factor);
  }
  staleness_.accepted();
}

/// Whether the support seems to have lost tones of the frame, which was just transformed sparsely.
template <class Real>
bool TrackerImpl<Real>::tones_seem_lost(const SignalView& frame) {
  const Spectrum<Real>& spectrum = result_.spectrum;
  if (plan_.info().path != Path::direct)
    return watch_.suspects(spectrum.quality.residual, spectrum.quality.tail_energy);
  // Direct sums do not measure energy outside the support.
  constexpr std::int64_t kSpacing = 8;
  if (frames_ % kSpacing != 0) return false;
  const double all = whole_energy(frame);
  return all > 0 && watch_.falls_short(held_energy(plan_.source(), in_double(spectrum)) / all);
}

/// Compares a frame because of a suspicion. If the suspicion is unfounded, present errors and residuals
/// become the level that later ones are compared with.
template <class Real>
void TrackerImpl<Real>::compare_suspect(const SignalView& frame) {
  calibration_.bring_forward();
  watch_.suspicion_compared();
  if (compare(frame)) staleness_.forget_level();
}

/// Transforms the first of the frames and decides about it. The others are the next frames.
template <class Real>
void TrackerImpl<Real>::track(std::span<const SignalView> frames) {
  const SignalView& frame = frames.front();
  const auto begin = Clock::now();
  const double sparse_before_us = sparse_us_;
  result_.index = frames_;
  result_.action = TrackedFrame::Action::sparse;
  result_.reason.clear();
  result_.similarity.reset();
  result_.check.reset();
  largest_.reset();
  to_learn_.reset();
  watch_.next_frame();
  missed_ = false;
  const bool learned = learning_.under_way() && frames_ >= learning_.due() && take_learned(frame);
  if (learned) {
    skip_sparse_ = 0;
    staleness_.try_again();
  } else if (skip_sparse_ > 0) {
    ahead_.forget();
    previous_.clear();
    reports_.clear();
    --skip_sparse_;
    transform_densely(frame);
    ++dense_count;
    result_.action = TrackedFrame::Action::dense;
    result_.reason = "sparse transforms missed the accuracy on the frames before";
    if (result_.spectrum.quality.finite && relearn_if_outdated(frame, true)) {
      skip_sparse_ = 0;
      staleness_.try_again();
    } else if (skip_sparse_ == 0 && result_.spectrum.quality.finite &&
               differencing()) {  // try again from a fresh reference
      refresh(frame);
      staleness_.try_again();
    }
  } else {
    transform_sparsely(frames);
  }
  if (options_.similarity) note_similarity_of_any(frame);
  dense_.discard(frame);
  note_check();
  if (to_learn_) learning_.begin(frame, std::move(*std::exchange(to_learn_, std::nullopt)), dense_.options());
  result_.differencing = differencing();
  result_.us = us_since(begin) - (sparse_us_ - sparse_before_us);
  ++frames_;
}

/// Divides the time of sparse transforms equally among the frames of a push that went through them. This
/// includes time that was spent on them before the push.
template <class Real>
void TrackerImpl<Real>::divide_time() {
  if (sharing_results_.empty()) return;
  const double each = sparse_us_ / static_cast<double>(std::max<std::size_t>(1, sharing_results_.size()));
  for (const std::size_t i : sharing_results_) {
    if (i < results_done_) results_[i].us += each;
  }
  sparse_us_ = 0;
  sharing_results_.clear();
}

template <class Real>
const typename Tracker<Real>::Frame& TrackerImpl<Real>::push(const SignalView& frame) {
  take_refined();
  try {
    track({&frame, 1});
  } catch (...) {
    forget_ahead();
    sharing_results_.clear();
    sparse_us_ = 0;
    throw;
  }
  take_similarities({&result_, 1});
  forget_ahead();  // the caller may change samples after this
  result_.us += std::exchange(sparse_us_, 0);
  sharing_results_.clear();
  return result_;
}

template <class Real>
std::span<const typename Tracker<Real>::Frame> TrackerImpl<Real>::push(std::span<const SignalView> frames,
                                                                       std::span<const SignalView> coming) {
  take_refined();
  ahead_.try_again();
  pushed_ = frames.size();
  known_.assign(frames.begin(), frames.end());
  if (ahead_.overlaps()) known_.insert(known_.end(), coming.begin(), coming.end());
  results_done_ = 0;
  if (results_.size() < frames.size()) results_.resize(frames.size());
  try {
    for (; results_done_ < frames.size(); ++results_done_) {
      track(std::span<const SignalView>(known_).subspan(results_done_));
      typename Tracker<Real>::Frame& kept = results_[results_done_];
      std::swap(kept, result_);
      result_.calibration = kept.calibration;  // valid until the next sparse frame
    }
    take_similarities(std::span(results_).first(results_done_));
  } catch (...) {
    take_similarities(std::span(results_).first(results_done_));
    forget_ahead();  // these frames may never be pushed
    divide_time();
    throw;
  }
  divide_time();
  const auto begin = Clock::now();
  dense_.keep_only(coming);
  memory_.keep_only(coming);
  if (coming.empty()) forget_ahead();
  ahead_.collect();
  look_ahead(coming);
  ahead_.begin(coming, run_length());
  begin_comparisons(coming);
  if (frames.empty() && !expected_.empty()) dense_.prepare();
  sparse_us_ += us_since(begin);
  return results();
}

template <class Real>
void TrackerImpl<Real>::prepare(const SignalView& like) {
  if (!ahead_.overlaps()) return;
  std::shared_ptr<std::byte> memory;
  std::array<SignalView, 2> frames{like, like};
  if (options_.plan.page_locked_frames) {
    const PlanOptions& where = options_.plan;
    memory = sfft::allocate_page_locked(frames.size() * like.bytes(), where.device.gpu_number());
    for (SignalView& frame : frames) {
      std::byte* const place = memory.get() + static_cast<std::size_t>(&frame - frames.data()) * like.bytes();
      copy_elements(like, place);
      frame = SignalView(place, static_cast<std::size_t>(like.shape().points()), like.type(), like.shape());
    }
  }
  constexpr int kMaxReady = 256;
  ahead_.prepare(frames);
  if (differencing())
    static_cast<void>(PlanAccess<Real>::with_exact_reference(plan_, frames[0], plan_.source().values()));
  results_.resize(
      std::max(results_.size(), static_cast<std::size_t>(std::min(options_.plan.batch, kMaxReady))));
  for (typename Tracker<Real>::Frame& result : results_) result.spectrum = plan_.make_spectrum();
  try {
    retired_.wake();
  } catch (const std::system_error&) {  // the caller's thread then frees plans
  }
  if (options_.background_learning) learning_.prepare(like.bytes());
  if (options_.calibrate == 0) return;
  memory_.prepare();
  Spectrum<Real> spectrum;
  for (const SignalView& frame :
       frames) {  // the first makes the plan that the thread then uses for the second
    dense_.begin(frame);
    dense_.execute(plan_.source(), frame, spectrum);
  }
}

template class TrackerImpl<float>;
template class TrackerImpl<double>;

}  // namespace sfft::detail
