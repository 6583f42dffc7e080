// SPDX-License-Identifier: Apache-2.0
// A template, a plan of differences to its reference, and shifts from the phases of its spectra.
#include "video/vibration/region_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sfft/sfft.hpp"

namespace sfft::video {

namespace {

std::int64_t default_frequencies(const Region& region) {
  // Small regions spend one frequency per 48 pixels, which leaves most of their noise behind.
  return std::clamp<std::int64_t>(region.width * region.height / 48, 12, 1000);
}

template <class T>
SignalView part_of(const SignalView& frame, const Region& region) {
  const std::int64_t pitch = frame.stride(0);
  return SignalView::rows(static_cast<const T*>(frame.data()) + region.y * pitch + region.x,
                          {region.height, region.width}, pitch);
}

/// Whether all samples are equal.
bool is_flat(const SignalView& view) {
  const auto flat = [&](const auto* samples) {
    const auto first = samples[0];
    for (std::int64_t row = 0; row < view.shape()[0]; ++row) {
      const auto* const begin = samples + row * view.stride(0);
      if (std::any_of(begin, begin + view.shape()[1], [&](auto value) { return value != first; }))
        return false;
    }
    return true;
  };
  return view.type() == ElementType::u8 ? flat(static_cast<const std::uint8_t*>(view.data()))
                                        : flat(static_cast<const std::uint16_t*>(view.data()));
}

}  // namespace

SignalView part(const SignalView& frame, const Region& region) {
  const bool inside = region.x >= 0 && region.y >= 0 && region.width > 0 && region.height > 0 &&
                      region.x <= frame.shape()[1] - region.width &&
                      region.y <= frame.shape()[0] - region.height;
  if (!inside)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the region {},{},{},{} is not inside the picture of {}x{}: give X,Y,W,H in "
                    "pixels",
                    region.x, region.y, region.width, region.height, frame.shape()[1], frame.shape()[0]));
  return frame.type() == ElementType::u16 ? part_of<std::uint16_t>(frame, region)
                                          : part_of<std::uint8_t>(frame, region);
}

struct RegionMotion::Impl {
  Region region;
  RegionMotionOptions options;
  std::optional<Plan<float>> plan;  ///< none without structure
  std::optional<Workspace<float>> workspace;
  std::optional<PhaseShiftEstimator> estimator;
  Spectrum<float> spectrum;
  std::vector<std::complex<float>> reference;
  EdgeTerms edges;
  double base_x = 0, base_y = 0;  ///< place of the reference
  PhaseShift last;                ///< relative to the reference
  double step = 0;                ///< largest recent one between two frames, pixels
  std::int64_t renewals = 0;
  double unevenness = 0;

  void learn_from(const SignalView& frame) {
    plan.reset();
    last = {};
    const SignalView view = part(frame, region);
    if (is_flat(view)) return;
    LearnOptions learning;
    learning.k = options.k > 0 ? options.k : default_frequencies(region);
    learning.k = std::min(learning.k, std::max<std::int64_t>(1, region.width * region.height / 4));
    learning.reference = true;
    const Template tmpl = learn(view, learning);
    PlanOptions planning;
    planning.max_samples = options.max_samples;
    planning.effort = PlanEffort::quick;
    // All pixels of a small region count: it has few, and a dense transform of them takes no longer.
    constexpr std::int64_t kSmall = 128 * 128;
    if (options.max_samples == 0 && region.width * region.height <= kSmall) planning.path = Path::dense;
    plan.emplace(tmpl, planning);
    workspace.emplace(plan->make_workspace());
    spectrum = plan->make_spectrum();
    estimator.emplace(tmpl.shape(), tmpl.support());
    reference.assign(tmpl.values().begin(), tmpl.values().end());
    edges = estimator->edge_terms(view);
    double power = 0;
    double slopes = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const double wx = estimator->omega_x()[i];
      const double wy = estimator->omega_y()[i];
      if (wx == 0 && wy == 0) continue;
      power += static_cast<double>(std::norm(reference[i]));
      slopes += (wx * wx + wy * wy) * static_cast<double>(std::norm(reference[i]));
    }
    // With light of relative slope 2/width the normal equations take half of slope * power / (slopes / 2) for
    // a shift.
    unevenness =
        slopes > 0 ? 2 * power / slopes / static_cast<double>(std::min(region.width, region.height)) : 0;
  }

  /// How far the reference may be left behind before what enters at the edges matters.
  double reach() const {
    return std::clamp(0.05 * static_cast<double>(std::min(region.width, region.height)), 1.0, 4.0);
  }
};

