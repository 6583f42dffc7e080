// SPDX-License-Identifier: Apache-2.0
// Updates the reference: to the scene's position while nothing happens, and to its appearance.
#include <algorithm>
#include <array>
#include <cmath>

#include "video/guard/guard.hpp"

namespace sfft::video {

namespace {

/// Seconds between two updates of the reference, to the scene's position and to its appearance. The latter
/// covers the given share of the difference each time; a change of light takes some four seconds, and about
/// two and a half once it is an event. Faster updates would absorb an object that has meanwhile come into
/// view.
constexpr double kFollowEvery_s = 0.08;
constexpr double kAdaptEvery_s = 0.24;
constexpr double kAdaptShare = 0.04;
constexpr double kLightShare = 0.1;
/// Passing objects must not become part of the reference: share of the picture that may have changed.
constexpr double kCalm = 0.12;
/// Phase coherence above which new landmarks may be taken from a frame.
constexpr double kSameScene = 0.3;
/// The reference follows the scene up to this part of the threshold of a move.
constexpr double kFollow = 0.9;
/// Strength that a rejected move is set to. The reference does not follow it either.
constexpr double kDenied = 0.95;
/// Two moves that differ by less than this, in pixels, are the same.
constexpr double kSamePlace = 1;
/// Seconds after which a picture becomes the scene if a switch of light has put it out of focus.
constexpr double kRefocused_s = 3;
/// Seconds between two frames that are kept to check moves against.
constexpr double kRemember_s = 1;

}  // namespace

void Guard::check_move(const SignalView& region) {
  Finding& moved = latest_.findings[static_cast<std::size_t>(EventKind::moved)];
  const bool active = conditions_[static_cast<std::size_t>(EventKind::moved)].active();
  if (active || !(moved.strength > 1) || !std::isfinite(moved.shift_px) || !check_->ready()) {
    if (!(moved.strength > 1)) denied_ = 0;
    return;
  }
  const Pose pose = latest_.seen->registration.pose();
  const Pose before{pose.x - moved.shift_x, pose.y - moved.shift_y};
  if (!check_->vote(region, pose, before).deny()) {
    denied_ = 0;
    return;
  }
  moved.strength = kDenied;
  judge_->deny();
  const Pose off = pose - denied_pose_;
  denied_ = denied_ > 0 && std::hypot(off.x, off.y) < kSamePlace ? denied_ + 1 : 1;
  if (denied_ == 1) denied_pose_ = pose;
  if (denied_ < frames(options_.thresholds.rearranged_s)) return;
  // Objects that were carried elsewhere become part of the scene.
  observer_->accept(region, before);
  judge_->accepted();
  denied_ = 0;
}

void Guard::begin_again() {
  for (int i = 0; i < kEventKinds; ++i) {
    const auto kind = static_cast<EventKind>(i);
    if (kind == EventKind::frozen || kind == EventKind::offline) continue;
    if (conditions_[static_cast<std::size_t>(i)].stop(judged_) == Hysteresis::Change::ends)
      finish(kind, frames_, moments_.back().seconds);
  }
  switched_ = lit_ = netted_ = 0;
  observer_.reset();
  judge_.reset();
}

void Guard::adapt(const SignalView& region) {
  bool anything = judge_->passing();
  for (int i = 0; i < kEventKinds; ++i) {
    const auto kind = static_cast<EventKind>(i);
    if (kind == EventKind::light || kind == EventKind::flicker) continue;
    const Hysteresis& condition = conditions_[static_cast<std::size_t>(i)];
    anything = anything || condition.active() || condition.pending();
  }
  const Hysteresis& moved = conditions_[static_cast<std::size_t>(EventKind::moved)];
  if (moved.active()) {
    const auto open = std::ranges::find(open_, EventKind::moved, &Event::kind);
    // The camera stays where it is, so its present view becomes the scene.
    if (open != open_.end() && moments_.back().seconds - open->start_s > options_.settle_s) {
      begin_again();
      return;
    }
  }
  if (std::max({switched_, lit_, netted_}) > frames(kRefocused_s)) {
    begin_again();
    return;
  }
  const Observation& seen = *latest_.seen;
  follow();
  if (anything) {
    quiet_ = 0;
    return;
  }
  ++quiet_;
  if (denied_ == 0 && (!check_->ready() || ++unchecked_ >= frames(kRemember_s))) {
    check_->remember(region, observer_->pose());
    unchecked_ = 0;
  }
  if (Judge::usual(latest_.findings, seen)) {
    judge_->learn(seen);
    // Worn landmarks must not be replaced by those of an object in front of the scene.
    observer_->note_usual(share_in(0.02, pace_.interval()),
                          seen.changed < kCalm && seen.registration.coherence > kSameScene);
  }
  observer_->note_noise(std::max(share_in(0.01, pace_.interval()), 1.0 / (quiet_ + 1)));
  const bool light = conditions_[static_cast<std::size_t>(EventKind::light)].active();
  // Objects that came to stay, or were taken away, change the reference. Moving objects do not, and objects
  // that rest for a while would leave a blur at all their places.
  const bool stays = seen.changed - seen.struck < 0.4 * kCalm && !seen.rearranged;
  const bool calm_picture = seen.changed < kCalm || stays;
  const int every = frames(kAdaptEvery_s);
  const double step_s = every * pace_.interval() / 6;
  if (quiet_ % every == 0 && calm_picture)
    observer_->adapt(share_in(light ? kLightShare : kAdaptShare, step_s));
}

/// Follows a scene that sways or drifts, whatever else happens.
void Guard::follow() {
  const Observation& seen = *latest_.seen;
  const Hysteresis& moved = conditions_[static_cast<std::size_t>(EventKind::moved)];
  // A blurred scene appears slightly displaced.
  const Hysteresis& defocused = conditions_[static_cast<std::size_t>(EventKind::defocused)];
  if (defocused.active() || defocused.pending()) return;
  if (judged_ % frames(kFollowEvery_s) != 0 || !judge_->believes(seen) || moved.active() || moved.pending() ||
      latest_.findings[static_cast<std::size_t>(EventKind::moved)].strength >= kFollow)
    return;
  check_->follow(seen.registration.pose());
  observer_->follow();
  judge_->followed(seen.registration.pose());
}

double Guard::missed_seconds() const {
  const double missed = pace_.elapsed() - interval_s_;
  return missed > std::max(options_.thresholds.missed_s, interval_s_) ? missed : 0;
}

/// Whether something conceals what the scene does: a cover, darkness, glare or defocus.
bool Guard::hidden() const {
  return std::ranges::any_of(
      std::array{EventKind::covered, EventKind::dark, EventKind::blinded, EventKind::defocused},
      [this](EventKind kind) {
        const auto i = static_cast<std::size_t>(kind);
        return conditions_[i].active() && latest_.findings[i].strength > kRelease;
      });
}

void Guard::follow_missed() {
  const Observation& seen = *latest_.seen;
  Finding& moved = latest_.findings[static_cast<std::size_t>(EventKind::moved)];
  if (!judge_->believes(seen)) return;
  const Pose pose = seen.registration.pose();
  const double drift = options_.thresholds.drift_px / options_.sensitivity *
                       std::min(1.0, missed_s_ / options_.thresholds.drift_s);
  missed_s_ = 0;
  if (conditions_[static_cast<std::size_t>(EventKind::moved)].active() || !(moved.shift_px < drift)) return;
  check_->follow(pose);
  observer_->follow();
  judge_->resume(pose);
  moved = {};
}

}  // namespace sfft::video
