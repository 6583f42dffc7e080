// SPDX-License-Identifier: Apache-2.0
// Learns a template and a plan for differences to its reference, and finds the place that explains each
// spectrum. After a jump, phases find the picture again.
#include "video/vibration/region_motion.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sfft/sfft.hpp"
#include "video/sources/samples.hpp"
#include "video/vibration/motion_model.hpp"

namespace sfft::video {

namespace {

std::int64_t default_frequencies(const Region& region) {
  // Small regions use one frequency per 48 pixels, which excludes most of their noise.
  return std::clamp<std::int64_t>(region.width * region.height / 48, 12, 1000);
}

/// Whether all samples are equal.
bool is_flat(const SignalView& view) {
  return with_samples(view, [&](const auto* samples) {
    const auto first = samples[0];
    for (std::int64_t row = 0; row < view.shape()[0]; ++row) {
      const auto* const begin = samples + row * view.stride(0);
      if (std::any_of(begin, begin + view.shape()[1], [&](auto value) { return value != first; }))
        return false;
    }
    return true;
  });
}

/// Variance of a sample's noise from two frames: a low quantile over small blocks, most of which do not move.
double noise_variance(const Picture& one, const Picture& other) {
  constexpr std::int64_t kBlock = 8;
  std::vector<double> blocks;
  for (std::int64_t top = 0; top + kBlock <= one.height; top += kBlock) {
    for (std::int64_t left = 0; left + kBlock <= one.width; left += kBlock) {
      double sum = 0;
      for (std::int64_t row = top; row < top + kBlock; ++row) {
        for (std::int64_t column = left; column < left + kBlock; ++column) {
          const auto at = static_cast<std::size_t>(row * one.width + column);
          const double change = static_cast<double>(one.samples[at] - other.samples[at]);
          sum += change * change;
        }
      }
      blocks.push_back(sum / (kBlock * kBlock) / 2);
    }
  }
  if (blocks.empty()) return 0;
  const auto low = blocks.begin() + static_cast<std::ptrdiff_t>(blocks.size() / 3);
  std::nth_element(blocks.begin(), low, blocks.end());
  return *low;
}

}  // namespace

struct RegionMotion::Impl {
  Region region;
  RegionMotionOptions options;
  std::optional<Plan<float>> plan;  ///< none if the region has no structure
  std::optional<Workspace> workspace;
  std::optional<PhaseShiftEstimator> estimator;
  Spectrum<float> spectrum;
  std::vector<std::complex<float>> reference;
  EdgeTerms edges;
  std::optional<MotionModel> model;
  std::optional<Picture> first;   ///< first frame of this reference, until the noise is known
  double base_x = 0, base_y = 0;  ///< place of the reference
  double x = 0, y = 0;            ///< latest place, relative to the reference
  std::int64_t renewals = 0;
  int worn = 0;        ///< consecutive frames that the reference no longer explains well
  int frames = 0;      ///< number of frames since the reference was taken
  double usual = 1e9;  ///< minimum residual among the first of these frames
  double unevenness = 0;
  double rounding = 0;

  void learn_from(const SignalView& frame) {
    plan.reset();
    model.reset();
    x = y = 0;
    worn = 0;
    frames = 0;
    usual = 1e9;
    const SignalView view = part(frame, region);
    if (is_flat(view)) return;
    LearnOptions learning;
    const std::int64_t wanted = options.k > 0 ? options.k : default_frequencies(region);
    learning.keep = Largest{std::min(wanted, std::max<std::int64_t>(1, region.width * region.height / 4))};
    learning.reference = true;
    const Template tmpl = learn(view, learning);
    PlanOptions planning;
    if (options.max_samples > 0) planning.max_samples = options.max_samples;
    planning.effort = PlanEffort::quick;
    // Coefficients are exact unless fewer pixels are requested. A sparse plan with a prior underestimates
    // motions of a noisy picture.
    if (options.max_samples <= 0 || options.max_samples >= 1) planning.path = Path::dense;
    plan.emplace(tmpl, planning);
    workspace.emplace(plan->make_workspace());
    spectrum = plan->make_spectrum();
    estimator.emplace(tmpl.shape(), tmpl.support());
    reference.assign(tmpl.values().begin(), tmpl.values().end());
    edges = estimator->edge_terms(view);
    first = to_picture(view);
    double power = 0;
    double slopes = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const double wx = estimator->omega_x()[i];
      const double wy = estimator->omega_y()[i];
      if (wx == 0 && wy == 0) continue;
      power += static_cast<double>(std::norm(reference[i]));
      slopes += (wx * wx + wy * wy) * static_cast<double>(std::norm(reference[i]));
    }
    // A change of light of size 1 everywhere, with any sign, has the power of the picture, and a shift by one
    // pixel has half the power of the slopes. The Cauchy-Schwarz inequality thus bounds the apparent motion.
    unevenness = slopes > 0 ? std::sqrt(2 * power / slopes) : 0;
    // Rounding samples to whole levels has the variance 1/12. A coefficient's variance is this times the
    // number of samples, and half of it changes the phase. Half of the slopes' power is that of x.
    rounding = slopes > 0 ? std::sqrt(static_cast<double>(region.width * region.height) / (12 * slopes)) : 0;
  }

