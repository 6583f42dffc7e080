// SPDX-License-Identifier: Apache-2.0
// New references and new templates: decides when a frame becomes one, and when neither would help.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/base/region.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/tracking/held_energy.hpp"
#include "sfft/tracking/tracker_impl.hpp"

namespace sfft::detail {

namespace {

/// Differences are worthwhile if their energy outside the support is less than kRepeats times that of frames,
/// and no longer if it is more than kRepeatsNoMore times that of frames.
constexpr double kRepeats = 0.3, kRepeatsNoMore = 1;
/// A larger relative error is caused by the differences themselves if the support changes by more energy than
/// there is outside it, because a plan for differences expects small ones. Differences fail after three such
/// frames, each within kLately frames of the one before.
constexpr double kLargeError = 0.25;
constexpr std::int64_t kLately = 64;
/// Frames after which differences that failed are tried again.
constexpr std::int64_t kTryAgain = 1024;
/// If errors are too large, a fresh support is also worthwhile if it leaves less than this fraction of the
/// energy outside. That halves errors.
constexpr double kLittleOutside = 0.25;
/// Number of frames for which the share of the energy in fresh frequencies is trusted.
constexpr std::int64_t kLongestTrust = 256;

}  // namespace

/// Takes a reference if frames repeat, and gives it up if they do not. The frame was just transformed
/// densely. `error`: relative error of the plan for this frame. True: the plan or template has changed.
template <class Real>
bool TrackerImpl<Real>::reconsider_reference(const SignalView& frame, double error) {
  if (!options_.reference) return false;
  const std::vector<std::complex<double>> values = in_double(result_.spectrum);
  const double tail = result_.spectrum.quality.tail_energy;
  if (differencing()) {
    if (memory_.empty()) return false;
    const auto change = memory_.change(frame, values, multiplicities(plan_.source()));
    departures_ = change.outside > kRepeatsNoMore * tail ? departures_ + 1 : 0;
    const bool fails = differences_fail(change, error);
    if (departures_ > 0 && staleness_.may_learn() && worth_learning(values)) {
      staleness_.say("the frame is unlike its reference");
      if (options_.background_learning) {
        learn_in_background();
      } else if (relearn_if_better(frame)) {
        result_.action = TrackedFrame::Action::relearned;
        ++relearned_count;
        staleness_.learned();
        departures_ = 0;
        return true;
      }
    }
    // One departure is a cut, after which frames may repeat again. Two are an object that passed and became
    // the reference.
    if (departures_ < 3 && !fails) return false;
    give_up_reference();
    return true;
  }
  ++repetition_tests_;
  bool repeats = !memory_.empty() && error > kExact && frames_ >= next_reference_;
  if (repeats) {
    const auto change = memory_.change(frame, values, multiplicities(plan_.source()));
    repeats = change.outside < kRepeats * tail && change.support < tail;
  }
  if (!repeats) {
    memory_.keep(frame, values);
    return false;
  }
  take_reference(frame);
  return true;
}

template <class Real>
void TrackerImpl<Real>::give_up_reference() {
  departures_ = failures_ = 0;
  memory_.forget();
  install(Plan<Real>(plan_.source(), plan_options(false)));
  result_.reason += "; frames do not repeat: transformed without a reference from here on";
}

/// Whether differences caused errors on several recent frames that transforms without a reference would not
/// have. `change`: that of the current frame, which was transformed densely.
template <class Real>
bool TrackerImpl<Real>::differences_fail(const StreamMemory::Change& change, double error) {
  if (!(error > kLargeError && change.support > result_.spectrum.quality.tail_energy)) return false;
  failures_ = frames_ - failed_at_ < kLately ? failures_ + 1 : 1;
  failed_at_ = frames_;
  if (failures_ < 3) return false;
  next_reference_ = frames_ + kTryAgain;
  return true;
}

/// The same for a frame at which the reference is not otherwise reconsidered. True: the reference is given
/// up.
template <class Real>
bool TrackerImpl<Real>::give_up_failing_reference(const SignalView& frame, double error) {
  if (!options_.reference || !differencing() || memory_.empty() || !(error > kLargeError)) return false;
  const auto change = memory_.change(frame, in_double(result_.spectrum), multiplicities(plan_.source()));
  if (!differences_fail(change, error)) return false;
  give_up_reference();
  return true;
}

/// Sets the envelopes and powers of a template that is only a support, from a frame.
template <class Real>
void TrackerImpl<Real>::learn_amplitudes(TemplateData& data, const SignalView& frame) const {
  if (!data.power.empty()) return;
  LearnOptions again;
  again.keep = Largest{data.k()};
  again.threads = options_.plan.threads;
  again.device = options_.learn.device;
  const Template learned = learn(frame, again);
  data.tail_envelope = data_of(learned)->tail_envelope;
  data.change_envelope = data_of(learned)->change_envelope;
  data.tail_energy = result_.spectrum.quality.tail_energy;
  for (const std::complex<double>& value : data.values) data.power.push_back(std::norm(value));
  data.plans.clear();  // they were made without powers
}

/// Frames repeat: this one, just transformed densely, becomes the reference of the following ones.
template <class Real>
void TrackerImpl<Real>::take_reference(const SignalView& frame) {
  note_similarity(frame);
  auto data = std::make_shared<TemplateData>(*data_of(plan_.source()));
  data->reference_type = frame.type();
  data->reference.resize(frame.bytes());
  copy_elements(frame, data->reference.data());
  data->values = in_double(result_.spectrum);
  learn_amplitudes(*data, frame);
  install(Plan<Real>(make_template(std::move(data)), plan_options(true)));
  remember_reference();
  result_.action = TrackedFrame::Action::refreshed;
  result_.reason = "frames repeat: transformed as differences to this one from here on";
}

/// A frame that has just been transformed densely becomes the reference of the same plan.
template <class Real>
void TrackerImpl<Real>::refresh(const SignalView& frame) {
  if (options_.similarity) note_similarity(frame);
  const std::vector<std::complex<double>> values = in_double(result_.spectrum);
  use(PlanAccess<Real>::with_exact_reference(plan_, frame, values));
  memory_.keep(frame, values, ahead_.overlaps());
  renewed_values_ = values;
  calibration_.referenced();
  found_.clear();
  expectation_outdated_ = true;
}

/// Whether a support learned from this frame, just transformed densely, may hold enough more than the present
/// one. Learning takes several dense transforms, and the share of a scene's energy in fresh frequencies
/// changes slowly. So learning is not repeated soon if the present support holds nearly the last known share.
template <class Real>
bool TrackerImpl<Real>::worth_learning(std::span<const std::complex<double>> values) const {
  if (frames_ - learned_at_ >= kLongestTrust) return true;
  const double held = held_energy(plan_.source(), values);
  const double halfway = (1 + options_.relearn_below) / 2;
  return !(held >= halfway * fresh_share_ * (held + result_.spectrum.quality.tail_energy));
}

/// If no criterion is set, uses the one that the template was learned with, or its k.
template <class Real>
LearnOptions TrackerImpl<Real>::relearn_options() const {
  LearnOptions learn_options = options_.learn;
  if (!learn_options.keep) {
    const TemplateData& data = *data_of(plan_.source());
    if (data.learned_energy > 0) {
      learn_options.keep = Energy{data.learned_energy};
    } else if (data.learned_threshold_sigma > 0) {
      learn_options.keep = AboveNoise{data.learned_threshold_sigma};
    } else {
      learn_options.keep = Largest{data.learned_k > 0 ? data.learned_k : data.k()};
    }
  }
  learn_options.reference = differencing();
  learn_options.threads = options_.plan.threads;
  return learn_options;
}

/// The share of the energy of a frame, just transformed densely, in the support.
template <class Real>
double TrackerImpl<Real>::exact_share() const {
  return 1 - result_.spectrum.quality.residual * result_.spectrum.quality.residual;
}

/// Call after any dense transform. Learns a new template if the support holds less of the energy than before
/// and a fresh one would hold more. True: the template is new.
template <class Real>
bool TrackerImpl<Real>::relearn_if_outdated(const SignalView& frame, bool missed) {
  const double share = exact_share(), before = watch_.expected();
  if (!watch_.outdated(share, missed)) return false;
  missed_ = missed;
  staleness_.say(fmt::format("the support holds {:.3g} % of the energy, and held {:.3g} % before",
                             100 * share, 100 * before));
  // While sparse transforms are skipped, nothing is gained by a template that is ready later.
  const bool bearable = skip_sparse_ == 0 && watch_.bearable(share);
  if (!learn_or_begin(frame, bearable)) return false;
  result_.action = TrackedFrame::Action::relearned;
  ++relearned_count;
  staleness_.learned();
  departures_ = 0;
  return true;
}

/// For a frame that the plan transforms densely: seeks a template or reference that allows sparse ones.
template <class Real>
void TrackerImpl<Real>::review_dense(const SignalView& frame) {
  if (!result_.spectrum.quality.finite || options_.calibrate == 0 || relearn_if_outdated(frame)) return;
  if (!options_.reference || differencing() || frames_ < next_decision_) return;
  // Two frames in a row show whether frames repeat.
  const bool second = !memory_.empty();
  const bool repeats = reconsider_reference(frame, 1);
  if (repeats && differencing()) {
    ++refreshed_count;
    return;
  }
  if (repeats) {  // differences are no better
    result_.action = TrackedFrame::Action::dense;
    result_.reason = plan_.info().reason;
  }
  if (!second) return;
  memory_.forget();
  decision_step_ = next_step(decision_step_);
  next_decision_ = frames_ + decision_step_;
}

/// The request to learn from the frame that was just transformed densely.
template <class Real>
LearnRequest<Real> TrackerImpl<Real>::learn_request() const {
  const double held = held_energy(plan_.source(), in_double(result_.spectrum));
  return {data_of(plan_.source()),
          frames_,
          staleness_.reason(),
          held,
          held + result_.spectrum.quality.tail_energy,
          options_.relearn_below,
          missed_ ? kLittleOutside : 0,
          plan_.info().path != Path::dense,
          tones_,
          frames_ - tones_at_,
          relearn_options(),
          plan_options(differencing(), 1)};
}

/// Keeps the tones of a frame. If none drifts, earlier tones are kept for a while, because a velocity can be
/// measured only after tones have moved.
template <class Real>
void TrackerImpl<Real>::note_tones(const LearnAnswer<Real>& answer, std::int64_t frame) {
  constexpr std::int64_t kLongEnough = 64;
  const bool drift = std::ranges::any_of(answer.tones, &DriftingTone::drifts);
  if (!answer.fresh || (!drift && frame - tones_at_ < kLongEnough && answer.tones.size() == tones_.size()))
    return;
  tones_ = answer.tones;
  tones_at_ = frame;
}

/// Does what relearn_if_better() does, but without waiting. Learning begins at the end of this frame, and
/// take_learned() does the rest.
template <class Real>
void TrackerImpl<Real>::learn_in_background() {
  if (learning_.under_way() || to_learn_) return;
  watch_.trying(exact_share());
  to_learn_ = learn_request();
}

/// Changes to the template that was learned in the background, if it is better than the one in force. The
/// frame is then transformed densely and becomes the reference.
template <class Real>
bool TrackerImpl<Real>::take_learned(const SignalView& frame) {
  auto outcome = learning_.take();
  const bool helped = outcome && outcome->answer.plan;
  const bool same_template = outcome && outcome->request.old == data_of(plan_.source());
  const bool usable =
      same_template && outcome->request.plan.use_reference == plan_options(differencing()).use_reference;
  if (helped && !usable)
    watch_.abandoned();
  else
    watch_.tried(helped);
  if (!same_template) return false;
  const auto& [request, answer, exact] = *outcome;
  note_tones(answer, request.frame);
  learned_at_ = request.frame;
  fresh_share_ = answer.fresh_held / std::max(request.all, 1e-300);
  if (!helped || !usable) return false;
  transform_densely(frame);
  if (!result_.spectrum.quality.finite) return false;
  note_similarity(frame);
  const double share_before = exact_share();
  memory_.forget();
  install(std::move(*outcome->answer.plan), std::move(outcome->exact));
  transform_densely(frame);
  if (differencing()) refresh(frame);
  result_.action = TrackedFrame::Action::relearned;
  result_.reason = fmt::format("{}; the support held {:.1f} % of what a fresh one did at frame {}",
                               request.reason, 100 * request.held / answer.fresh_held, request.frame);
  ++relearned_count;
  ++dense_count;
  staleness_.learned();
  departures_ = 0;
  // If a tone moved on while the template was learned, the template does not contain it and holds no more of
  // this frame than the old one did.
  constexpr double kDelivered = 0.125;
  const double promised = (answer.fresh_held - request.held) / request.all;
  const double share = exact_share();
  if (share - share_before < kDelivered * promised && relearn_if_better(frame)) return true;
  watch_.renewed(share, !differencing());
  return true;
}

/// Learns from a frame just transformed densely. Keeps the old support if that holds nearly as much.
template <class Real>
bool TrackerImpl<Real>::relearn_if_better(const SignalView& frame) {
  const LearnRequest<Real> request = learn_request();
  watch_.trying(exact_share());
  LearnAnswer<Real> answer = learn_better(frame, request);
  watch_.tried(answer.plan.has_value());
  note_tones(answer, frames_);
  if (answer.fresh && answer.fresh->k() == plan_.source().k() &&
      request.learn.method == LearnOptions::Method::dense)
    largest_ = answer.fresh;
  learned_at_ = frames_;
  fresh_share_ = answer.fresh_held / std::max(request.all, 1e-300);
  if (!answer.plan) return false;
  result_.reason = fmt::format("{}; the support holds {:.1f} % of what a fresh one does", request.reason,
                               100 * request.held / answer.fresh_held);
  note_similarity(frame);
  install(std::move(*answer.plan));
  remember_reference();
  transform_densely(frame);  // the result belongs to the template in force after this frame
  return true;
}

/// False: the template does not change for now.
template <class Real>
bool TrackerImpl<Real>::learn_or_begin(const SignalView& frame, bool bearable) {
  if (!options_.background_learning || !bearable) return relearn_if_better(frame);
  learn_in_background();
  return false;
}

/// A plan is the fastest one that meets the accuracy on average. If errors scatter about the accuracy, many
/// frames miss it narrowly, and a plan for smaller errors prevents that.
template <class Real>
bool TrackerImpl<Real>::plan_for_smaller_errors(double error) {
  constexpr double kStep = 0.7, kMin = 0.3, kNarrowly = 2;
  const bool narrowly = error < kNarrowly * options_.accuracy && options_.plan.accuracy == 0;
  if (!narrowly || !smaller_errors_possible_ || kStep * accuracy_fraction_ < kMin) return false;
  Plan<Real> plan(plan_.source(), plan_options(differencing(), kStep * accuracy_fraction_));
  smaller_errors_possible_ = plan.info().path != Path::dense;
  if (!smaller_errors_possible_) return false;
  accuracy_fraction_ *= kStep;
  install(std::move(plan));
  result_.reason += "; planned for smaller errors from here on";
  return true;
}

/// Call after the dense transform of a stale frame: takes a new reference, a new template, or neither.
/// `error`: relative error of the plan for this frame. `bearable`: following frames may have such errors
/// until a new template is ready.
template <class Real>
void TrackerImpl<Real>::renew(const SignalView& frame, double error, bool bearable) {
  const bool lately = staleness_.renewed_lately();
  result_.action = TrackedFrame::Action::dense;
  result_.reason = staleness_.reason();
  if (relearn_if_outdated(frame, true)) {
    // relearn_if_outdated() has set the action and the reason
  } else if (plan_for_smaller_errors(error)) {
    ++dense_count;
    return staleness_.try_again();
  } else if (!differencing() && reconsider_reference(frame, 1)) {
    ++refreshed_count;
  } else if (plan_.source().power().empty()) {
    // The plan uses least squares, because its template is only a support. That fails here; typical
    // amplitudes help.
    auto data = std::make_shared<TemplateData>(*data_of(plan_.source()));
    data->values = in_double(result_.spectrum);
    learn_amplitudes(*data, frame);
    if (options_.similarity) note_similarity(frame);
    install(Plan<Real>(make_template(std::move(data)), plan_options(false)));
  } else if (staleness_.may_learn() && learn_or_begin(frame, bearable)) {
    result_.action = TrackedFrame::Action::relearned;
    ++relearned_count;
  } else if (differencing()) {
    if (reconsider_reference(frame, 1)) {  // the plan is new and has not missed the accuracy yet
      ++dense_count;
      return staleness_.try_again();
    }
    note_similarity(frame);
    refresh(frame);
    staleness_.forget_level();
    result_.action = TrackedFrame::Action::refreshed;
    ++refreshed_count;
  }
  ++dense_count;
  const int skip = staleness_.renewed(lately);
  if (!bearable)
    skip_sparse_ = skip;
  else if (result_.action == TrackedFrame::Action::dense)
    staleness_.forget_level();  // nothing helps, so present errors become the level
}

template bool TrackerImpl<float>::give_up_failing_reference(const SignalView&, double);
template bool TrackerImpl<float>::reconsider_reference(const SignalView&, double);
template bool TrackerImpl<double>::give_up_failing_reference(const SignalView&, double);
template bool TrackerImpl<double>::reconsider_reference(const SignalView&, double);
template bool TrackerImpl<float>::worth_learning(std::span<const std::complex<double>>) const;
template bool TrackerImpl<double>::worth_learning(std::span<const std::complex<double>>) const;
template void TrackerImpl<float>::learn_amplitudes(TemplateData&, const SignalView&) const;
template void TrackerImpl<double>::learn_amplitudes(TemplateData&, const SignalView&) const;
template void TrackerImpl<float>::take_reference(const SignalView&);
template void TrackerImpl<double>::take_reference(const SignalView&);
template void TrackerImpl<float>::refresh(const SignalView&);
template void TrackerImpl<double>::refresh(const SignalView&);
template double TrackerImpl<float>::exact_share() const;
template double TrackerImpl<double>::exact_share() const;
template bool TrackerImpl<float>::relearn_if_outdated(const SignalView&, bool);
template void TrackerImpl<float>::review_dense(const SignalView&);
template bool TrackerImpl<float>::relearn_if_better(const SignalView&);
template bool TrackerImpl<double>::relearn_if_outdated(const SignalView&, bool);
template void TrackerImpl<double>::review_dense(const SignalView&);
template bool TrackerImpl<double>::relearn_if_better(const SignalView&);
template bool TrackerImpl<float>::take_learned(const SignalView&);
template bool TrackerImpl<double>::take_learned(const SignalView&);
template void TrackerImpl<float>::renew(const SignalView&, double, bool);
template void TrackerImpl<double>::renew(const SignalView&, double, bool);

}  // namespace sfft::detail
