// SPDX-License-Identifier: Apache-2.0
// A camera on patrol: while its view is unknown, events wait until it rests. Then the view is recognised, or
// learned, or reported as a move if there are enough presets.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/base/math/quantiles.hpp"
#include "video/guard/guard.hpp"

namespace sfft::video {

namespace {

/// Times in seconds: the longest way between presets; the interval between searches for known views; the rest
/// after which a view is learned or counts as unknown.
constexpr double kLongestWay_s = 8;
constexpr double kLook_s = 0.2;
constexpr double kRest_s = 0.8;
/// A picture stands still up to this multiple of the usual activity, which counts as kMinActivity or more, in
/// units of (full range / 255)². It follows each frame by the share kActivityShare.
constexpr double kStands = 3;
constexpr double kMinActivity = 0.5;
constexpr double kActivityShare = 0.02;
/// In a known view, this share of the landmarks may be hidden, and the camera may miss it by the share
/// kNearPreset of the picture's width.
constexpr double kHidden = 0.5;
constexpr double kNearPreset = 0.05;
/// Minimum difference of neighbouring pixels in a view that may be learned, as a share of the full range. A
/// cover has less.
constexpr double kScenery = 2 / 255.0;
constexpr std::array kWithheld{EventKind::moved, EventKind::covered, EventKind::defocused, EventKind::light};

double median_activity(const TileActivity& activity) {
  TileActivity sorted = activity;
  return detail::median_in_place(sorted);
}

}  // namespace

bool Guard::patrols(const SignalView& region) {
  const Observation& seen = *latest_.seen;
  const auto strength = [&](EventKind kind) {
    return latest_.findings[static_cast<std::size_t>(kind)].strength;
  };
  const bool off = std::ranges::any_of(
      kWithheld, [&](EventKind kind) { return kind != EventKind::light && strength(kind) > kRelease; });
  const double activity = median_activity(seen.activity);
  if (!off) {
    if (away_ > 0) judge_->arrived();
    away_ = resting_ = 0;
    usual_activity_ += kActivityShare * (activity - usual_activity_);
    return false;
  }
  ++away_;
  const double stands = kStands * std::max(kMinActivity, usual_activity_);
  resting_ = activity < stands ? resting_ + 1 : 0;
  if (away_ % frames(kLook_s) == 0 && return_to_preset(region)) return true;
  const bool rests = resting_ >= frames(kRest_s);
  if (rests && static_cast<int>(presets_.size()) + 1 < options_.presets && seen.texture > kScenery &&
      seen.level > 0.05) {
    keep_preset();
    learn(region);
    return true;
  }
  return !rests && away_ < frames(kLongestWay_s);
}

bool Guard::return_to_preset(const SignalView& region) {
  const double near = kNearPreset * static_cast<double>(region.shape()[1]);
  for (Preset& preset : presets_) {
    const Observation seen = preset.observer->observe(region);
    const LandmarkReport& landmarks = seen.landmarks;
    if (!landmarks.located || landmarks.lost > kHidden ||
        !(std::hypot(landmarks.pose.x, landmarks.pose.y) < near))
      continue;
    std::swap(preset.observer, observer_);
    std::swap(preset.judge, *judge_);
    std::swap(preset.check, *check_);
    // The camera does not return to the exact pixel.
    check_->follow(observer_->pose());
    judge_->resume(observer_->pose());
    observer_->follow();
    judge_->arrived();
    arrive();
    return true;
  }
  return false;
}

void Guard::keep_preset() {
  presets_.push_back({std::move(observer_), std::move(*judge_), std::move(*check_)});
  judge_.reset();
  check_.reset();
  arrive();
}

void Guard::arrive() {
  away_ = resting_ = quiet_ = denied_ = 0;
  missed_s_ = 0;
  const Moment& now = moments_.back();
  for (const EventKind kind : kWithheld) {
    Hysteresis& condition = conditions_[static_cast<std::size_t>(kind)];
    if (condition.stop(judged_) == Hysteresis::Change::ends) finish(kind, now.frame, now.seconds);
  }
}

}  // namespace sfft::video
