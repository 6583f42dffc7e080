// SPDX-License-Identifier: Apache-2.0
// New references and new templates: decides when a frame becomes one, and when neither would help.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/base/math/region.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/tracking/held_energy.hpp"
#include "sfft/tracking/tracker_impl.hpp"

namespace sfft::detail {

namespace {

/// If errors are too large, a fresh support is also worthwhile if it leaves less than this fraction of the
/// energy outside. That halves errors.
constexpr double kLittleOutside = 0.25;

}  // namespace

/// Takes a reference if frames repeat, and gives it up if they do not. The frame was just transformed
/// densely. `error`: relative error of the plan for this frame. True: the plan or template has changed.
template <class Real>
bool TrackerImpl<Real>::reconsider_reference(const SignalView& frame, double error) {
  if (!options_.reference) return false;
  const std::vector<std::complex<double>> values = in_double(frame_.result.spectrum);
  const double tail = frame_.result.spectrum.quality.tail_energy;
  if (differencing()) {
    if (memory_.empty()) return false;
    const auto change = memory_.change(frame, frame_.number, values, multiplicities(plan_.source()));
    const bool departs = policy_.reference.departs(change, tail);
    const bool fails = policy_.reference.differences_fail(change, tail, error, frame_.number);
    if (departs && policy_.staleness.may_learn() && worth_learning(values)) {
      policy_.staleness.say("the frame is unlike its reference");
      if (options_.background_learning) {
        learn_in_background();
      } else if (relearn_if_better(frame)) {
        frame_.result.action = TrackedFrame::Action::relearned;
        ++counts.relearned;
        policy_.staleness.learned();
        policy_.reference.learned();
        return true;
      }
    }
    if (!policy_.reference.departed() && !fails) return false;
    give_up_reference();
    return true;
  }
  bool repeats = policy_.reference.may_take(frame_.number, error) && !memory_.empty();
  if (repeats) {
    const auto change = memory_.change(frame, frame_.number, values, multiplicities(plan_.source()));
    repeats = ReferencePolicy::repeats(change, tail);
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
  policy_.reference.given_up();
  memory_.forget();
  install(Plan<Real>(plan_.source(), plan_options(false)));
  frame_.result.reason += "; frames do not repeat: transformed without a reference from here on";
}

/// The same for a frame at which the reference is not otherwise reconsidered. True: the reference is given
/// up.
template <class Real>
bool TrackerImpl<Real>::give_up_failing_reference(const SignalView& frame, double error) {
  if (!options_.reference || !differencing() || memory_.empty() || !ReferencePolicy::large(error))
    return false;
  const auto change =
      memory_.change(frame, frame_.number, in_double(frame_.result.spectrum), multiplicities(plan_.source()));
  const double tail = frame_.result.spectrum.quality.tail_energy;
  if (!policy_.reference.differences_fail(change, tail, error, frame_.number)) return false;
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
  data.tail_energy = frame_.result.spectrum.quality.tail_energy;
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
  data->values = in_double(frame_.result.spectrum);
  learn_amplitudes(*data, frame);
  install(Plan<Real>(make_template(std::move(data)), plan_options(true)));
  remember_reference();
  frame_.result.action = TrackedFrame::Action::refreshed;
  frame_.result.reason = "frames repeat: transformed as differences to this one from here on";
}

/// A frame that has just been transformed densely becomes the reference of the same plan.
template <class Real>
void TrackerImpl<Real>::refresh(const SignalView& frame) {
  if (options_.similarity) note_similarity(frame);
  const std::vector<std::complex<double>> values = in_double(frame_.result.spectrum);
  use(PlanAccess<Real>::with_exact_reference(plan_, frame, values));
  memory_.keep(frame, values, ahead_.overlaps());
  frame_.renewed = values;
  policy_.calibration.referenced();
  expectation_.plan_changed();
}

/// Whether a support learned from this frame, just transformed densely, may hold enough more than the present
/// one. Learning takes several dense transforms.
template <class Real>
bool TrackerImpl<Real>::worth_learning(std::span<const std::complex<double>> values) const {
  const double held = held_energy(plan_.source(), values);
  return learning_.worthwhile(frame_.number, held, held + frame_.result.spectrum.quality.tail_energy,
                              options_.relearn_below);
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
  return 1 - frame_.result.spectrum.quality.residual * frame_.result.spectrum.quality.residual;
}

/// Call after any dense transform. Learns a new template if the support holds less of the energy than before
/// and a fresh one would hold more. True: the template is new.
template <class Real>
bool TrackerImpl<Real>::relearn_if_outdated(const SignalView& frame, bool missed) {
  const double share = exact_share(), before = policy_.watch.expected();
  if (!policy_.watch.outdated(share, missed)) return false;
  frame_.missed = missed;
  policy_.staleness.say(fmt::format("the support holds {:.3g} % of the energy, and held {:.3g} % before",
                                    100 * share, 100 * before));
  // While sparse transforms are skipped, nothing is gained by a template that is ready later.
  const bool bearable = policy_.skip_sparse == 0 && policy_.watch.bearable(share);
  if (!learn_or_begin(frame, bearable)) return false;
  frame_.result.action = TrackedFrame::Action::relearned;
  ++counts.relearned;
  policy_.staleness.learned();
  policy_.reference.learned();
  return true;
}

/// For a frame that the plan transforms densely: seeks a template or reference that allows sparse ones.
template <class Real>
void TrackerImpl<Real>::review_dense(const SignalView& frame) {
  if (!frame_.result.spectrum.quality.finite || options_.calibrate == 0 || relearn_if_outdated(frame)) return;
  if (!options_.reference || differencing() || !policy_.reference.may_decide(frame_.number)) return;
  // Two frames in a row show whether frames repeat.
  const bool second = !memory_.empty();
  const bool repeats = reconsider_reference(frame, 1);
  if (repeats && differencing()) {
    ++counts.refreshed;
    return;
  }
  if (repeats) {  // differences are no better
    frame_.result.action = TrackedFrame::Action::dense;
    frame_.result.reason = plan_.info().reason;
  }
  if (!second) return;
  memory_.forget();
  policy_.reference.decided(frame_.number);
}

/// The request to learn from the frame that was just transformed densely.
template <class Real>
LearnRequest<Real> TrackerImpl<Real>::learn_request() const {
  const double held = held_energy(plan_.source(), in_double(frame_.result.spectrum));
  return {data_of(plan_.source()),
          frame_.number,
          policy_.staleness.reason(),
          held,
          held + frame_.result.spectrum.quality.tail_energy,
          options_.relearn_below,
          frame_.missed ? kLittleOutside : 0,
          plan_.info().path != Path::dense,
          learning_.tones,
          frame_.number - learning_.tones_at,
          relearn_options(),
          plan_options(differencing(), 1)};
}

/// Does what relearn_if_better() does, but without waiting. Learning begins at the end of this frame, and
/// take_learned() does the rest.
template <class Real>
void TrackerImpl<Real>::learn_in_background() {
  if (learning_.background.under_way() || learning_.request) return;
  policy_.watch.trying(exact_share());
  learning_.request = learn_request();
}

/// Changes to the template that was learned in the background, if it is better than the one in force. The
/// frame is then transformed densely and becomes the reference.
template <class Real>
bool TrackerImpl<Real>::take_learned(const SignalView& frame) {
  auto outcome = learning_.background.take();
  const bool helped = outcome && outcome->answer.plan;
  const bool same_template = outcome && outcome->request.old == data_of(plan_.source());
  const bool usable =
      same_template && outcome->request.plan.use_reference == plan_options(differencing()).use_reference;
  if (helped && !usable)
    policy_.watch.abandoned();
  else
    policy_.watch.tried(helped);
  if (!same_template) return false;
  const auto& [request, answer, exact] = *outcome;
  learning_.note_tones(answer, request.frame);
  learning_.learned(request.frame, answer, request.all);
  if (!helped || !usable) return false;
  transform_densely(frame);
  if (!frame_.result.spectrum.quality.finite) return false;
  note_similarity(frame);
  const double share_before = exact_share();
  memory_.forget();
  install(std::move(*outcome->answer.plan), std::move(outcome->exact));
  transform_densely(frame);
  if (differencing()) refresh(frame);
  frame_.result.action = TrackedFrame::Action::relearned;
  frame_.result.reason = fmt::format("{}; the support held {:.1f} % of what a fresh one did at frame {}",
                                     request.reason, 100 * request.held / answer.fresh_held, request.frame);
  ++counts.relearned;
  ++counts.dense;
  policy_.staleness.learned();
  policy_.reference.learned();
  // If a tone moved on while the template was learned, the template does not contain it and holds no more of
  // this frame than the old one did.
  constexpr double kDelivered = 0.125;
  const double promised = (answer.fresh_held - request.held) / request.all;
  const double share = exact_share();
  if (share - share_before < kDelivered * promised && relearn_if_better(frame)) return true;
  policy_.watch.renewed(share, !differencing());
  return true;
}

/// Learns from a frame just transformed densely. Keeps the old support if that holds nearly as much.
template <class Real>
bool TrackerImpl<Real>::relearn_if_better(const SignalView& frame) {
  const LearnRequest<Real> request = learn_request();
  policy_.watch.trying(exact_share());
  LearnAnswer<Real> answer;
  try {
    answer = learn_better(frame, request);
  } catch (...) {
    policy_.watch.abandoned();
    throw;
  }
  policy_.watch.tried(answer.plan.has_value());
  learning_.note_tones(answer, frame_.number);
  if (answer.fresh && answer.fresh->k() == plan_.source().k() &&
      request.learn.method == LearnOptions::Method::dense)
    frame_.largest = answer.fresh;
  learning_.learned(frame_.number, answer, request.all);
  if (!answer.plan) return false;
  frame_.result.reason = fmt::format("{}; the support holds {:.1f} % of what a fresh one does",
                                     request.reason, 100 * request.held / answer.fresh_held);
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
  constexpr double kNarrowly = 2;
  const bool narrowly = error < kNarrowly * options_.accuracy && options_.plan.accuracy == 0;
  const std::optional<double> fraction = policy_.accuracy.smaller();
  if (!narrowly || !fraction) return false;
  Plan<Real> plan(plan_.source(), plan_options(differencing(), *fraction));
  if (plan.info().path == Path::dense) {
    policy_.accuracy.impossible();
    return false;
  }
  policy_.accuracy.took(*fraction);
  install(std::move(plan));
  frame_.result.reason += "; planned for smaller errors from here on";
  return true;
}

/// Call after the dense transform of a stale frame: takes a new reference, a new template, or neither.
/// `error`: relative error of the plan for this frame. `bearable`: following frames may have such errors
/// until a new template is ready.
template <class Real>
void TrackerImpl<Real>::renew(const SignalView& frame, double error, bool bearable) {
  const bool lately = policy_.staleness.renewed_lately();
  frame_.result.action = TrackedFrame::Action::dense;
  frame_.result.reason = policy_.staleness.reason();
  if (relearn_if_outdated(frame, true)) {
    // relearn_if_outdated() has set the action and the reason
  } else if (plan_for_smaller_errors(error)) {
    ++counts.dense;
    return policy_.staleness.try_again();
  } else if (!differencing() && reconsider_reference(frame, 1)) {
    ++counts.refreshed;
  } else if (plan_.source().power().empty()) {
    // The plan uses least squares, because its template is only a support. That fails here; typical
    // amplitudes help.
    auto data = std::make_shared<TemplateData>(*data_of(plan_.source()));
    data->values = in_double(frame_.result.spectrum);
    learn_amplitudes(*data, frame);
    if (options_.similarity) note_similarity(frame);
    install(Plan<Real>(make_template(std::move(data)), plan_options(false)));
  } else if (policy_.staleness.may_learn() && learn_or_begin(frame, bearable)) {
    frame_.result.action = TrackedFrame::Action::relearned;
    ++counts.relearned;
  } else if (differencing()) {
    if (reconsider_reference(frame, 1)) {  // the plan is new and has not missed the accuracy yet
      ++counts.dense;
      return policy_.staleness.try_again();
    }
    note_similarity(frame);
    refresh(frame);
    policy_.staleness.forget_level();
    frame_.result.action = TrackedFrame::Action::refreshed;
    ++counts.refreshed;
  }
  ++counts.dense;
  const int skip = policy_.staleness.renewed(lately);
  if (!bearable)
    policy_.skip_sparse = skip;
  else if (frame_.result.action == TrackedFrame::Action::dense)
    policy_.staleness.forget_level();  // nothing helps, so present errors become the level
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
