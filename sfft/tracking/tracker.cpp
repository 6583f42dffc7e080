// SPDX-License-Identifier: Apache-2.0
// Decides frame by frame: transforms sparsely, compares with a dense transform when calibration asks for it,
// and refreshes the reference or relearns the template when reported errors drift.
#include "sfft/tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/base/exclusive.hpp"
#include "kernels/base/region.hpp"
#include "sfft/tracking/calibration.hpp"
#include "sfft/tracking/stream_memory.hpp"
#include "template/data/template_data.hpp"

namespace sfft {

const char* to_string(TrackAction action) noexcept {
  switch (action) {
    case TrackAction::sparse:
      return "sparse";
    case TrackAction::refreshed:
      return "refreshed";
    case TrackAction::relearned:
      return "relearned";
    case TrackAction::dense:
      return "dense";
    case TrackAction::calibrated:
      return "calibrated";
  }
  return "unknown";
}

namespace detail {

namespace {

/// Frames after a refresh whose errors set the level that later ones are compared with.
constexpr std::size_t kBaselineFrames = 16;
constexpr int kLongestHold = 256;
/// A larger relative error is of no use to anyone, whatever was asked for.
constexpr double kUselessError = 0.5;
/// A difference pays when it has less than this share of the energy that frames have outside the support, and
/// no longer when it has this much.
constexpr double kRepeats = 0.3, kRepeatsNoMore = 1;
/// Below this relative error there is nothing to gain.
constexpr double kExact = 1e-5;

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

std::vector<double> multiplicities(const Template& tmpl) {
  std::vector<double> out;
  for (const std::int64_t flat : tmpl.support())
    out.push_back(tmpl.is_real() && conjugate_index(tmpl.shape(), flat) != flat ? 2 : 1);
  return out;
}

/// Energy of a spectrum's coefficients without f = 0, both halves of a real signal's.
double held_energy(const Template& tmpl, std::span<const std::complex<double>> values) {
  const std::vector<double> multiplicity = multiplicities(tmpl);
  double held = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (tmpl.support()[i] != 0) held += multiplicity[i] * std::norm(values[i]);
  }
  return held;
}

template <class Real>
std::vector<std::complex<double>> in_double(const Spectrum<Real>& spectrum) {
  return {spectrum.values.begin(), spectrum.values.end()};
}

}  // namespace

template <class Real>
class TrackerImpl {
 public:
  TrackerImpl(const Template& tmpl, const TrackerOptions& options)
      : options_(options),
        plan_(tmpl, plan_options(options.reference)),
        calibration_(options.calibrate),
        hold_(options.hold) {
    install(plan_);
    remember_reference();
  }

  const TrackedFrame<Real>& push(const SignalView& frame);

  const Plan<Real>& plan() const noexcept { return plan_; }
  std::int64_t refreshed_count = 0, relearned_count = 0, dense_count = 0, calibrated_count = 0;
  std::atomic<bool> in_use{false};  ///< by a push under way

 private:
  PlanOptions plan_options(bool reference) const {
    check(options_);
    PlanOptions options = options_.plan;
    options.use_reference = reference;
    if (options.accuracy == 0) options.accuracy = options_.accuracy;
    return options;
  }
  PlanOptions dense_options() const {
    PlanOptions options;
    options.backend = options_.plan.backend;
    options.device = options_.plan.device;
    options.path = Path::dense;
    options.threads = options_.plan.threads;
    return options;
  }
  bool differencing() const { return plan_.info().reference; }
  void install(Plan<Real> plan);
  void remember_reference();
  void transform_densely(const SignalView& frame);
  void transform_sparsely(const SignalView& frame);
  void compare(const SignalView& frame);
  bool reconsider_reference(const SignalView& frame, double error);
  void take_reference(const SignalView& frame);
  void refresh(const SignalView& frame);
  void learn_amplitudes(TemplateData& data, const SignalView& frame) const;
  bool unacceptable(double error);
  bool suspect(double error);
  bool drifted(double error);
  bool relearn_if_better(const SignalView& frame);
  void renew(const SignalView& frame);
  double baseline() const;

  TrackerOptions options_;
  Plan<Real> plan_;
  std::optional<Plan<Real>> dense_;  ///< the same template, transformed densely
  Workspace<Real> workspace_, dense_workspace_;
  TrackedFrame<Real> result_;
  Spectrum<Real> sparse_;  ///< of a frame that is compared
  std::int64_t frames_ = 0;

