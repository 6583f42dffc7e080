// SPDX-License-Identifier: Apache-2.0
// What happens to a frame: a sparse transform, for some frames a dense one beside it, and then the decisions
// about reference, template and trust. The sparse transforms of several frames run ahead of the decisions.
#include "sfft/tracking/tracker_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "kernels/base/error.hpp"

namespace sfft::detail {

namespace {

/// The most frames that are transformed ahead of the decisions about them.
constexpr std::size_t kLongestRun = 256;

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

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
PlanOptions TrackerImpl<Real>::plan_options(bool reference) const {
  check(options_);
  PlanOptions options = options_.plan;
  options.use_reference = reference;
  if (options_.refine) options.effort = PlanEffort::quick;
  if (options.accuracy == 0) options.accuracy = options_.accuracy;
  return options;
}

template <class Real>
PlanOptions TrackerImpl<Real>::dense_options() const {
  PlanOptions options;
  options.backend = options_.plan.backend;
  options.device = options_.plan.device;
  if (!options_.plan.devices.empty()) {
    options.backend = Backend::cuda;
    options.device = options_.plan.devices.front();
  }
  options.path = Path::dense;
  options.threads = options_.plan.threads;
  return options;
}

template <class Real>
void TrackerImpl<Real>::install(Plan<Real> plan) {
  replace(std::move(plan));
  ask_for_better();
}

template <class Real>
void TrackerImpl<Real>::replace(Plan<Real> plan) {
  Workspace<Real> workspace = plan.make_workspace();
  // A plan for the same template is no renewal: what was remembered of the last one stays.
  if (frames_ == 0 || plan.source().data() != plan_.source().data())
    renewed_values_ = {plan.source().values().begin(), plan.source().values().end()};
  forget_ahead();
  plan_ = std::move(plan);
  workspace_ = std::move(workspace);
  dense_.reset();
  calibration_.restart();
  staleness_.forget_level();
}

template <class Real>
void TrackerImpl<Real>::remember_reference() {
  const TemplateData& data = *plan_.source().data();
  if (!differencing() || data.reference.empty()) return memory_.forget();
  memory_.keep(SignalView(data.reference.data(), static_cast<std::size_t>(data.shape.points()),
                          data.reference_type, data.shape),
               data.values);
}

template <class Real>
void TrackerImpl<Real>::transform_densely(const SignalView& frame) {
  if (!dense_) {
    dense_.emplace(plan_.source(), dense_options());
    dense_workspace_ = dense_->make_workspace();
  }
  dense_->execute(frame, result_.spectrum, dense_workspace_);
}

/// How many of the next frames to transform before the first of them is decided about: up to the next that
/// will be compared with a dense transform, because a comparison may change the plan.
template <class Real>
std::size_t TrackerImpl<Real>::run_length(std::size_t most) const {
  most = std::min(most, kLongestRun);
  if (alone_) return 1;
  if (plan_.info().path == Path::dense) return most;
  if (looking() && !exact_) return 1;
  return static_cast<std::size_t>(std::min(static_cast<std::int64_t>(most), calibration_.frames_to_next()));
}

/// The frame under way pays for what it makes useless.
template <class Real>
void TrackerImpl<Real>::forget_ahead() noexcept {
  owed_us_ -= ahead_us_ * static_cast<double>(ahead_end_ - ahead_at_);
  ahead_at_ = ahead_end_ = 0;
}

/// Puts the sparse spectrum of the first frame into the result, and may compute those of some that follow.
template <class Real>
void TrackerImpl<Real>::find_spectrum(std::span<const SignalView> frames) {
  if (ahead_at_ < ahead_end_) {
    owed_us_ -= ahead_us_;
    return std::swap(result_.spectrum, ahead_[ahead_at_++]);
  }
  const std::size_t count = run_length(frames.size());
  if (count > 1) {
    try {
      if (ahead_.size() < count) ahead_.resize(count);
      const auto begin = Clock::now();
      plan_.execute(frames.first(count), std::span(ahead_).first(count), workspace_);
      ahead_us_ = microseconds_since(begin) / static_cast<double>(count);
      ahead_end_ = count;
      ahead_at_ = 1;
      owed_us_ += ahead_us_ * static_cast<double>(count - 1);
      return std::swap(result_.spectrum, ahead_[0]);
    } catch (const std::exception&) {
      alone_ = true;  // the frame that is to blame fails in its turn; memory may suffice for one
    }
  }
  plan_.execute(frames.front(), result_.spectrum, workspace_);
}

template <class Real>
void TrackerImpl<Real>::transform_sparsely(std::span<const SignalView> frames) {
  const SignalView& frame = frames.front();
  Spectrum<Real>& spectrum = result_.spectrum;
  find_spectrum(frames);
  if (plan_.info().path == Path::dense) {
    ++dense_count;
    result_.action = TrackAction::dense;
    result_.reason = plan_.info().reason;
    return;
  }
  if (!spectrum.finite) {
    result_.reason = "a sample is NaN or infinite";
    return;
  }
  exact_ = !(spectrum.relative_error > kExact);
  const bool due = calibration_.due(spectrum.relative_error) || (looking() && !exact_);
  const double factor = calibration_.factor(spectrum.relative_error);
  result_.calibration = factor;
  const double error = factor * spectrum.relative_error;
  // A drift alone calls for a comparison only where that may lead to a renewal: until then, the calibration
  // knows better which frames it needs.
  if (due || staleness_.unacceptable(error) || (staleness_.suspect(error) && may_decide())) {
    compare(frame);
    return;
  }
  if (options_.check && options_.check(frames_) && !compare_beside(frame)) return;
  if (factor != 1) {
    spectrum.error_l2 *= factor;
    spectrum.relative_error = error;
    for (Real& one : spectrum.standard_error) one *= static_cast<Real>(factor);
  }
  staleness_.accepted();
}

/// Transforms and decides about the first of the frames; those after it are the next to come.
template <class Real>
void TrackerImpl<Real>::track(std::span<const SignalView> frames) {
  const SignalView& frame = frames.front();
  const auto begin = Clock::now();
  owed_us_ = 0;
  result_.index = frames_;
  result_.action = TrackAction::sparse;
  result_.reason.clear();
  result_.similarity.reset();
  result_.check.reset();
  largest_.reset();
  if (skip_sparse_ > 0) {
    forget_ahead();
    --skip_sparse_;
    transform_densely(frame);
    ++dense_count;
    result_.action = TrackAction::dense;
    result_.reason = "sparse transforms missed the accuracy on the frames before";
    if (skip_sparse_ == 0 && result_.spectrum.finite && differencing()) {  // try again from a fresh reference
      refresh(frame);
      staleness_.try_again();
    }
  } else {
    transform_sparsely(frames);
  }
  if (options_.similarity) note_similarity_of_any(frame);
  note_check();
  result_.differencing = differencing();
  result_.us = microseconds_since(begin) - owed_us_;
  ++frames_;
}

template <class Real>
const TrackedFrame<Real>& TrackerImpl<Real>::push(const SignalView& frame) {
  forget_ahead();  // a push that threw may have left some
  take_better();
  track({&frame, 1});
  return result_;
}

template <class Real>
std::span<const TrackedFrame<Real>> TrackerImpl<Real>::push(std::span<const SignalView> frames) {
  forget_ahead();
  take_better();
  alone_ = false;
  results_done_ = 0;
  if (results_.size() < frames.size()) results_.resize(frames.size());
  for (; results_done_ < frames.size(); ++results_done_) {
    track(frames.subspan(results_done_));
    TrackedFrame<Real>& kept = results_[results_done_];
    std::swap(kept, result_);
    result_.calibration = kept.calibration;  // it holds until another is found
  }
  return results();
}

template class TrackerImpl<float>;
template class TrackerImpl<double>;

}  // namespace sfft::detail
