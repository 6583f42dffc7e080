// SPDX-License-Identifier: Apache-2.0
// Coarse: the peak of the correlation of small pictures. Fine: Gauss-Newton steps on the small picture (Lucas
// and Kanade, IJCAI 1981; the shift itself is removed exactly, in the phases) with Tukey's biweight, which
// removes the influence of objects that move in a part of the picture. Last: the phases of all frequencies,
// including the fine ones.
#include "video/guard/registration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "kernels/base/math/quantiles.hpp"
#include "video/guard/least_squares.hpp"

namespace sfft::video {

namespace {

constexpr int kSteps = 4;

/// Coherence, in units of chance, that no search reaches by accident.
constexpr double kSure = 5.5;
/// Maximum difference in pixels between phases and small pictures.
constexpr double kNearShift = 0.5;
constexpr double kTukey = 4.685;
/// Frames after which a search has to confirm the pose again.
constexpr int kTrusted = 50;
/// Maximum shift in pixels from frame to frame that is not a jump.
constexpr double kStep = 1.2;
/// Likeness, or share of the landmarks, that may be lost since the latest search.
constexpr double kLessAlike = 0.06;
/// Lost landmarks are searched for in each of the first kSearchEveryFrame frames, and then in every
/// kGlance-th.
constexpr int kSearchEveryFrame = 25;
constexpr int kGlance = 4;
/// Later the interval is a kRarely-th of the time since they were lost, but at most kLongestGlance frames: a
/// search costs as much as twenty frames.
constexpr int kRarely = 16;
constexpr int kLongestGlance = 32;
/// How much better phases agree with an unmoved scene than with a wrong place.
constexpr double kContradiction = 0.3;
/// Phases contradict a place if at most this part of their agreement with an unmoved scene is left there.
constexpr double kDenied = 0.5;
/// Step between the rotations that are tried, in radians, and between the zooms; number of steps in each
/// direction.
constexpr double kTurnStep = 0.015;
constexpr int kTurnSteps = 14;
/// Number of these turns at which landmarks are searched for: those with the best correlation of the small
/// pictures.
constexpr int kTurns = 6;
/// Number of peaks of the small pictures' correlation that are examined.
constexpr std::size_t kPeaks = 6;
/// Minimum spread of a small picture's residuals, in grey levels.
constexpr double kMinSpread = 0.05;

/// Where a parabola through three neighbours peaks, in (-1/2, 1/2).
double peak_offset(float before, float at, float after) {
  const double curvature = static_cast<double>(before) - 2.0 * at + after;
  if (!(curvature < 0)) return 0;
  return std::clamp(0.5 * (static_cast<double>(before) - after) / curvature, -0.5, 0.5);
}

}  // namespace

bool phases_contradict(double coherence, double still, double chance) noexcept {
  // Phases that do not agree anyway, as when most of the picture moves, are ignored.
  const double min = std::max(std::min(kContradiction, (1 - kDenied) * still), kUnlikely * chance);
  return still - coherence > min;
}

Registrar::Registrar(const Layout& layout) : layout_(layout), pictures_(layout), phases_(layout) {
  // Neighbouring points of the tapered picture are correlated, about two per degree of freedom, so every
  // other point suffices.
  for (int row = kRim; row < pictures_.height() - kRim; ++row) {
    for (int column = kRim + row % 2; column < pictures_.width() - kRim; column += 2) {
      points_.push_back(row * pictures_.width() + column);
      at_x_.push_back(static_cast<float>((column - 0.5 * pictures_.width()) * pictures_.step_x()));
      at_y_.push_back(static_cast<float>((row - 0.5 * pictures_.height()) * pictures_.step_y()));
    }
  }
}

ReferencePicture Registrar::reference(std::span<const std::complex<float>> values) {
  ReferencePicture reference;
  reference.values.assign(values.begin(), values.end());
  layout_.gather_block(values, reference.low);
  pictures_.draw(reference.low, 0, 0, true, reference.structure);
  pictures_.draw(reference.low, 0, 0, false, reference.levels);
  pictures_.gradients(reference.low, reference.by_x, reference.by_y);
  return reference;
}

Registrar::Step Registrar::step(const ReferencePicture& reference, double x, double y) {
  pictures_.draw(low_, x, y, true, structure_);
  Step step;
  step.found.x = x;
  step.found.y = y;
  // Robust scale around a first guess of the contrast.
  double product = 0;
  double energy = 0;
  for (const int i : points_) {
    const auto at = static_cast<std::size_t>(i);
    product += static_cast<double>(structure_[at]) * reference.structure[at];
    energy += static_cast<double>(reference.structure[at]) * reference.structure[at];
  }
  if (!(energy > 0)) return step;
  std::array<double, 6> p{std::clamp(product / energy, 0.2, 3.0), 0, 0, 0, 0, 0};
  SmallLeastSquares<6> equations;
  for (int pass = 0; pass < 2; ++pass) {
    residuals_.resize(points_.size());
    const auto predicted = [&](std::size_t n, std::size_t at) {
      const double ux = p[2] - p[4] * at_y_[n] + p[5] * at_x_[n];
      const double uy = p[3] + p[4] * at_x_[n] + p[5] * at_y_[n];
      return p[0] * reference.structure[at] + p[1] - (reference.by_x[at] * ux + reference.by_y[at] * uy);
    };
    for (std::size_t n = 0; n < points_.size(); ++n) {
      const auto at = static_cast<std::size_t>(points_[n]);
      residuals_[n] = std::abs(structure_[at] - static_cast<float>(predicted(n, at)));
    }
    std::vector<float>& sorted = surface_;
    sorted = residuals_;
    step.spread = std::max(kMinSpread, 1.4826 * static_cast<double>(detail::median_in_place(sorted)));
    equations = {};
    const double limit = kTukey * step.spread;
    double inside = 0;
    double whole = 0;
    for (std::size_t n = 0; n < points_.size(); ++n) {
      const auto at = static_cast<std::size_t>(points_[n]);
      const double strength = std::abs(static_cast<double>(reference.structure[at]));
      whole += strength;
      const double ratio = residuals_[n] / limit;
      if (ratio >= 1) continue;
      const double weight = (1 - ratio * ratio) * (1 - ratio * ratio);
      inside += weight * strength;
      const double gx = -reference.by_x[at];
      const double gy = -reference.by_y[at];
      equations.add({reference.structure[at], 1.0, gx, gy, gy * at_x_[n] - gx * at_y_[n],
                     gx * at_x_[n] + gy * at_y_[n]},
                    structure_[at], weight);
    }
    step.found.inliers = whole > 0 ? inside / whole : 0;
    if (!equations.solve(p)) return step;
  }
  // The gradients are the reference's; the frame's are p[0] times as large.
  const double contrast = std::max(0.05, p[0]);
  step.found.contrast = p[0];
  step.found.x += p[2] / contrast;
  step.found.y += p[3] / contrast;
  step.found.rotation = p[4] / contrast;
  step.found.zoom = p[5] / contrast;
  const double scale = step.spread / contrast;
  step.found.standard_error = scale * std::sqrt(std::max(equations.variance(2), equations.variance(3)));
  step.found.rotation_error = scale * std::sqrt(equations.variance(4));
  step.found.zoom_error = scale * std::sqrt(equations.variance(5));
  step.good = true;
  return step;
}

std::vector<Registrar::Peak> Registrar::correlation_peaks(const ReferencePicture& reference,
                                                          std::span<const std::complex<float>> low) {
  pictures_.correlate(reference.low, low, surface_);
  const int width = pictures_.width();
  const int height = pictures_.height();
  const int reach_x = width / 3;
  const int reach_y = height / 3;
  const auto value = [&](int column, int row) {
    return surface_[static_cast<std::size_t>((row + height) % height * width + (column + width) % width)];
  };
  std::vector<Peak> peaks;
  for (int row = -reach_y; row <= reach_y; ++row) {
    for (int column = -reach_x; column <= reach_x; ++column) {
      const float here = value(column, row);
      const float left = value(column - 1, row);
      const float right = value(column + 1, row);
      const float above = value(column, row - 1);
      const float below = value(column, row + 1);
      if (here < std::max({left, right, above, below})) continue;
      peaks.push_back({here,
                       {pictures_.step_x() * (column + peak_offset(left, here, right)),
                        pictures_.step_y() * (row + peak_offset(above, here, below))}});
    }
  }
  const std::size_t count = std::min(kPeaks, peaks.size());
  std::partial_sort(peaks.begin(), peaks.begin() + static_cast<std::ptrdiff_t>(count), peaks.end(),
                    [](const Peak& a, const Peak& b) { return a.height > b.height; });
  peaks.resize(std::max<std::size_t>(1, count));
  return peaks;
}

void Registrar::search(const ReferencePicture& reference, PhaseAgreement& best, const Registration& start,
                       double still, Landmarks& landmarks) {
  // Whether the landmarks confirm the phases, or do not contradict them.
  constexpr double kClear = 0.8;
  const auto settled = [&] {
    if (landmarks.try_at({best.x, best.y})) return true;
    const Pose& pose = landmarks.pose();
    return best.coherence >= kClear &&
           (!landmarks.agreed() || std::hypot(pose.x - best.x, pose.y - best.y) < kNearShift);
  };
  const auto consider = [&](double x, double y) {
    const PhaseAgreement other = phases_.climb(x, y);
    if (other.coherence > best.coherence) best = other;
  };
  // Along edges, landmarks match in many places where phases do not agree.
  const auto try_near = [&](const Pose& place, bool patient) {
    const PhaseAgreement near = phases_.approach(place.x, place.y);
    if (phases_contradict(phases_.at(near.x, near.y).coherence, still, phases_.chance())) return false;
    return landmarks.try_at({near.x, near.y}, patient);
  };
  // After a jump, low frequencies lead to where the landmarks are.
  const std::vector<Peak> peaks = correlation_peaks(reference, low_);
  const Pose& peak = peaks.front().place;
  if (try_near(peak, false)) return;
  consider(peak.x, peak.y);
  if (settled() || landmarks.try_at(start.pose(), true)) return;
  consider(start.x, start.y);
  if (start.x != 0 || start.y != 0) {
    // Phases may have followed an object that moves in front of a still scene.
    if (!landmarks.agreed() && landmarks.try_at({})) return;
    consider(0, 0);
  }
  if (settled()) return;
  const Registration coarse = fit(reference, peak.x, peak.y).found;
  consider(coarse.x, coarse.y);
  // A turned or enlarged scene has no common phase, but the small picture still shows where it is.
  if (best.coherence < kSure * phases_.chance() && coarse.inliers > 0.7) {
    best.x = coarse.x;
    best.y = coarse.y;
    best.standard_error = coarse.standard_error;
  }
  if (landmarks.try_at({best.x, best.y}, true)) return;
  const Pose turned{coarse.x, coarse.y, coarse.rotation, coarse.zoom};
  if (landmarks.try_at({coarse.x, coarse.y}, true) || landmarks.try_at(turned, true)) return;
  // Large objects that move in front of the scene have peaks themselves.
  for (std::size_t i = 1; i < peaks.size() && !landmarks.agreed(); ++i) try_near(peaks[i].place, true);
  if (!landmarks.agreed() && (without_ >= kSearchEveryFrame || without_ % kGlance == 0))
    search_turns(reference, start.pose(), landmarks);
}

void Registrar::search_turns(const ReferencePicture& reference, const Pose& from, Landmarks& landmarks) {
  std::vector<Peak> peaks;
  Pose alike;
  double max = 0;
  const auto consider = [&](const Pose& turn) {
    for (const Pose& pose : {turn, from + turn}) {
      const double likeness = landmarks.likeness_at(pose);
      if (likeness <= max) continue;
      max = likeness;
      alike = pose;
    }
    pictures_.turn_back(low_, turn, turned_);
    Peak peak = correlation_peaks(reference, turned_).front();
    // The picture was turned about its centre after it was shifted.
    const auto [by_x, by_y] = turn.shift_at(peak.place.x, peak.place.y);
    peak.place = peak.place + turn + Pose{by_x, by_y};
    peaks.push_back(peak);
  };
  for (int step = 1; step <= kTurnSteps; ++step) {
    for (const double sign : {-1.0, 1.0}) {
      consider({0, 0, sign * step * kTurnStep, 0});
      consider({0, 0, 0, sign * step * kTurnStep});
    }
  }
  if (landmarks.try_at(alike, true)) return;
  std::ranges::partial_sort(peaks, peaks.begin() + kTurns, std::greater<>{}, &Peak::height);
  for (int i = 0; i < kTurns && !landmarks.agreed(); ++i)
    landmarks.try_at(peaks[static_cast<std::size_t>(i)].place, true);
}

bool Registrar::followed(const Landmarks& landmarks, const Registration& start) const {
  const Pose& pose = landmarks.pose();
  return trust_.age < kTrusted && landmarks.agreed() && landmarks.converged() &&
         std::hypot(pose.x - start.x, pose.y - start.y) < kStep &&
         landmarks.likeness() > trust_.likeness - kLessAlike && landmarks.share() > trust_.share - kLessAlike;
}

Registration Registrar::locate(const ReferencePicture& reference, std::span<const std::complex<float>> values,
                               std::span<const float> weights, const Registration& start,
                               Landmarks& landmarks) {
  layout_.gather_block(values, low_);
  phases_.prepare(reference.values, values, weights);
  const double chance = phases_.chance();
  Registration found;
  found.still_coherence = phases_.at(0, 0).coherence;
  const bool clear = landmarks.try_at(start.pose());
  PhaseAgreement best;
  if (landmarks.agreed()) {
    best = phases_.at(landmarks.pose().x, landmarks.pose().y);
  } else {
    best = without_ == 0 ? phases_.at(start.x, start.y) : phases_.climb(start.x, start.y);
  }
  ++trust_.age;
  const int glance = std::clamp(without_ / kRarely, kGlance, kLongestGlance);
  const bool look = without_ < kSearchEveryFrame || ++unsearched_ >= glance;
  if (!clear && !followed(landmarks, start) && look) {
    unsearched_ = 0;
    search(reference, best, start, found.still_coherence, landmarks);
    trust_ = {landmarks.likeness(), landmarks.share(), 0};
    if (landmarks.agreed()) best = phases_.at(landmarks.pose().x, landmarks.pose().y);
  } else if (clear) {
    trust_ = {landmarks.likeness(), landmarks.share(), 0};
  }
  without_ = landmarks.agreed() ? 0 : without_ + 1;
  // Opposite edges of the picture do not move with the scene, and bias the phases of the whole picture
  // towards no shift. Small pictures leave the edges out, so they decide where the scene is clear.
  Step fine = step(reference, best.x, best.y);
  const double far = std::max(kNearShift, 0.35 * std::hypot(best.x, best.y));
  const bool known = landmarks.agreed();
  const auto better = [&] {
    return !known && fine.good && best.coherence > 0.6 && fine.found.inliers > 0.5 &&
           std::hypot(fine.found.x - best.x, fine.found.y - best.y) < far;
  };
  double x = best.x;
  double y = best.y;
  double error = best.standard_error;
  if (better()) {
    const double moved = std::hypot(fine.found.x - x, fine.found.y - y);
    if (moved > 0.02) fine = step(reference, fine.found.x, fine.found.y);
    if (better()) {
      x = fine.found.x;
      y = fine.found.y;
      error = fine.found.standard_error;
    }
  }
  const double still = found.still_coherence;
  found = fine.found;
  found.still_coherence = still;
  found.chance = chance;
  found.x = x;
  found.y = y;
  found.standard_error = error;
  found.coherence = best.coherence;
  found.sure = best.coherence > kSure * chance;
  if (!fine.good) found.inliers = 0;
  return found;
}

Registrar::Step Registrar::fit(const ReferencePicture& reference, double x, double y) {
  Step found;
  for (int i = 0; i < kSteps; ++i) {
    const Step next = step(reference, x, y);
    if (!next.good) return next;
    const double moved = std::hypot(next.found.x - x, next.found.y - y);
    found = next;
    // A step longer than the picture's finest waves is unreliable, so it is shortened.
    const double longest = 0.5 * (pictures_.step_x() + pictures_.step_y());
    const double part = std::min(1.0, longest / std::max(1e-9, moved));
    x += part * (next.found.x - x);
    y += part * (next.found.y - y);
    if (moved < 0.1) break;
  }
  found.found.x = x;
  found.found.y = y;
  return found;
}

}  // namespace sfft::video