  Calibration calibration_;
  StreamMemory memory_;             ///< the reference, or the last frame transformed densely
  int looks_ = 0;                   ///< frames compared to see whether frames repeat
  int departures_ = 0;              ///< decisions in a row that found a frame unlike its reference
  std::int64_t next_decision_ = 0;  ///< frame from which a comparison may change the reference
  int decision_step_ = 1;           ///< frames from one such to the next

  std::vector<double> levels_;  ///< reported errors of the first frames after the last renewal
  std::string stale_reason_;
  int since_renewal_ = 0;
  int stale_in_a_row_ = 0;
  int hold_;  ///< frames between two renewals; doubles while they do not help
  int dense_in_a_row_ = 0;
  int skip_sparse_ = 0;  ///< frames to come that go straight to dense
};

template <class Real>
void TrackerImpl<Real>::install(Plan<Real> plan) {
  plan_ = std::move(plan);
  workspace_ = plan_.make_workspace();
  dense_.reset();
  calibration_.restart();
  levels_.clear();
  levels_.reserve(kBaselineFrames);
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

/// Compares the sparse spectrum of a frame with the exact one, which becomes the result; renews what is
/// stale.
template <class Real>
void TrackerImpl<Real>::compare(const SignalView& frame) {
  sparse_ = std::move(result_.spectrum);
  result_.spectrum = {};
  transform_densely(frame);
  if (!result_.spectrum.finite) {  // by a sample that the plan does not read
    result_.spectrum = std::move(sparse_);
    return;
  }
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < sparse_.values.size(); ++i) {
    if ((*sparse_.support)[i] == 0) continue;
    const std::complex<double> truth(result_.spectrum.values[i]);
    error += std::norm(std::complex<double>(sparse_.values[i]) - truth);
    norm += std::norm(truth);
  }
  const double relative = norm > 0 ? std::sqrt(error / norm) : 0;
  calibration_.compared(std::sqrt(error), sparse_.error_l2, sparse_.relative_error);
  ++calibrated_count;
  result_.action = TrackAction::calibrated;
  result_.reason = fmt::format("compared with a dense transform: the error was {:.3g}, reported as {:.3g}",
                               relative, sparse_.relative_error);
  // Comparisons come thick while something passes through the scene. That is no reason for another reference
  // or template: these are reconsidered ever more rarely.
  const bool reconsider = !differencing() || frames_ >= next_decision_;
  if (unacceptable(relative) || (reconsider && drifted(relative))) return renew(frame);
  if (reconsider) {
    decision_step_ = std::min(2 * decision_step_, kLongestHold);
    next_decision_ = frames_ + decision_step_;
    if (reconsider_reference(frame, relative)) return;
    if (departures_ > 0) refresh(frame);
  }
  ++since_renewal_;
}

/// Takes a reference where frames repeat and gives it up where they do not. The frame has just been
/// transformed densely; `error` is what the plan's was.
template <class Real>
bool TrackerImpl<Real>::reconsider_reference(const SignalView& frame, double error) {
  if (!options_.reference) return false;
  const std::vector<std::complex<double>> values = in_double(result_.spectrum);
  const double tail = result_.spectrum.tail_energy;
  if (differencing()) {
    if (memory_.empty()) return false;
    const auto change = memory_.change(frame, values, multiplicities(plan_.source()));
    departures_ = change.outside > kRepeatsNoMore * tail ? departures_ + 1 : 0;
    if (departures_ > 0 && since_renewal_ >= hold_) {
      stale_reason_ = "the frame is unlike its reference";
      if (relearn_if_better(frame)) {
        result_.action = TrackAction::relearned;
        ++relearned_count;
        since_renewal_ = departures_ = 0;
        return true;
      }
    }
    // Once is a cut, after which frames may repeat again; twice, something that passed and was taken for one.
    if (departures_ < 3) return false;
    departures_ = 0;
    memory_.forget();
    install(Plan<Real>(plan_.source(), plan_options(false)));
    result_.reason += "; frames do not repeat: transformed without a reference from here on";
    return true;
  }
  ++looks_;
  const bool repeats =
      !memory_.empty() && error > kExact &&
      memory_.change(frame, values, multiplicities(plan_.source())).outside < kRepeats * tail;
  if (!repeats) {
    memory_.keep(frame, values);
    return false;
  }
  take_reference(frame);
  return true;
}

/// Envelopes and powers from a frame, for a template that is a bare support.
template <class Real>
void TrackerImpl<Real>::learn_amplitudes(TemplateData& data, const SignalView& frame) const {
  if (!data.power.empty()) return;
  LearnOptions again;
  again.k = data.k();
  again.threads = options_.plan.threads;
  again.backend = options_.learn.backend;
  again.device = options_.learn.device;
  const Template learned = learn(frame, again);
  data.tail_envelope = learned.data()->tail_envelope;
  data.change_envelope = learned.data()->change_envelope;
  data.tail_energy = result_.spectrum.tail_energy;
  for (const std::complex<double>& value : data.values) data.power.push_back(std::norm(value));
}

/// Frames repeat: this one, just transformed densely, becomes what the following ones are compared with.
template <class Real>
void TrackerImpl<Real>::take_reference(const SignalView& frame) {
  auto data = std::make_shared<TemplateData>(*plan_.source().data());
  data->reference_type = frame.type();
  data->reference.resize(frame.bytes());
  copy_elements(frame, data->reference.data());
  data->values = in_double(result_.spectrum);
  learn_amplitudes(*data, frame);
  install(Plan<Real>(Template(std::move(data)), plan_options(true)));
  remember_reference();
  result_.action = TrackAction::refreshed;
  result_.reason = "frames repeat: transformed as differences to this one from here on";
}

/// A frame that has just been transformed densely becomes the reference of the same plan.
template <class Real>
void TrackerImpl<Real>::refresh(const SignalView& frame) {
  const std::vector<std::complex<double>> values = in_double(result_.spectrum);
  plan_ = plan_.with_reference(frame, values);
  memory_.keep(frame, values);
}

template <class Real>
double TrackerImpl<Real>::baseline() const {
  if (levels_.size() < kBaselineFrames) return 0;
  std::vector<double> sorted = levels_;
  std::nth_element(sorted.begin(), sorted.begin() + kBaselineFrames / 2, sorted.end());
  return sorted[kBaselineFrames / 2];
}

/// Whether an error is too large for any frame; the reason is left in stale_reason_.
template <class Real>
bool TrackerImpl<Real>::unacceptable(double error) {
  const bool asked = options_.accuracy > 0;
  const double limit = asked ? options_.accuracy : kUselessError;
  if (error <= limit) return false;
  stale_reason_ = fmt::format("reported error {:.3g} is above {} {:.3g}", error,
                              asked ? "the accuracy" : "what is of use to anyone,", limit);
  return true;
}

/// Whether reported errors have risen above their level for good.
template <class Real>
bool TrackerImpl<Real>::suspect(double error) {
  const bool above = drifted(error);
  if (levels_.size() < kBaselineFrames) levels_.push_back(error);
  stale_in_a_row_ = above ? stale_in_a_row_ + 1 : 0;
  return stale_in_a_row_ >= options_.patience && since_renewal_ >= hold_;
}

/// Whether an error is above the level of the first frames; the reason is left in stale_reason_.
template <class Real>
bool TrackerImpl<Real>::drifted(double error) {
  const double level = baseline();
  if (!(level > 0 && error > options_.drift * level)) return false;
  stale_reason_ =
      fmt::format("error {:.3g} is above {:.3g} times its level of {:.3g}", error, options_.drift, level);
  return true;
}

/// Learns afresh from a frame just transformed densely; keeps the old support when it holds nearly as much.
template <class Real>
bool TrackerImpl<Real>::relearn_if_better(const SignalView& frame) {
  const Template& source = plan_.source();
  LearnOptions learn_options = options_.learn;
  if (learn_options.k == 0 && learn_options.energy == 0 && learn_options.threshold_sigma == 0)
    learn_options.k = source.k();
  learn_options.reference = differencing();
  learn_options.threads = options_.plan.threads;
  const Template fresh = learn(frame, learn_options);
  const double held = held_energy(source, in_double(result_.spectrum));
  const double fresh_held = held_energy(fresh, fresh.values());
  if (!(held < options_.relearn_below * fresh_held)) return false;
  result_.reason = fmt::format("{}; the support holds {:.1f} % of what a fresh one does", stale_reason_,
                               100 * held / fresh_held);
  install(Plan<Real>(fresh, plan_options(differencing())));
  remember_reference();
  transform_densely(frame);  // the result is on the template in force after this frame
  return true;
}

/// After a dense transform of a stale frame: new reference, new template, or neither.
template <class Real>
void TrackerImpl<Real>::renew(const SignalView& frame) {
  const bool soon = since_renewal_ < 2 * hold_;
  result_.action = TrackAction::dense;
  result_.reason = stale_reason_;
  if (!differencing() && reconsider_reference(frame, 1)) {
    ++refreshed_count;
  } else if (plan_.source().power().empty()) {
    // Least squares, which a bare support asks for, does not work here: what amplitudes are like helps.
    auto data = std::make_shared<TemplateData>(*plan_.source().data());
    data->values = in_double(result_.spectrum);
    learn_amplitudes(*data, frame);
    install(Plan<Real>(Template(std::move(data)), plan_options(false)));
  } else if (since_renewal_ >= hold_ && relearn_if_better(frame)) {
    result_.action = TrackAction::relearned;
    ++relearned_count;
  } else if (differencing() && !reconsider_reference(frame, 1)) {
    refresh(frame);
    levels_.clear();
    result_.action = TrackAction::refreshed;
    ++refreshed_count;
  }
  ++dense_count;
  ++dense_in_a_row_;
  // Renewals that follow each other closely do not help: wait longer, and stop trying sparse for a while.
  if (soon) hold_ = std::min(2 * hold_, kLongestHold);
  if (dense_in_a_row_ >= options_.patience) skip_sparse_ = hold_;
  since_renewal_ = 0;
  stale_in_a_row_ = 0;
}

template <class Real>
void TrackerImpl<Real>::transform_sparsely(const SignalView& frame) {
  Spectrum<Real>& spectrum = result_.spectrum;
  plan_.execute(frame, spectrum, workspace_);
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
  const bool look = options_.reference && !differencing() && looks_ < 2 && spectrum.relative_error > kExact;
  const bool due = calibration_.due(spectrum.relative_error) || (look && options_.calibrate > 0);
  const double factor = calibration_.factor(spectrum.relative_error);
  result_.calibration = factor;
  const double error = factor * spectrum.relative_error;
  if (due || unacceptable(error) || suspect(error)) return compare(frame);
  if (factor != 1) {
    spectrum.error_l2 *= factor;
    spectrum.relative_error = error;
    for (Real& one : spectrum.standard_error) one *= static_cast<Real>(factor);
  }
  ++since_renewal_;
  dense_in_a_row_ = 0;
  if (since_renewal_ > 4 * hold_) hold_ = options_.hold;
}

template <class Real>
const TrackedFrame<Real>& TrackerImpl<Real>::push(const SignalView& frame) {
  result_.index = frames_;
  result_.action = TrackAction::sparse;
  result_.reason.clear();
  if (skip_sparse_ > 0) {
    --skip_sparse_;
    transform_densely(frame);
    ++dense_count;
    result_.action = TrackAction::dense;
    result_.reason = "sparse transforms missed the accuracy on the frames before";
    if (skip_sparse_ == 0 && result_.spectrum.finite && differencing()) {  // try again from a fresh reference
      refresh(frame);
      dense_in_a_row_ = 0;
    }
  } else {
    transform_sparsely(frame);
  }
  result_.differencing = differencing();
  ++frames_;
  return result_;
}

template class TrackerImpl<float>;
template class TrackerImpl<double>;

}  // namespace detail

