// SPDX-License-Identifier: Apache-2.0
// All landmarks are aligned together by Gauss-Newton steps (Lucas and Kanade, IJCAI 1981) with Tukey's
// biweight over landmarks, so that what moves by itself has no say.
#include "video/guard/landmarks.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::video {

namespace {

constexpr int kLeastCount = 10;
/// Usual frames after which new landmarks say what is sharp.
constexpr int kKnown = 12;
/// Correlation, of the usual, from which a landmark is there.
constexpr double kThere = 0.6;
/// Share of a landmark's energy, of its own and the noise's, from which it can be seen.
constexpr double kVisible = 0.5;
/// Landmarks that correlate less in ordinary frames are of no use.
constexpr double kLeastUsual = 0.55;
/// Mean correlation, of the usual, that promises nothing.
constexpr double kHopeless = 0.5;
/// Landmarks, and their share, whose agreement on a shift is no accident; each by itself within so many
/// pixels.
constexpr int kLeastAgreeing = 7;
constexpr double kAgreed = 0.25;
constexpr double kTogether = 1;
/// Mean correlation, of the usual, and share of the landmarks with which a shift needs no second guess. Along
/// edges most landmarks look alike, and few know better.
constexpr double kClear = 0.9;
constexpr double kNearlyAll = 0.95;
constexpr double kTukey = 4.685;
/// Pixels: a shorter step ends the climb. What it leaves over is a tenth of it.
constexpr double kNear = 0.05;
/// Pixels: what interpolation and the last step leave over.
constexpr double kInexact = 0.006;

double weighted_median(std::vector<std::array<double, 2>>& values_and_weights) {
  std::ranges::sort(values_and_weights);
  double whole = 0;
  for (const auto& [value, weight] : values_and_weights) whole += weight;
  double sum = 0;
  for (const auto& [value, weight] : values_and_weights) {
    sum += weight;
    if (2 * sum >= whole) return value;
  }
  return 0;
}

/// std::hypot() without its care for overflow.
double distance(double x, double y) {
  return std::sqrt(x * x + y * y);
}

}  // namespace

Landmarks::Landmarks(std::span<const float> scene, std::int64_t width, std::int64_t height, double full)
    : landmarks_(choose_landmarks(scene, width, height, full / 255)),
      width_(width),
      height_(height),
      unit_(full / 255) {}

bool Landmarks::usable(const Landmark& landmark) const noexcept {
  return landmark.inside && landmark.usual > kLeastUsual;
}

bool Landmarks::there(const Landmark& landmark) const noexcept {
  return landmark.correlation > kThere * landmark.usual;
}

void Landmarks::measure(double x, double y) {
  x += home_x_;
  y += home_y_;
  const double whole_x = std::floor(x);
  const double whole_y = std::floor(y);
  const bool between = whole_x != x || whole_y != y;
  const Taps by_x = taps(x - whole_x);
  const Taps by_y = taps(y - whole_y);
  const auto dx = static_cast<std::int64_t>(whole_x);
  const auto dy = static_cast<std::int64_t>(whole_y);
  Patch patch{};
  for (Landmark& landmark : landmarks_) {
    const std::int64_t left = landmark.x + dx;
    const std::int64_t top = landmark.y + dy;
    landmark.inside = left >= kPatchReach && top >= kPatchReach &&
                      left + kPatchSide + kPatchReach <= width_ && top + kPatchSide + kPatchReach <= height_;
    if (!landmark.inside) continue;
    const auto read = [&](const auto* pixels) {
      if (between) {
        read_patch(pixels, frame_->stride(0), left, top, by_x, by_y, patch);
      } else {
        read_patch(pixels, frame_->stride(0), left, top, patch);
      }
    };
    if (frame_->type() == ElementType::u16) {
      read(static_cast<const std::uint16_t*>(frame_->data()));
    } else {
      read(static_cast<const std::uint8_t*>(frame_->data()));
    }
    landmark.compare(patch);
  }
}