RegionMotion::RegionMotion(const SignalView& first, const Region& region, const RegionMotionOptions& options)
    : impl_(std::make_unique<Impl>()) {
  impl_->region = region;
  impl_->options = options;
  impl_->learn_from(first);
}

RegionMotion::~RegionMotion() = default;
RegionMotion::RegionMotion(RegionMotion&&) noexcept = default;
RegionMotion& RegionMotion::operator=(RegionMotion&&) noexcept = default;

const Region& RegionMotion::region() const noexcept {
  return impl_->region;
}
bool RegionMotion::structured() const noexcept {
  return impl_->plan.has_value();
}
std::int64_t RegionMotion::frequencies() const noexcept {
  return impl_->plan ? impl_->plan->source().k() : 0;
}
double RegionMotion::samples_fraction() const noexcept {
  return impl_->plan ? impl_->plan->info().samples_fraction : 0;
}
std::int64_t RegionMotion::renewals() const noexcept {
  return impl_->renewals;
}

void RegionMotion::renew(const SignalView& frame) {
  impl_->base_x += impl_->last.x;
  impl_->base_y += impl_->last.y;
  impl_->learn_from(frame);
  ++impl_->renewals;
}

double RegionMotion::unevenness_px() const noexcept {
  return impl_->unevenness;
}

RegionSample RegionMotion::push(const SignalView& frame) {
  constexpr double kFarthest = 4;  // pixels between two frames
  constexpr double kPoor = 0.2;    // radians left over: worth a second, longer look
  RegionSample sample;
  sample.x = impl_->base_x + impl_->last.x;
  sample.y = impl_->base_y + impl_->last.y;
  sample.lost = true;
  if (!impl_->plan) return sample;
  impl_->plan->execute(part(frame, impl_->region), impl_->spectrum, *impl_->workspace);
  if (!impl_->spectrum.finite) return sample;
  PhaseShiftOptions options;
  options.start_x = impl_->last.x;
  options.start_y = impl_->last.y;
  options.reach_px = std::clamp(3 * impl_->step, 0.1, kFarthest);
  options.edges = &impl_->edges;
  options.prior_px = impl_->options.prior_px;
  options.robust = false;  // linear in the picture: an oscillation makes no harmonics
  PhaseShift shift = impl_->estimator->estimate(impl_->reference, impl_->spectrum.values, options);
  if (shift.phase_rms > kPoor && options.reach_px < kFarthest) {  // a jump
    options.reach_px = kFarthest;
    const PhaseShift far = impl_->estimator->estimate(impl_->reference, impl_->spectrum.values, options);
    if (far.phase_rms < shift.phase_rms) shift = far;
  }
  sample.covariance = shift.covariance;
  sample.gain = shift.gain;
  sample.phase_rms = shift.phase_rms;
  constexpr double kUnlike = 0.6;  // radians; of unrelated pictures 0.7 and more
  const bool far = std::hypot(shift.x, shift.y) > 4 * impl_->reach();
  sample.lost =
      shift.directions == 0 || (shift.phase_rms > kUnlike && far) || !std::isfinite(shift.x + shift.y);
  if (sample.lost) return sample;
  const double step = std::hypot(shift.x - impl_->last.x, shift.y - impl_->last.y);
  impl_->step = std::max(step, 0.9 * impl_->step);
  impl_->last = shift;
  sample.x = impl_->base_x + shift.x;
  sample.y = impl_->base_y + shift.y;
  if (std::hypot(shift.x, shift.y) > impl_->reach()) renew(frame);
  return sample;
}

}  // namespace sfft::video