template <class Real>
Tracker<Real>::Tracker(const Template& tmpl, const TrackerOptions& options)
    : impl_(std::make_unique<detail::TrackerImpl<Real>>(tmpl, options)) {}
template <class Real>
Tracker<Real>::~Tracker() = default;
template <class Real>
Tracker<Real>::Tracker(Tracker&&) noexcept = default;
template <class Real>
Tracker<Real>& Tracker<Real>::operator=(Tracker&&) noexcept = default;

template <class Real>
detail::TrackerImpl<Real>& Tracker<Real>::impl() const {
  if (impl_ == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                "the tracker was moved from: use the one it went to, or make another from a template");
  }
  return *impl_;
}
template <class Real>
const TrackedFrame<Real>& Tracker<Real>::push(const SignalView& frame) {
  detail::TrackerImpl<Real>& own = impl();
  const detail::Exclusive exclusive(
      own.in_use, "the tracker is in use by another thread: frames come in order, so push them from one");
  return own.push(frame);
}
template <class Real>
const Template& Tracker<Real>::current_template() const {
  return impl().plan().source();
}
template <class Real>
const Plan<Real>& Tracker<Real>::plan() const {
  return impl().plan();
}
template <class Real>
std::int64_t Tracker<Real>::refreshed() const noexcept {
  return impl_ == nullptr ? 0 : impl_->refreshed_count;
}
template <class Real>
std::int64_t Tracker<Real>::relearned() const noexcept {
  return impl_ == nullptr ? 0 : impl_->relearned_count;
}
template <class Real>
std::int64_t Tracker<Real>::dense_fallbacks() const noexcept {
  return impl_ == nullptr ? 0 : impl_->dense_count;
}

template <class Real>
std::int64_t Tracker<Real>::calibrated() const noexcept {
  return impl_ == nullptr ? 0 : impl_->calibrated_count;
}

template class Tracker<float>;
template class Tracker<double>;

}  // namespace sfft
