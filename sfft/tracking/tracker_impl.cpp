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

#include "kernels/base/math/region.hpp"
#include "kernels/runtime/elapsed.hpp"
#include "kernels/runtime/log.hpp"
#include "kernels/runtime/trace.hpp"
#include "sfft/error.hpp"
#include "sfft/page_locked.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/tracking/held_energy.hpp"

namespace sfft::detail {

namespace {

using Clock = std::chrono::steady_clock;

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
  const bool renewal = frame_.number == 0 || data_of(plan.source()) != data_of(plan_.source());
  const bool other_support =
      frame_.number == 0 || data_of(plan.source())->support != data_of(plan_.source())->support;
  const bool differenced = differencing();
  use(std::move(plan));
  if (renewal) frame_.renewed = {plan_.source().values().begin(), plan_.source().values().end()};
  dense_.renew(std::move(exact));
  expectation_.plan_changed();
  if (other_support) {
    // A plan for drifting tones is made for a fraction of the accuracy.
    const bool given = options_.accuracy > 0 && options_.plan.accuracy == 0;
    policy_.accuracy.renewed(given ? plan_.options().accuracy / options_.accuracy : 1);
  }
  policy_.staleness.forget_level();
  policy_.calibration.coefficients(plan_.source().k());
  if (other_support)
    policy_.watch.renewed(plan_.source().energy_captured(), !differencing());
  else
    policy_.watch.replanned();
  policy_.restart_calibration(frame_.number, other_support && !differenced && !differencing());
}

/// Freeing memory that a GPU may still read blocks until the GPU is idle, so a worker does it if it can.
template <class Real>
void TrackerImpl<Real>::use(Plan<Real> plan) {
  expectation_.reports.clear();
  frame_.previous.clear();
  ahead_.use(plan);
  std::swap(plan, plan_);
  if (!ahead_.overlaps() || frame_.number == 0) return;
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
  dense_.execute(plan_.source(), frame, frame_.number, frame_.result.spectrum);
}

template <class Real>
void TrackerImpl<Real>::cancel_ahead() noexcept {
  ahead_.cancel();
  dense_.cancel();
  memory_.settle();
  similarities_.forget();
  expectation_.forget();
}

/// How many of the next frames to transform before the decision about the first: up to the next that will be
/// compared with a dense transform, because a comparison may change the plan. All, if that costs the host no
/// time, because few comparisons change more than the reference.
template <class Real>
std::size_t TrackerImpl<Real>::run_length() const {
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  if (policy_.skip_sparse > 0) return 0;
  if (plan_.info().path == Path::dense) return kAll;
  if (testing_repetition() && !frame_.exact) return 1;
  if (ahead_.overlaps() && differencing()) return kAll;
  return static_cast<std::size_t>(policy_.calibration.frames_to_next());
}

/// Starts the background work for the comparisons that are expected among the next frames: dense transforms,
/// and the changes that decisions about the reference need.
template <class Real>
void TrackerImpl<Real>::begin_comparisons(const StreamFrames& frames) noexcept {
  if (!ahead_.overlaps() || frame_.exact || policy_.skip_sparse > 0) return;
  std::int64_t decision = policy_.reference.next_decision();
  int step = policy_.reference.decision_step();
  for (const std::int64_t number : expectation_.numbers) {
    if (number < frame_.number) continue;
    const SignalView& frame = frames.at(number);
    dense_.submit(frame, number);
    const bool learned = learning_.background.under_way() && number == learning_.background.due();
    if (!differencing() || number < decision || learned) continue;
    memory_.begin(frame, number);
    step = ReferencePolicy::next_step(step);
    decision = number + step;
  }
}

/// Predicts which of the next frames will need a dense transform: for scheduled comparisons, and for those
/// that spectra ahead will cause.
template <class Real>
void TrackerImpl<Real>::look_ahead(const StreamFrames& frames) noexcept {
  if (!ahead_.overlaps()) return;
  const std::size_t ready = ahead_.ready(frames);
  if (!expectation_.outdated(
          {frame_.number + static_cast<std::int64_t>(ready), frames.end(), dense_.found()}))
    return;
  try {
    expect_comparisons(frames.size(), ready);
  } catch (const std::exception&) {  // dense transforms then start when they are due
    expectation_.numbers.clear();
  }
}

template <class Real>
void TrackerImpl<Real>::expect_comparisons(std::size_t frames, std::size_t ready) {
  if (learning_.background.under_way() && learning_.background.due() >= frame_.number &&
      learning_.background.due() < expectation_.seen.known)
    expectation_.numbers.push_back(learning_.background.due());
  const auto reported = [&](std::size_t next) -> std::optional<Calibration::Report> {
    return next < ready ? std::optional(report_ahead(next)) : std::nullopt;
  };
  expectation_.forget_before(frame_.number);
  const auto found = [&](std::size_t next) { return known_errors_ahead(next); };
  policy_.calibration.expected(frames, reported, found, [&](std::size_t next) {
    if (expectation_.numbers.size() == BackgroundDense<Real>::kMax) return false;
    expectation_.numbers.push_back(frame_.number + static_cast<std::int64_t>(next));
    return true;
  });
}

/// Moves the sparse spectrum of the first frame into the result, and may submit some of the following frames.
template <class Real>
void TrackerImpl<Real>::find_spectrum(const StreamFrames& frames) {
  const auto begin = Clock::now();
  push_.share_time();
  look_ahead(frames);
  begin_comparisons(frames);
  ahead_.take(frames, push_.left(), run_length(), frame_.result.spectrum);
  push_.add_time(us_since(begin));
}

template <class Real>
void TrackerImpl<Real>::transform_sparsely(const StreamFrames& frames) {
  const SignalView& frame = frames.front();
  Spectrum<Real>& spectrum = frame_.result.spectrum;
  find_spectrum(frames);
  if (plan_.info().path == Path::dense) {
    ++counts.dense;
    frame_.result.action = TrackedFrame::Action::dense;
    frame_.result.reason = plan_.info().reason;
    frame_.previous.clear();
    review_dense(frame);
    return;
  }
  if (!spectrum.quality.finite) {
    frame_.previous.clear();
    frame_.result.reason = "a sample is NaN or infinite";
    return;
  }
  frame_.exact = !(spectrum.quality.relative_error > ReferencePolicy::kExact);
  const auto known = expectation_.reports.find(frame_.number);
  frame_.report = known == expectation_.reports.end() ? report_of(spectrum, frame_.previous) : known->second;
  frame_.previous.assign(spectrum.values.begin(), spectrum.values.end());
  const bool lost = options_.calibrate > 0 && tones_seem_lost(frame);
  const auto [step, factor] =
      policy_.after_sparse({frame_.number, frame_.report, spectrum.quality.relative_error, lost,
                            differencing(), testing_repetition() && !frame_.exact});
  frame_.result.calibration = factor;
  if (step == TrackingPolicy::Step::compare) {
    compare(frame);
    return;
  }
  if (step == TrackingPolicy::Step::compare_suspect) {
    compare_suspect(frame);
    return;
  }
  if (options_.check && options_.check(frame_.number) && !compare_for_check(frame)) return;
  if (factor != 1) {
    spectrum.quality.error_l2 *= factor;
    spectrum.quality.relative_error *= factor;
    for (Real& one : spectrum.standard_error) one *= static_cast<Real>(factor);
  }
  policy_.staleness.accepted();
}

/// Whether the support seems to have lost tones of the frame, which was just transformed sparsely.
template <class Real>
bool TrackerImpl<Real>::tones_seem_lost(const SignalView& frame) {
  const Spectrum<Real>& spectrum = frame_.result.spectrum;
  if (plan_.info().path != Path::direct)
    return policy_.watch.suspects(spectrum.quality.residual, spectrum.quality.tail_energy);
  // Direct sums do not measure energy outside the support.
  constexpr std::int64_t kSpacing = 8;
  if (frame_.number % kSpacing != 0) return false;
  const double all = whole_energy(frame);
  return all > 0 && policy_.watch.falls_short(held_energy(plan_.source(), in_double(spectrum)) / all);
}

/// Compares a frame because of a suspicion. If the suspicion is unfounded, present errors and residuals
/// become the level that later ones are compared with.
template <class Real>
void TrackerImpl<Real>::compare_suspect(const SignalView& frame) {
  policy_.calibration.bring_forward();
  policy_.watch.suspicion_compared();
  if (compare(frame)) policy_.staleness.forget_level();
}

template <class Real>
void TrackerImpl<Real>::track(const StreamFrames& frames) {
  const TraceRange range("tracker: frame");
  const SignalView& frame = frames.front();
  const auto begin = Clock::now();
  const double shared_before_us = push_.shared_us();
  frame_.result.index = frame_.number;
  frame_.result.action = TrackedFrame::Action::sparse;
  frame_.result.reason.clear();
  frame_.result.similarity.reset();
  frame_.result.check.reset();
  frame_.largest.reset();
  learning_.request.reset();
  policy_.watch.next_frame();
  frame_.missed = false;
  const bool learned =
      learning_.background.under_way() && frame_.number >= learning_.background.due() && take_learned(frame);
  if (learned) {
    policy_.skip_sparse = 0;
    policy_.staleness.try_again();
  } else if (policy_.skip_sparse > 0) {
    ahead_.cancel();
    frame_.previous.clear();
    expectation_.reports.clear();
    --policy_.skip_sparse;
    transform_densely(frame);
    ++counts.dense;
    frame_.result.action = TrackedFrame::Action::dense;
    frame_.result.reason = "sparse transforms missed the accuracy on the frames before";
    if (frame_.result.spectrum.quality.finite && relearn_if_outdated(frame, true)) {
      policy_.skip_sparse = 0;
      policy_.staleness.try_again();
    } else if (policy_.skip_sparse == 0 && frame_.result.spectrum.quality.finite &&
               differencing()) {  // try again from a fresh reference
      refresh(frame);
      policy_.staleness.try_again();
    }
  } else {
    transform_sparsely(frames);
  }
  if (options_.similarity) note_similarity_of_any(frame);
  dense_.discard(frame_.number);
  note_check();
  if (learning_.request)
    learning_.background.begin(frame, std::move(*std::exchange(learning_.request, std::nullopt)),
                               dense_.options());
  if (frame_.result.action != TrackedFrame::Action::sparse || !frame_.result.reason.empty()) {
    log_decision("tracker", [&] {
      return fmt::format("frame {}: {}: {}", frame_.number, to_string(frame_.result.action),
                         frame_.result.reason);
    });
  }
  frame_.result.differencing = differencing();
  frame_.result.us = us_since(begin) - (push_.shared_us() - shared_before_us);
  ++frame_.number;
}

template <class Real>
const typename Tracker<Real>::Frame& TrackerImpl<Real>::push(const SignalView& frame) {
  take_refined();
  if (!push_.announced({&frame, 1}, {})) cancel_ahead();
  push_.forget_announced();
  try {
    track({{&frame, 1}, frame_.number});
  } catch (...) {
    cancel_ahead();
    static_cast<void>(push_.take_time());
    throw;
  }
  similarities_.give(std::span(&frame_.result, 1));
  cancel_ahead();  // the caller may change samples after this
  frame_.result.us += push_.take_time();
  return frame_.result;
}

template <class Real>
std::span<const typename Tracker<Real>::Frame> TrackerImpl<Real>::push(std::span<const SignalView> frames,
                                                                       std::span<const SignalView> coming) {
  take_refined();
  ahead_.try_again();
  if (!push_.announced(frames, coming)) cancel_ahead();
  push_.begin(frames, ahead_.overlaps() ? coming : std::span<const SignalView>());
  try {
    while (!push_.finished()) {
      track({push_.next(), frame_.number});
      push_.take(frame_.result);
    }
    similarities_.give(push_.done());
  } catch (...) {
    similarities_.give(push_.done());
    cancel_ahead();  // these frames may never be pushed
    push_.divide_time();
    throw;
  }
  push_.divide_time();
  const auto begin = Clock::now();
  const StreamFrames next{coming, frame_.number};
  dense_.keep_only(next);
  memory_.keep_only(next.number, next.end());
  if (coming.empty()) cancel_ahead();
  if (ahead_.submitted() > coming.size()) ahead_.cancel();
  ahead_.poll();
  look_ahead(next);
  ahead_.submit(next, run_length());
  begin_comparisons(next);
  if (frames.empty() && !expectation_.numbers.empty()) dense_.prepare();
  push_.add_time(us_since(begin));
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
  push_.reserve(static_cast<std::size_t>(std::min(options_.plan.batch, kMaxReady)));
  for (typename Tracker<Real>::Frame& result : push_.room()) result.spectrum = plan_.make_spectrum();
  try {
    retired_.wake();
  } catch (const std::system_error&) {  // the caller's thread then frees plans
  }
  if (options_.background_learning) learning_.background.prepare(like.bytes());
  if (options_.calibrate == 0) return;
  memory_.prepare();
  Spectrum<Real> spectrum;
  for (const SignalView& frame :
       frames) {  // the first makes the plan that the thread then uses for the second
    dense_.submit(frame, frame_.number);
    dense_.execute(plan_.source(), frame, frame_.number, spectrum);
  }
}

template class TrackerImpl<float>;
template class TrackerImpl<double>;

}  // namespace sfft::detail
