// SPDX-License-Identifier: Apache-2.0
// Phase correlation (Kuglin and Hines, 1975) at a template's frequencies. Newton's method maximises the sum
// of cosines, a robust form of least squares over phases, because it bounds what one phase can add.
#include "video/guard/phase_match.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "video/motion/phase_ramp.hpp"

namespace sfft::video {

namespace {

constexpr int kAxis = 2;
/// Highest frequency of each stage of the climb, in radians per pixel.
constexpr double kStages[] = {0.22, 0.5, 10};
/// A shorter step, in pixels, ends a stage. The remaining error of Newton's method is a small part of it.
constexpr double kNear = 0.02;

}  // namespace

PhaseMatch::PhaseMatch(const Layout& layout)
    : width_(static_cast<double>(layout.region.width)), height_(static_cast<double>(layout.region.height)) {
  const auto size = [&](std::size_t i) {
    const Frequency f = layout.frequencies[i];
    return 2 * std::numbers::pi * std::hypot(f.x / width_, f.y / height_);
  };
  for (std::size_t i = 0; i < layout.frequencies.size(); ++i) {
    const Frequency f = layout.frequencies[i];
    if (std::abs(f.x) > kAxis && std::abs(f.y) > kAxis) places_.push_back(i);
  }
  std::ranges::sort(places_, {}, size);
  for (const std::size_t i : places_) {
    const Frequency f = layout.frequencies[i];
    fx_.push_back(f.x);
    fy_.push_back(f.y);
    omega_x_.push_back(static_cast<float>(2 * std::numbers::pi * f.x / width_));
    omega_y_.push_back(static_cast<float>(2 * std::numbers::pi * f.y / height_));
    max_x_ = std::max(max_x_, f.x);
    max_y_ = std::max(max_y_, std::abs(f.y));
  }
  for (const double limit : kStages) {
    stages_.push_back(
        static_cast<std::size_t>(std::ranges::upper_bound(places_, limit, {}, size) - places_.begin()));
  }
  turns_.resize(places_.size());
  weights_.resize(places_.size());
}

void PhaseMatch::prepare(std::span<const std::complex<float>> reference,
                         std::span<const std::complex<float>> values, std::span<const float> weights) {
  double sum = 0;
  double squares = 0;
  for (std::size_t n = 0; n < places_.size(); ++n) {
    const std::size_t i = places_[n];
    const std::complex<float> a = values[i];
    const std::complex<float> b = reference[i];
    const std::complex<float> product(a.real() * b.real() + a.imag() * b.imag(),
                                      a.imag() * b.real() - a.real() * b.imag());
    const float size = std::sqrt(std::norm(product));
    const float weight = size > 0 ? weights[i] : 0.0F;
    weights_[n] = weight;
    turns_[n] = size > 0 ? product * (weight / size) : std::complex<float>{};
    sum += weight;
    squares += static_cast<double>(weight) * weight;
  }
  chance_ = sum > 0 ? std::sqrt(0.5 * squares) / sum : 1;
}

void PhaseMatch::fill_ramps(double x, double y) {
  phase_ramp(x / width_, max_x_, false, ramp_x_);
  phase_ramp(y / height_, max_y_, true, ramp_y_);
}

PhaseMatch::Sums PhaseMatch::sum(double x, double y, std::size_t count) {
  fill_ramps(x, y);
  float weight = 0, cosine = 0, gx = 0, gy = 0, xx = 0, xy = 0, yy = 0, noise_x = 0, noise_y = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const std::complex<float> back =
        times(ramp_x_[static_cast<std::size_t>(fx_[n])], ramp_y_[static_cast<std::size_t>(fy_[n] + max_y_)]);
    const std::complex<float> left = times(turns_[n], back);
    const float c = left.real();
    const float s = left.imag();
    const float wx = omega_x_[n];
    const float wy = omega_y_[n];
    weight += weights_[n];
    cosine += c;
    gx -= wx * s;
    gy -= wy * s;
    xx += wx * wx * c;
    xy += wx * wy * c;
    yy += wy * wy * c;
    noise_x += wx * wx * s * s;
    noise_y += wy * wy * s * s;
  }
  return {weight, cosine, gx, gy, xx, xy, yy, noise_x, noise_y};
}

PhaseAgreement PhaseMatch::at(double x, double y) {
  fill_ramps(x, y);
  float weight = 0;
  float cosine = 0;
  for (std::size_t n = 0; n < places_.size(); ++n) {
    const std::complex<float> back =
        times(ramp_x_[static_cast<std::size_t>(fx_[n])], ramp_y_[static_cast<std::size_t>(fy_[n] + max_y_)]);
    weight += weights_[n];
    cosine += turns_[n].real() * back.real() - turns_[n].imag() * back.imag();
  }
  return {x, y, weight > 0 ? cosine / weight : 0, 0};
}

void PhaseMatch::climb_stage(std::size_t stage, double& x, double& y) {
  const bool last = stage + 1 == stages_.size();
  if (stages_[stage] < 24 && !last) return;
  const double longest = 0.8 / (last ? 1.0 : kStages[stage]);
  for (int step = 0; step < 4; ++step) {
    const Sums sums = sum(x, y, stages_[stage]);
    const double determinant = sums.xx * sums.yy - sums.xy * sums.xy;
    double dx = 0;
    double dy = 0;
    if (sums.xx > 0 && determinant > 1e-6 * sums.xx * sums.yy) {
      dx = (sums.yy * sums.gx - sums.xy * sums.gy) / determinant;
      dy = (sums.xx * sums.gy - sums.xy * sums.gx) / determinant;
    } else {  // not near a maximum: uphill
      const double slope = std::hypot(sums.gx, sums.gy);
      if (!(slope > 0)) return;
      dx = longest * sums.gx / slope;
      dy = longest * sums.gy / slope;
    }
    const double length = std::hypot(dx, dy);
    const double part = length > longest ? longest / length : 1;
    x += part * dx;
    y += part * dy;
    if (length < (last ? kNear : 10 * kNear)) return;
  }
}

PhaseAgreement PhaseMatch::approach(double x, double y) {
  for (std::size_t stage = 0; stage + 1 < stages_.size(); ++stage) climb_stage(stage, x, y);
  return {x, y, 0, std::numeric_limits<double>::infinity()};
}

PhaseAgreement PhaseMatch::climb(double x, double y) {
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) climb_stage(stage, x, y);
  const Sums sums = sum(x, y, places_.size());
  PhaseAgreement found{x, y, sums.weight > 0 ? sums.cosine / sums.weight : 0, 0};
  found.standard_error = sums.xx > 0 && sums.yy > 0
                             ? std::max(std::sqrt(sums.noise_x) / sums.xx, std::sqrt(sums.noise_y) / sums.yy)
                             : std::numeric_limits<double>::infinity();
  return found;
}

}  // namespace sfft::video