Landmarks::Agreement Landmarks::climb(double x, double y, bool patient) {
  constexpr int kSteps = 8;
  constexpr double kLongest = 1.5;
  Agreement result;
  std::vector<std::array<double, 2>> xs, ys, off;
  for (int step = 0; step < kSteps; ++step) {
    if (step == 0) {  // whole pixels are quickly read
      x = std::round(x + home_x_) - home_x_;
      y = std::round(y + home_y_) - home_y_;
    }
    measure(x, y);
    xs.clear();
    ys.clear();
    int count = 0;
    double agreeing = 0;
    double alike = 0;
    for (const Landmark& landmark : landmarks_) {
      if (!usable(landmark)) continue;
      ++count;
      alike += std::clamp(landmark.correlation / landmark.usual, 0.0, 1.0);
      if (!(landmark.correlation > 0.3)) continue;
      if (there(landmark)) agreeing += 1;
      xs.push_back({std::clamp(landmark.step_x, -3.0, 3.0), landmark.correlation});
      ys.push_back({std::clamp(landmark.step_y, -3.0, 3.0), landmark.correlation});
    }
    result.x = x;
    result.y = y;
    result.count = count;
    result.share = count > 0 ? agreeing / count : 0;
    result.likeness = count > 0 ? alike / count : 0;
    if (step == 0 && !patient && result.likeness < kHopeless) return result;
    if (xs.size() < 4) return result;
    double move_x = weighted_median(xs);
    double move_y = weighted_median(ys);
    off.clear();
    for (const Landmark& landmark : landmarks_) {
      if (usable(landmark) && landmark.correlation > 0.3)
        off.push_back({distance(landmark.step_x - move_x, landmark.step_y - move_y), landmark.correlation});
    }
    const double limit = kTukey * std::max(0.02, weighted_median(off));
    double xx = 0, xy = 0, yy = 0, tx = 0, ty = 0;
    const auto weight_of = [&](const Landmark& landmark, double from_x, double from_y) {
      if (!usable(landmark) || !(landmark.correlation > 0.3)) return 0.0;
      const double ratio = distance(landmark.step_x - from_x, landmark.step_y - from_y) / limit;
      if (ratio >= 1) return 0.0;
      const double gain = std::clamp(landmark.gain, 0.05, 20.0);
      // Landmarks that fit better count for more; strong ones not beyond measure.
      const double strength = 1 / (1 + landmark.energy / (kPatchPixels * 400 * unit_ * unit_));
      const double clean = 1 / (1.05 - std::min(1.0, landmark.correlation));
      return (1 - ratio * ratio) * (1 - ratio * ratio) * strength * clean * std::min(1.0, gain);
    };
    for (const Landmark& landmark : landmarks_) {
      const double w = weight_of(landmark, move_x, move_y);
      xx += w * landmark.xx;
      xy += w * landmark.xy;
      yy += w * landmark.yy;
      tx += w * landmark.tx;
      ty += w * landmark.ty;
    }
    const double determinant = xx * yy - xy * xy;
    if (!(determinant > 1e-4 * xx * yy)) return result;
    const double robust_x = move_x;
    const double robust_y = move_y;
    move_x = (yy * tx - xy * ty) / determinant;
    move_y = (xx * ty - xy * tx) / determinant;
    result.agreeing = 0;
    for (const Landmark& landmark : landmarks_) {
      if (usable(landmark) && there(landmark) &&
          distance(landmark.step_x - move_x, landmark.step_y - move_y) < kTogether)
        ++result.agreeing;
    }
    // Their scatter about the common step, whatever it comes from.
    double vxx = 0, vxy = 0, vyy = 0;
    for (const Landmark& landmark : landmarks_) {
      const double w = weight_of(landmark, robust_x, robust_y);
      if (!(w > 0)) continue;
      const double gx = w * (landmark.tx - landmark.xx * move_x - landmark.xy * move_y);
      const double gy = w * (landmark.ty - landmark.xy * move_x - landmark.yy * move_y);
      vxx += gx * gx;
      vxy += gx * gy;
      vyy += gy * gy;
    }
    const double d2 = determinant * determinant;
    const double error_x = (yy * yy * vxx - 2 * yy * xy * vxy + xy * xy * vyy) / d2;
    const double error_y = (xx * xx * vyy - 2 * xx * xy * vxy + xy * xy * vxx) / d2;
    result.standard_error = std::hypot(std::sqrt(std::max({0.0, error_x, error_y})), kInexact);
    const double length = std::hypot(move_x, move_y);
    if (length < kNear && step > 0) {
      result.converged = true;
      result.x += move_x;
      result.y += move_y;
      return result;
    }
    const double part = std::min(1.0, kLongest / length);
    x += part * move_x;
    y += part * move_y;
  }
  measure(x, y);
  result.x = x;
  result.y = y;
  return result;
}

Landmarks::Visibility Landmarks::visibility() const {
  std::vector<std::array<double, 2>> gains, rests;
  for (const Landmark& landmark : landmarks_) {
    if (!usable(landmark) || !(landmark.correlation > 0.5)) continue;
    gains.push_back({landmark.gain, 1.0});
    rests.push_back({landmark.rest, 1.0});
  }
  if (gains.size() < kLeastCount / 2) return {};
  return {weighted_median(gains), weighted_median(rests)};
}

void Landmarks::begin(const SignalView& frame) {
  frame_ = frame;
  located_ = false;
  fine_ = usual_fine_;
  best_ = {};
  current_ = false;
}

