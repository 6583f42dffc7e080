#include "sfft/tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

#include "kernels/common/region.hpp"
#include "sfft/error.hpp"
#include "sfft/exclusive.hpp"
#include "template/template_data.hpp"

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
  }
  return "unknown";
}

namespace detail {

namespace {

/// Frames after a refresh whose errors set the level that later ones are compared with.
constexpr std::size_t kBaselineFrames = 16;
constexpr int kLongestHold = 256;

void check(const TrackerOptions& options) {
  const auto invalid = [](const std::string& message) { throw Error(ErrorCode::invalid_argument, message); };
  if (!(options.accuracy >= 0)) invalid(fmt::format("accuracy = {} must be 0 or positive", options.accuracy));
  if (!(options.drift > 1)) invalid(fmt::format("drift = {} must be above 1", options.drift));
  if (options.patience < 1) invalid(fmt::format("patience = {} must be at least 1", options.patience));
  if (options.hold < 1) invalid(fmt::format("hold = {} must be at least 1", options.hold));
  if (!(options.relearn_below >= 0 && options.relearn_below <= 1)) {
    invalid(fmt::format("relearn_below = {} must be in [0, 1]", options.relearn_below));
  }
}

/// Energy of a spectrum's coefficients without f = 0, both halves of a real signal's.
double held_energy(const Template& tmpl, std::span<const std::complex<double>> values) {
  double held = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t flat = tmpl.support()[i];
    if (flat == 0) continue;
    const bool pair = tmpl.is_real() && conjugate_index(tmpl.shape(), flat) != flat;
    held += (pair ? 2 : 1) * std::norm(values[i]);
  }
  return held;
}

}  // namespace

template <class Real>
class TrackerImpl {
 public:
  TrackerImpl(const Template& tmpl, const TrackerOptions& options)
      : options_(options), plan_(tmpl, plan_options()), hold_(options.hold) {
    install(plan_);
  }

  const TrackedFrame<Real>& push(const SignalView& frame);

  const Plan<Real>& plan() const noexcept { return plan_; }
  std::int64_t refreshed_count = 0, relearned_count = 0, dense_count = 0;
  std::atomic<bool> in_use{false};  ///< by a push under way

