// SPDX-License-Identifier: Apache-2.0
// The caller copies the frame, because that takes less time than to wake up the thread and wait for its copy.
#include "sfft/tracking/renewal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <exception>
#include <system_error>
#include <utility>

#include "kernels/base/math/region.hpp"
#include "sfft/error.hpp"
#include "sfft/template_access.hpp"
#include "sfft/tracking/held_energy.hpp"

namespace sfft::detail {

namespace {

/// A signal with at least this many points per frequency of the support is sparse, whatever the criterion.
constexpr std::int64_t kSparsePoints = 64;

/// Empty if no frequency meets the criterion, as in a frame of zeros or pure noise.
std::optional<Template> learned_from(const SignalView& frame, const LearnOptions& options) {
  try {
    return learn(frame, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    return std::nullopt;
  }
}

/// Empty if the requested path has no plan for this support, which may be wider than the old one.
template <class Real>
std::optional<Plan<Real>> plan_of(const Template& tmpl, const PlanOptions& options) {
  try {
    return Plan<Real>(tmpl, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_sparse) throw;
    return std::nullopt;
  }
}

/// The exact values of a frame at the union of several supports.
template <class Real>
class ExactValues {
 public:
  ExactValues(const SignalView& frame, const TemplateData& fresh, const std::vector<DriftSupport>& supports,
              PlanOptions where) {
    for (const DriftSupport& one : supports)
      support_.insert(support_.end(), one.support.begin(), one.support.end());
    std::ranges::sort(support_);
    support_.erase(std::unique(support_.begin(), support_.end()), support_.end());
    where.accuracy = 0;
    where.path = Path::dense;
    const Plan<Real> dense(Template::from_support(fresh.shape, fresh.domain(), support_), where);
    Workspace workspace = dense.make_workspace();
    dense.execute(frame, spectrum_, workspace);
  }

  std::vector<std::complex<double>> at(const std::vector<std::int64_t>& support) const {
    std::vector<std::complex<double>> values;
    for (const std::int64_t flat : support) {
      const auto found = std::ranges::lower_bound(support_, flat);
      values.emplace_back(spectrum_.values[static_cast<std::size_t>(found - support_.begin())]);
    }
    return values;
  }

 private:
  std::vector<std::int64_t> support_;
  Spectrum<Real> spectrum_;
};

/// The sum of the largest powers of all frequencies over the energy of one frame, without f = 0. A frequency
/// has its largest power only while a tone is there.
double power_over_energy(const TemplateData& data) {
  double power = 0, energy = 0;
  for (std::size_t i = 0; i < data.power.size(); ++i) {
    if ((*data.support)[i] == 0) continue;
    power += data.power[i];
    energy += std::norm(data.values[i]);
  }
  return energy > 0 ? power / energy : 1;
}

std::vector<DriftSupport> drift_supports(const TemplateData& fresh, std::span<const DriftingTone> tones,
                                         bool accurate) {
  constexpr std::array<double, 4> kFrames{128, 48, 16, 6};
  constexpr std::array<int, 4> kReaches{8, 4, 24, 64};
  constexpr std::int64_t kPointsPerFrequency = 12;
  std::vector<DriftSupport> supports;
  for (const double frames : kFrames) {
    for (const int reach : std::span(kReaches).first(accurate ? 4 : 2)) {
      DriftSupport one = support_for_drift(fresh, tones, frames, reach);
      const auto k = static_cast<std::int64_t>(one.support.size());
      if (k * kPointsPerFrequency <= fresh.shape.points()) supports.push_back(std::move(one));
    }
  }
  return supports;
}

/// Widens the fresh template by the frequencies that drifting tones will use. The supports are ordered by how
/// long they last, longest first; the first with a sparse and accurate plan is taken. If none has one, the
/// answer does not change.
template <class Real>
void follow_drift(const SignalView& frame, const LearnRequest<Real>& request, LearnAnswer<Real>& answer) {
  /// The largest acceptable predicted error, and the fraction of the requested accuracy that a plan is made
  /// for. The fraction is below 1 because errors fluctuate while tones pass from bin to bin.
  constexpr double kLargestError = 0.2, kFraction = 0.7;
  const Template learned = *answer.fresh;
  const TemplateData& fresh = *data_of(learned);
  const std::vector<DriftSupport> supports = drift_supports(fresh, answer.tones, request.plan.accuracy > 0);
  if (supports.empty()) return;
  const ExactValues<Real> exact(frame, fresh, supports, request.plan);
  for (const DriftSupport& wide : supports) {
    auto data = std::make_shared<TemplateData>(fresh);
    data->learned_k = fresh.learned_k > 0 ? fresh.learned_k : fresh.k();
    data->support = std::make_shared<const std::vector<std::int64_t>>(wide.support);
    data->values = exact.at(wide.support);
    data->power = wide.power;
    for (std::size_t i = 0; i < data->power.size(); ++i)
      data->power[i] = std::max(data->power[i], std::norm(data->values[i]));
    data->plans.clear();
    const double held = held_energy(make_template(data), data->values),
                 outside = std::max(0.0, request.all - held);
    data->energy_captured = request.all > 0 ? held / request.all : 1;
    data->tail_energy = outside + wide.largest_tail;
    if (fresh.tail_energy > 0) {
      for (double& power : data->tail_envelope.power) power *= data->tail_energy / fresh.tail_energy;
    }
    // Predicted errors are relative to the sum of all powers, and those of frames to their energy.
    const double larger = std::sqrt(power_over_energy(*data));
    PlanOptions options = request.plan;
    options.accuracy *= kFraction / larger;
    std::optional<Plan<Real>> plan = plan_of<Real>(make_template(std::move(data)), options);
    if (!plan || plan->info().path == Path::dense || larger * plan->info().predicted_error > kLargestError)
      continue;
    answer.fresh_held = held;
    answer.fresh = plan->source();
    answer.plan = std::move(plan);
    return;
  }
}

template <class Real>
LearnAnswer<Real> learn_where_tones_are(const SignalView& frame, const LearnRequest<Real>& request) {
  LearnAnswer<Real> answer;
  const auto take = [&](Template fresh) {
    answer.fresh_held = held_energy(fresh, fresh.values());
    answer.plan.reset();
    if (worth_replacing(request.held, request.all, request.better_below, request.outside_below, fresh))
      answer.plan.emplace(fresh, request.plan);
    answer.fresh = std::move(fresh);
  };
  std::optional<Template> fresh = learned_from(frame, request.learn);
  if (!fresh) return answer;
  take(std::move(*fresh));
  // A tone between two bins may raise more frequencies above a threshold than a sparse transform can handle.
  const auto dense = [&] { return answer.plan && answer.plan->info().path == Path::dense; };
  if (!dense() || !request.sparse || std::holds_alternative<Largest>(*request.learn.keep)) return answer;
  const LearnAnswer<Real> all = answer;
  const TemplateData& criterion = *data_of(*all.fresh);
  LearnOptions largest = request.learn;
  std::int64_t keep = request.old->shape.points() / kSparsePoints;
  for (const std::int64_t k = request.old->k(); dense() && keep > k;) {
    keep = std::max(k, std::min(keep, answer.fresh->k() / 4));
    largest.keep = Largest{keep};
    auto data = std::make_shared<TemplateData>(*data_of(learn(frame, largest)));
    data->learned_energy = criterion.learned_energy;  // later templates are learned by the same criterion
    data->learned_threshold_sigma = criterion.learned_threshold_sigma;
    take(make_template(std::move(data)));
  }
  return answer.plan && !dense() ? answer : all;
}

}  // namespace

template <class Real>
LearnAnswer<Real> learn_better(const SignalView& frame, const LearnRequest<Real>& request) {
  LearnAnswer<Real> answer = learn_where_tones_are(frame, request);
  if (!answer.fresh) return answer;
  const TemplateData& fresh = *data_of(*answer.fresh);
  answer.tones = find_tones(fresh, fresh.values);
  const bool drift = find_velocities(fresh.shape, request.tones, request.since_tones, answer.tones);
  const bool better = answer.plan || request.outside_below > 0;
  if (drift && better && !request.plan.use_reference) follow_drift(frame, request, answer);
  return answer;
}

template <class Real>
void BackgroundLearning<Real>::prepare(std::size_t frame_bytes) {
  samples_.resize(frame_bytes);
  try {
    worker_.wake();
  } catch (const std::system_error&) {  // begin() tries again
  }
}

template <class Real>
void BackgroundLearning<Real>::begin(const SignalView& frame, LearnRequest<Real> request,
                                     const PlanOptions& exact) noexcept {
  if (under_way()) return;
  const std::int64_t due = request.frame + kDelay;
  try {
    samples_.resize(frame.bytes());
    copy_elements(frame, samples_.data());
    const SignalView copy = copied(frame, samples_.data());
    outcome_ = worker_.ask([copy, exact, request = std::move(request)]() mutable {
      Outcome outcome{{}, learn_better(copy, request), {}};
      if (outcome.answer.plan) outcome.exact.emplace(*outcome.answer.fresh, exact);
      outcome.request = std::move(request);
      return outcome;
    });
    due_ = due;
  } catch (const std::exception&) {  // no memory or no thread
  }
}

template <class Real>
auto BackgroundLearning<Real>::take() noexcept -> std::optional<Outcome> {
  try {
    return outcome_.get();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

template LearnAnswer<float> learn_better(const SignalView&, const LearnRequest<float>&);
template LearnAnswer<double> learn_better(const SignalView&, const LearnRequest<double>&);
template class BackgroundLearning<float>;
template class BackgroundLearning<double>;

template <class Real>
void Relearning<Real>::learned(std::int64_t frame, const LearnAnswer<Real>& answer, double all) noexcept {
  learned_at_ = frame;
  fresh_share_ = answer.fresh_held / std::max(all, 1e-300);
}

template <class Real>
void Relearning<Real>::note_tones(const LearnAnswer<Real>& answer, std::int64_t frame) {
  constexpr std::int64_t kLongEnough = 64;
  const bool drift = std::ranges::any_of(answer.tones, &DriftingTone::drifts);
  if (!answer.fresh || (!drift && frame - tones_at < kLongEnough && answer.tones.size() == tones.size()))
    return;
  tones = answer.tones;
  tones_at = frame;
}

template <class Real>
bool Relearning<Real>::worthwhile(std::int64_t frame, double held, double all,
                                  double relearn_below) const noexcept {
  constexpr std::int64_t kLongestTrust = 256;
  if (frame - learned_at_ >= kLongestTrust) return true;
  const double halfway = (1 + relearn_below) / 2;
  return !(held >= halfway * fresh_share_ * all);
}

template struct Relearning<float>;
template struct Relearning<double>;

}  // namespace sfft::detail