bool Landmarks::try_at(double x, double y, bool patient) {
  const Agreement found = climb(x, y, patient);
  current_ = found.likeness > best_.likeness || best_.count == 0;
  if (current_) best_ = found;
  return best_.converged && best_.count >= kLeastCount && best_.likeness > kClear && best_.share > kNearlyAll;
}

LandmarkReport Landmarks::finish() {
  LandmarkReport report;
  if (!current_ && frame_) measure(best_.x, best_.y);
  frame_.reset();
  report.located = best_.agreeing >= kLeastAgreeing && best_.agreeing > kAgreed * best_.count;
  report.x = best_.x;
  report.y = best_.y;
  report.standard_error = best_.standard_error;
  if (report.located) {
    located_ = true;
    at_x_ = best_.x;
    at_y_ = best_.y;
  }
  // Amplitudes of coarse and fine structure, jointly: seen = a * coarse + b * (expected - coarse).
  double cc = 0, cf = 0, ff = 0, sc = 0, sf = 0, rest = 0, samples = 0;
  double lost = 0;
  report.count = 0;
  const auto [gain, noise] = visibility();
  for (Landmark& landmark : landmarks_) {
    if (!usable(landmark)) continue;
    // Nobody can say whether something so faint is there.
    const double signal = gain * gain * landmark.energy;
    if (signal < kVisible * (signal + noise)) continue;
    ++report.count;
    ++report.usable[static_cast<std::size_t>(landmark.tile)];
    Patch fine{};
    for (std::size_t p = 0; p < kPatchPixels; ++p) fine[p] = landmark.expected[p] - landmark.coarse[p];
    const double own = product(landmark.seen, landmark.seen);
    const double c2 = product(landmark.coarse, landmark.coarse);
    const double f2 = product(fine, fine);
    const double c = product(landmark.coarse, landmark.seen);
    const double f = product(fine, landmark.seen);
    // A blurred landmark looks like its coarse structure.
    if (own > 0 && c2 > 0.02 * landmark.energy)
      landmark.correlation = std::max(landmark.correlation, c / std::sqrt(own * c2));
    if (!there(landmark)) {
      lost += 1;
      ++report.gone[static_cast<std::size_t>(landmark.tile)];
      continue;
    }
    const double w = 1 / (landmark.energy + kPatchPixels * unit_ * unit_);
    const double both = product(landmark.coarse, fine);
    cc += w * c2;
    cf += w * both;
    ff += w * f2;
    sc += w * c;
    sf += w * f;
    rest += w * own;
    samples += kPatchPixels;
  }
  if (report.count > 0) report.lost = lost / report.count;
  const double determinant = cc * ff - cf * cf;
  if (report.located && determinant > 1e-3 * cc * ff) {
    const double coarse = (ff * sc - cf * sf) / determinant;
    const double fine = (cc * sf - cf * sc) / determinant;
    const double residual = std::max(0.0, rest - coarse * sc - fine * sf) / std::max(1.0, samples);
    if (coarse > 0.05) {
      fine_ = fine / coarse;
      // Neighbouring pixels are smoothed: some six to a degree of freedom.
      if (!renewed_ || noted_ >= kKnown) {
        const double usual = std::clamp(usual_fine_, 0.3, 1.0);
        report.fine = fine_ / usual;
        report.fine_error = std::sqrt(6 * residual * cc / determinant) / coarse / usual;
      }
    }
  }
  return report;
}

void Landmarks::follow() {
  if (!located_) return;
  home_x_ += at_x_;
  home_y_ += at_y_;
  at_x_ = at_y_ = 0;
}

void Landmarks::adapt(double share) {
  if (!located_) return;
  const auto part = static_cast<float>(share);
  for (Landmark& landmark : landmarks_) {
    if (!landmark.inside) continue;
    Patch patch = landmark.expected;
    for (std::size_t p = 0; p < kPatchPixels; ++p) patch[p] += part * (landmark.seen[p] - patch[p]);
    landmark.expect(patch);
  }
}

bool Landmarks::worn() const noexcept {
  const auto good = std::ranges::count_if(landmarks_, [this](const Landmark& l) { return usable(l); });
  return located_ && 2 * good < static_cast<std::ptrdiff_t>(landmarks_.size());
}

void Landmarks::note_usual() {
  if (!located_) return;
  const double share = std::max(0.02, 1.0 / (++noted_ + 2));
  usual_fine_ += share * (fine_ - usual_fine_);
  for (Landmark& landmark : landmarks_) {
    if (!landmark.inside) continue;
    landmark.usual += share * (std::clamp(landmark.correlation, 0.0, 1.0) - landmark.usual);
  }
}

}  // namespace sfft::video