 private:
  PlanOptions plan_options() const {
    check(options_);
    PlanOptions options = options_.plan;
    options.use_reference = options_.reference;
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
  void install(Plan<Real> plan);
  void transform_densely(const SignalView& frame);
  void take_first_reference(const SignalView& frame);
  bool stale(double error);
  bool relearn_if_better(const SignalView& frame);
  void renew(const SignalView& frame);
  double baseline() const;

  TrackerOptions options_;
  Plan<Real> plan_;
  std::optional<Plan<Real>> dense_;  ///< the same template, transformed densely
  Workspace<Real> workspace_, dense_workspace_;
  TrackedFrame<Real> result_;
  std::int64_t frames_ = 0;

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
  levels_.clear();
  levels_.reserve(kBaselineFrames);
}

template <class Real>
void TrackerImpl<Real>::transform_densely(const SignalView& frame) {
  if (!dense_) {
    dense_.emplace(plan_.source(), dense_options());
    dense_workspace_ = dense_->make_workspace();
  }
  dense_->execute(frame, result_.spectrum, dense_workspace_);
}

/// The template came without a reference: this frame becomes it, and tells the amplitudes when the template
/// is a bare support.
template <class Real>
void TrackerImpl<Real>::take_first_reference(const SignalView& frame) {
  transform_densely(frame);
  if (!result_.spectrum.finite) return;
  auto data = std::make_shared<TemplateData>(*plan_.source().data());
  data->reference_type = frame.type();
  data->reference.resize(frame.bytes());
  copy_elements(frame, data->reference.data());
  data->values.assign(result_.spectrum.values.begin(), result_.spectrum.values.end());
  if (data->power.empty()) {
    LearnOptions again;
    again.k = data->k();
    again.threads = options_.plan.threads;
    again.backend = options_.learn.backend;
    again.device = options_.learn.device;
    const Template learned = learn(frame, again);
    data->tail_envelope = learned.data()->tail_envelope;
    data->change_envelope = learned.data()->change_envelope;
    data->tail_energy = result_.spectrum.tail_energy;
    for (const std::complex<double>& value : data->values) data->power.push_back(std::norm(value));
  }
  install(Plan<Real>(Template(std::move(data)), plan_options()));
  result_.action = TrackAction::refreshed;
  result_.reason = "the first frame is the reference";
}

template <class Real>
double TrackerImpl<Real>::baseline() const {
  if (levels_.size() < kBaselineFrames) return 0;
  std::vector<double> sorted = levels_;
  std::nth_element(sorted.begin(), sorted.begin() + kBaselineFrames / 2, sorted.end());
  return sorted[kBaselineFrames / 2];
}

/// Whether this frame's error asks for a dense transform; the reason is left in stale_reason_.
template <class Real>
bool TrackerImpl<Real>::stale(double error) {
  if (options_.accuracy > 0 && error > options_.accuracy) {
    stale_reason_ =
        fmt::format("reported error {:.3g} is above the accuracy {:.3g}", error, options_.accuracy);
    return true;
  }
  const double level = baseline();
  if (levels_.size() < kBaselineFrames) levels_.push_back(error);
  stale_in_a_row_ = level > 0 && error > options_.drift * level ? stale_in_a_row_ + 1 : 0;
  if (stale_in_a_row_ < options_.patience || since_renewal_ < hold_) return false;
  stale_reason_ = fmt::format("reported error {:.3g} is above {:.3g} times its level of {:.3g} for {} frames",
                              error, options_.drift, level, stale_in_a_row_);
  return true;
}

/// Learns afresh from a frame just transformed densely; keeps the old support when it holds nearly as much.
template <class Real>
bool TrackerImpl<Real>::relearn_if_better(const SignalView& frame) {
  const Template& source = plan_.source();
  LearnOptions learn_options = options_.learn;
  if (learn_options.k == 0 && learn_options.energy == 0 && learn_options.threshold_sigma == 0)
    learn_options.k = source.k();
  learn_options.reference = options_.reference;
  learn_options.threads = options_.plan.threads;
  const Template fresh = learn(frame, learn_options);
  const std::vector<std::complex<double>> values(result_.spectrum.values.begin(),
                                                 result_.spectrum.values.end());
  const double held = held_energy(source, values);
  const double fresh_held = held_energy(fresh, fresh.values());
  if (!(held < options_.relearn_below * fresh_held)) return false;
  result_.reason = fmt::format("{}; the support holds {:.1f} % of what a fresh one does", stale_reason_,
                               100 * held / fresh_held);
  install(Plan<Real>(fresh, plan_options()));
  transform_densely(frame);  // the result is on the template in force after this frame
  return true;
}

/// After a dense transform of a stale frame: new reference, new template, or neither.
template <class Real>
void TrackerImpl<Real>::renew(const SignalView& frame) {
  const bool soon = since_renewal_ < 2 * hold_;
  result_.action = TrackAction::dense;
  result_.reason = stale_reason_;
  if (since_renewal_ >= hold_ && relearn_if_better(frame)) {
    result_.action = TrackAction::relearned;
    ++relearned_count;
  } else if (options_.reference && plan_.info().reference) {
    const std::vector<std::complex<double>> values(result_.spectrum.values.begin(),
                                                   result_.spectrum.values.end());
    plan_ = plan_.with_reference(frame, values);
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
const TrackedFrame<Real>& TrackerImpl<Real>::push(const SignalView& frame) {
  result_.index = frames_;
  result_.action = TrackAction::sparse;
  result_.reason.clear();
  const bool always_dense = plan_.info().path == Path::dense;
  if (options_.reference && !plan_.source().has_reference()) {
    take_first_reference(frame);
    if (!result_.spectrum.finite)
      result_.reason = "a sample is NaN or infinite; the frame is not taken as the reference";
  } else if (skip_sparse_ > 0) {
    --skip_sparse_;
    transform_densely(frame);
    ++dense_count;
    result_.action = TrackAction::dense;
    result_.reason = "sparse transforms missed the accuracy on the frames before";
    if (skip_sparse_ == 0 && result_.spectrum.finite &&
        plan_.info().reference) {  // try again from a fresh reference
      const std::vector<std::complex<double>> values(result_.spectrum.values.begin(),
                                                     result_.spectrum.values.end());
      plan_ = plan_.with_reference(frame, values);
      dense_in_a_row_ = 0;
    }
  } else {
    plan_.execute(frame, result_.spectrum, workspace_);
    if (always_dense) {
      ++dense_count;
      result_.action = TrackAction::dense;
      result_.reason = plan_.info().reason;
    } else if (!result_.spectrum.finite) {
      result_.reason = "a sample is NaN or infinite";
    } else if (stale(result_.spectrum.relative_error)) {
      transform_densely(frame);
      if (result_.spectrum.finite) renew(frame);
    } else {
      ++since_renewal_;
      dense_in_a_row_ = 0;
      if (since_renewal_ > 4 * hold_) hold_ = options_.hold;
    }
  }
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

template class Tracker<float>;
template class Tracker<double>;

}  // namespace sfft