  /// Max. distance from the reference in pixels, before new content at the edges matters.
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
  impl_->base_x += impl_->x;
  impl_->base_y += impl_->y;
  impl_->learn_from(frame);
  ++impl_->renewals;
}

double RegionMotion::unevenness_px() const noexcept {
  return impl_->unevenness;
}

double RegionMotion::rounding_px() const noexcept {
  return impl_->rounding;
}

RegionSample RegionMotion::push(const SignalView& frame) {
  RegionSample sample;
  sample.x = impl_->base_x + impl_->x;
  sample.y = impl_->base_y + impl_->y;
  sample.lost = true;
  if (!impl_->plan) return sample;
  const SignalView view = part(frame, impl_->region);
  impl_->plan->execute(view, impl_->spectrum, *impl_->workspace);
  if (!impl_->spectrum.quality.finite) return sample;
  if (impl_->first) {
    const double noise = noise_variance(*impl_->first, to_picture(view));
    impl_->model.emplace(*impl_->plan, denoised(*impl_->first, noise), impl_->options.prior_px);
    impl_->first.reset();
  }
  FittedMotion motion = impl_->model->fit(impl_->spectrum.values, impl_->x, impl_->y);
  constexpr double kPoor = 0.15;  // residual amplitude that justifies a search by phases
  if (motion.unlike > kPoor && !(impl_->options.prior_px > 0)) {
    PhaseShiftOptions options;
    options.start_x = impl_->x;
    options.start_y = impl_->y;
    options.reach_px = 4;
    options.edges = &impl_->edges;
    const PhaseShift far = impl_->estimator->estimate(impl_->reference, impl_->spectrum.values, options);
    if (std::isfinite(far.x + far.y) && std::hypot(far.x - impl_->x, far.y - impl_->y) < 4 * impl_->reach()) {
      const FittedMotion other = impl_->model->fit(impl_->spectrum.values, far.x, far.y);
      if (other.unlike < 0.9 * motion.unlike) motion = other;
    }
  }
  sample.covariance = motion.covariance;
  sample.gain = motion.gain;
  sample.unlike = motion.unlike;
  // Passing objects bias the place. A large step that explains little of the change is not a motion.
  constexpr double kLargeStep = 0.5;  // pixels
  constexpr double kExplained = 0.5;
  const bool passes_by =
      std::hypot(motion.x - impl_->x, motion.y - impl_->y) > kLargeStep && motion.explained < kExplained;
  constexpr double kUnlike = 0.5;  // unrelated pictures have 1 or more
  sample.lost = motion.unlike > kUnlike || !std::isfinite(motion.x + motion.y) ||
                std::hypot(motion.x, motion.y) > 4 * impl_->reach() || passes_by;
  if (sample.lost) return sample;
  impl_->x = motion.x;
  impl_->y = motion.y;
  sample.x = impl_->base_x + motion.x;
  sample.y = impl_->base_y + motion.y;
  // A new reference keeps the error of its place, so it is taken only if motion explains the change of the
  // picture.
  constexpr double kElse = 0.3;
  const bool far = std::hypot(motion.x, motion.y) > impl_->reach() &&
                   motion.left_power < kElse * impl_->model->change(impl_->spectrum.values);
  // A lasting change that no shift explains means that the picture or its light has changed, for instance by
  // a rotation. Vibration would be underestimated more and more with the old reference.
  constexpr double kWorn = 0.04;
  constexpr int kWornFrames = 24;
  if (impl_->frames++ < kWornFrames) impl_->usual = std::min(impl_->usual, motion.unlike);
  impl_->worn = motion.unlike > std::hypot(kWorn, impl_->usual) ? impl_->worn + 1 : 0;
  if (far || (impl_->worn >= kWornFrames && !(impl_->options.prior_px > 0))) renew(frame);
  return sample;
}

}  // namespace sfft::video
