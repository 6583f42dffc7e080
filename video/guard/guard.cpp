// SPDX-License-Identifier: Apache-2.0
// Learns from the first frames, then observes, judges, and turns lasting conditions into events.
#include "video/guard/guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfft/error.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

namespace {

/// Number of judged frames whose times are kept. The start of a replay is dated back by all the frames that
/// it lasts before it is recognised.
constexpr std::size_t kMoments = 1300;
/// A camera that has come to rest has moved further if its shift grows by this factor.
constexpr double kFurther = 1.25;
/// A change of the light between two frames by more than this natural logarithm may be a switch to infrared
/// or back. Many lenses do not focus the other wavelength, which shows within kFocusing_s.
constexpr double kSwitched = 0.25;
constexpr double kFocusing_s = 1;
/// The same for the median change of a tile's level, up or down: infrared light may make some tiles darker.
/// An object that passes close to the camera does that as well, so the picture has to be out of focus within
/// kAtOnce_s. In unchanged light, tiles would keep their levels.
constexpr double kRelit = 0.1;
/// Infrared light changes tiles by different amounts, because it comes from the camera, and leaves and
/// clothes reflect it differently. Their median deviation from the common change was 0.07 to 0.19 at 17 drawn
/// switches, and at most 0.012 when drawn and recorded scenes were blurred.
constexpr double kUneven = 0.03;
constexpr double kAtOnce_s = 0.1;
constexpr int kForgetSwitched = 3;
/// Something before the scene, such as a web, may be seen only in other light. Then three quarters of the
/// tiles change by more than kRelitMost at once, and no more than kMostly of the landmarks are lost.
constexpr double kRelitMost = 0.05;
constexpr double kMostly = 0.5;
/// A condition has to hold in this share of a window of at least kMinWindow frames.
constexpr double kHolds = 5.0 / 6;
constexpr int kMinWindow = 3;
/// If a stream turns out to be padded within this time, the guard learns again without the repeated frames.
constexpr double kEarly_s = 4;
/// Number of pixels that a plan reads by default. More pixels lower the aliasing noise but take more time.
constexpr double kSamples = 64e3;

HysteresisOptions hysteresis_of(EventKind kind, const Thresholds& thresholds, double interval_s) {
  if (kind == EventKind::frozen || kind == EventKind::offline) return {1, 1, 1};  // they count frames
  const int window = std::min(32, frames_in(thresholds.window_s, interval_s, kMinWindow));
  const int holds = static_cast<int>(std::ceil(kHolds * window - 1e-6));
  if (kind == EventKind::flicker)
    return {std::max(2, holds - 1), window, frames_in(thresholds.flicker_end_s, interval_s, 5)};
  return {holds, window, frames_in(thresholds.end_s, interval_s, kMinWindow)};
}

std::string describe(EventKind kind, const Observation& seen, const Finding& finding) {
  switch (kind) {
    case EventKind::moved:
      if (!std::isfinite(finding.shift_px)) return "another scene";
      return fmt::format("by ({:.1f}, {:.1f}) px, turned {:.2f} degrees, zoom {:+.2f} %", finding.shift_x,
                         finding.shift_y, seen.registration.rotation * 57.29577951,
                         100 * seen.registration.zoom);
    case EventKind::covered:
      return fmt::format("{:.0f} % of the scene", 100 * std::max(seen.changed, seen.struck));
    case EventKind::defocused:
      return fmt::format("{:.0f} % of the fine detail is left", 100 * std::max(0.0, seen.sharpness));
    case EventKind::frozen:
      if (seen.period_s > 0 && seen.returning > 0)
        return fmt::format("pictures of the last {:.1f} s return", seen.period_s);
      return "the picture stands still";
    case EventKind::dark:
    case EventKind::blinded:
      return fmt::format("mean level {:.0f} %", 100 * seen.level);
    case EventKind::light:
      return fmt::format("level {:+.0f} %", 100 * std::expm1(seen.light));
    case EventKind::flicker:
      return "brightness goes up and down";
    case EventKind::offline:
      break;
  }
  return "";
}

}  // namespace

Guard::Guard(const GuardOptions& options) : options_(options) {
  set_pace();
}

Guard::~Guard() = default;

Guard::Guard(const Guard& other)
    : options_(other.options_),
      shape_(other.shape_),
      type_(other.type_),
      full_(other.full_),
      region_(other.region_),
      frames_(other.frames_),
      ids_(other.ids_),
      learning_(other.learning_),
      observer_(other.observer_ ? std::make_unique<Observer>(*other.observer_) : nullptr),
      judge_(other.judge_),
      conditions_(other.conditions_),
      open_(other.open_),
      pace_(other.pace_),
      pixels_(other.pixels_),
      padding_(other.padding_),
      interval_s_(other.interval_s_),
      judged_(other.judged_),
      moments_(other.moments_),
      replay_(other.replay_),
      since_jump_(other.since_jump_),
      since_relit_(other.since_relit_),
      since_relit_most_(other.since_relit_most_),
      switched_(other.switched_),
      uncovered_(other.uncovered_),
      netted_(other.netted_),
      lit_(other.lit_),
      away_(other.away_),
      resting_(other.resting_),
      usual_activity_(other.usual_activity_),
      latest_(other.latest_),
      quiet_(other.quiet_),
      made_up_(other.made_up_),
      missed_s_(other.missed_s_),
      check_(other.check_),
      unchecked_(other.unchecked_),
      denied_(other.denied_),
      denied_pose_(other.denied_pose_) {
  for (const Preset& one : other.presets_)
    presets_.push_back({std::make_unique<Observer>(*one.observer), one.judge, one.check});
}

void Guard::start(const SignalView& frame) {
  shape_ = frame.shape();
  type_ = frame.type();
  if (type_ != ElementType::u8 && type_ != ElementType::u16)
    throw Error(ErrorCode::type_mismatch, "the guard takes frames of 8 or 16 bits");
  region_ = plannable({0, 0, frame.shape()[1], frame.shape()[0]});
  if (type_ == ElementType::u16) {
    // Nothing says how many of the 16 bits are used: assume as many as the first frame needs.
    const auto* samples = static_cast<const std::uint16_t*>(frame.data());
    int max = 1;
    for (std::int64_t row = 0; row < frame.shape()[0]; ++row)
      for (std::int64_t i = 0; i < frame.shape()[1]; ++i)
        max = std::max<int>(max, samples[row * frame.stride(0) + i]);
    full_ = 1023;
    while (full_ < max) full_ = 2 * full_ + 1;
  }
}

SignalView Guard::region_of(const SignalView& frame) const {
  const Shape shape{region_.height, region_.width};
  const std::int64_t first = region_.y * frame.stride(0) + region_.x;
  if (type_ == ElementType::u16)
    return SignalView::rows(static_cast<const std::uint16_t*>(frame.data()) + first, shape, frame.stride(0));
  return SignalView::rows(static_cast<const std::uint8_t*>(frame.data()) + first, shape, frame.stride(0));
}

const GuardFrame& Guard::push(const SignalView& frame, double seconds, bool made_up) {
  if (!shape_) start(frame);
  if (frame.shape() != *shape_ || frame.type() != type_) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("frame {} is {}x{}, the first was {}x{}: frames must keep their size and depth",
                            frames_, frame.shape()[1], frame.shape()[0], (*shape_)[1], (*shape_)[0]));
  }
  latest_ = {};
  if (conditions_[static_cast<std::size_t>(EventKind::offline)].stop(judged_) == Hysteresis::Change::ends) {
    finish(EventKind::offline, frames_, seconds);
    gap();
  }
  made_up_ = made_up ? made_up_ + 1 : 0;
  interval_s_ = pace_.interval();
  const bool padded = padding_.padded();
  read_pixels(region_of(frame), pixels_);
  const bool wanted = padding_.due(pixels_, seconds);
  if (!padded && padding_.padded() && seconds - moments_.front().seconds < kEarly_s) {
    restart(seconds);
    start(frame);
    pace_ = Pace();
  }
  if (pace_.due(seconds, wanted)) {
    moments_.push_back({frames_, seconds});
    if (moments_.size() > kMoments) moments_.pop_front();
    set_pace();
    // After kMaxMadeUp frames the pictures should be good again. If all are damaged, they have to do.
    const bool doubtful = made_up_ > 0 && made_up_ <= kMaxMadeUp;
    missed_s_ = std::max(missed_s_, missed_seconds());
    const SignalView region = region_of(frame);
    if (observer_) {
      watch(region, doubtful);
    } else {
      if (!replay_) replay_.emplace(full_);
      replay_->keep(pixels_, seconds);
      if (!doubtful) learn(region);
    }
    ++judged_;
  } else if (wanted && replay_) {
    replay_->keep(pixels_, seconds);
  }
  ++frames_;
  return latest_;
}

void Guard::set_pace() {
  for (int i = 0; i < kEventKinds; ++i) {
    conditions_[static_cast<std::size_t>(i)].set_options(
        hysteresis_of(static_cast<EventKind>(i), options_.thresholds, pace_.interval()));
  }
}

void Guard::learn(const SignalView& region) {
  if (!learning_) {
    const double points = static_cast<double>(region.shape().points());
    const double share = options_.max_samples > 0 ? options_.max_samples : std::min(0.25, kSamples / points);
    learning_.emplace(region_, options_.k, share);
  }
  learning_->add(region);
  if (learning_->frames() < options_.learn_frames) return;
  observer_ = std::make_unique<Observer>(learning_->finish(), full_);
  learning_.reset();
  judge_.emplace(JudgeOptions{options_.sensitivity, options_.thresholds},
                 0.35 * std::hypot(static_cast<double>(region_.width), static_cast<double>(region_.height)));
  quiet_ = 0;
  check_.emplace(full_);
  denied_ = 0;
}

void Guard::watch(const SignalView& region, bool doubtful) {
  latest_.seen = observer_->observe(region);
  latest_.seen->frame = frames_;
  latest_.seen->interval_s = pace_.interval();
  latest_.seen->elapsed_s = pace_.elapsed();
  replay_->add(pixels_, moments_.back().seconds, pace_.interval(), options_.thresholds.replay_s,
               conditions_[static_cast<std::size_t>(EventKind::frozen)].active());
  latest_.seen->returning = replay_->strength();
  latest_.seen->returned_frames = replay_->frames();
  latest_.seen->period_s = replay_->period_s();
  latest_.findings = judge_->judge(*latest_.seen);
  since_jump_ = std::abs(latest_.seen->brightening) > kSwitched ? 0 : since_jump_ + 1;
  const bool relit = latest_.seen->relighting > kRelit || latest_.seen->uneven > kUneven;
  since_relit_ = relit ? 0 : since_relit_ + 1;
  since_relit_most_ = latest_.seen->relit_most > kRelitMost ? 0 : since_relit_most_ + 1;
  if (options_.presets > 0 && patrols(region)) return;
  if (hidden()) {
    missed_s_ += pace_.interval();
  } else if (missed_s_ > 0) {
    follow_missed();
  }
  if (doubtful) {
    follow();
  } else {
    check_move(region);
    update_events();
    adapt(region);
  }
}

const Guard::Moment& Guard::since(std::int64_t judged_frames) const {
  const auto count = static_cast<std::int64_t>(moments_.size());
  return moments_[static_cast<std::size_t>(std::clamp<std::int64_t>(count - judged_frames, 0, count - 1))];
}

void Guard::begin(EventKind kind, std::int64_t frame, double seconds) {
  Event event;
  event.id = ++ids_;
  event.kind = kind;
  event.source = options_.source;
  event.start_frame = frame;
  event.start_s = seconds;
  const Finding& finding = latest_.findings[static_cast<std::size_t>(kind)];
  event.confidence = kind == EventKind::offline ? 1.0 : confidence(finding.strength);
  event.shift_px = finding.shift_px;
  event.shift_x = finding.shift_x;
  event.shift_y = finding.shift_y;
  if (latest_.seen) event.detail = describe(kind, *latest_.seen, finding);
  open_.push_back(event);
  latest_.events.emplace_back(EventPhase::start, event);
}

void Guard::finish(EventKind kind, std::int64_t frame, double seconds) {
  const auto found = std::ranges::find(open_, kind, &Event::kind);
  if (found == open_.end()) return;
  found->end_frame = frame;
  found->end_s = seconds;
  latest_.events.emplace_back(EventPhase::end, *found);
  open_.erase(found);
}

void Guard::update_events() {
  for (int i = 0; i < kEventKinds; ++i) {
    const auto kind = static_cast<EventKind>(i);
    if (kind == EventKind::offline) continue;
    const Finding& finding = latest_.findings[static_cast<std::size_t>(i)];
    Hysteresis& condition = conditions_[static_cast<std::size_t>(i)];
    const double limit = condition.active() ? kRelease : 1;
    // A replay says nothing about the camera.
    bool told = kind == EventKind::frozen || !judge_->replayed() || condition.active();
    if (kind == EventKind::defocused && !condition.active()) told = told && !other_light(finding.strength);
    if (kind == EventKind::covered && !condition.active())
      told = told && !lit_cover(finding.strength) && !net_cover(finding.strength);
    const Hysteresis::Change change = condition.update(judged_, told && finding.strength > limit);
    if (change == Hysteresis::Change::begins) {
      // Some conditions have to last before they are an event, and began earlier. Lasting glare, for example,
      // was white before.
      std::int64_t lasts = judged_ + 1 - condition.start();
      if (kind == EventKind::frozen) lasts = judge_->still_frames();
      if (kind == EventKind::flicker) lasts = judge_->flickering_frames();
      if (kind == EventKind::blinded) lasts = std::max<std::int64_t>(lasts, judge_->white_frames());
      if (kind == EventKind::covered) lasts = std::max<std::int64_t>(lasts, judge_->covering_frames());
      if (kind == EventKind::moved || kind == EventKind::covered)
        lasts = std::max<std::int64_t>(lasts, away_);
      begin(kind, since(lasts).frame, since(lasts).seconds);
    }
    if (change == Hysteresis::Change::ends) {
      std::int64_t over = judged_ + 1 - condition.end();
      if (kind == EventKind::frozen) over = judge_->still_frames();
      if (kind == EventKind::flicker) over = std::max(over, judge_->steady_frames());
      finish(kind, since(over).frame, since(over).seconds);
    }
    if (!condition.active()) continue;
    const auto open = std::ranges::find(open_, kind, &Event::kind);
    if (open == open_.end()) continue;
    const double sure = confidence(finding.strength);
    open->confidence = std::max(open->confidence, sure);
    // A scene that sways after a move has not moved further.
    const bool settles = moments_.back().seconds - open->start_s < options_.thresholds.settling_s;
    if (std::isfinite(finding.shift_px) && finding.strength > 1 &&
        (settles || !(finding.shift_px < kFurther * open->shift_px))) {
      open->shift_px = finding.shift_px;
      open->shift_x = finding.shift_x;
      open->shift_y = finding.shift_y;
    }
  }
}

bool Guard::other_light(double strength) {
  if (strength <= kRelease) {
    switched_ = std::max(0, switched_ - kForgetSwitched);
    return false;
  }
  if (switched_ == 0 && since_jump_ > frames(kFocusing_s) && since_relit_ > frames(kAtOnce_s)) return false;
  ++switched_;
  return true;
}

bool Guard::lit_cover(double strength) {
  if (strength <= kRelease) {
    lit_ = std::max(0, lit_ - kForgetSwitched);
    uncovered_ = true;
    return false;
  }
  const LandmarkReport& landmarks = latest_.seen->landmarks;
  const bool starts = std::exchange(uncovered_, false) && since_relit_most_ <= frames(kAtOnce_s);
  if ((lit_ == 0 && !starts) || !landmarks.located || landmarks.lost > kMostly) return false;
  ++lit_;
  return true;
}

bool Guard::net_cover(double strength) {
  if (strength <= kRelease) {
    netted_ = std::max(0, netted_ - kForgetSwitched);
    return false;
  }
  if (!judge_->net(*latest_.seen)) return false;
  ++netted_;
  return true;
}

const GuardFrame& Guard::restart(double seconds) {
  latest_ = {};
  for (int i = 0; i < kEventKinds; ++i) {
    const auto kind = static_cast<EventKind>(i);
    if (kind == EventKind::offline) continue;  // ends with the next frame
    if (conditions_[static_cast<std::size_t>(i)].stop(judged_) == Hysteresis::Change::ends)
      finish(kind, frames_, seconds);
  }
  shape_.reset();
  learning_.reset();
  observer_.reset();
  judge_.reset();
  check_.reset();
  replay_.reset();
  presets_.clear();
  away_ = resting_ = switched_ = lit_ = netted_ = 0;
  full_ = 255;
  quiet_ = unchecked_ = denied_ = 0;
  missed_s_ = 0;
  return latest_;
}

const GuardFrame& Guard::offline(double silent_since, const std::string& why) {
  latest_ = {};
  Hysteresis& condition = conditions_[static_cast<std::size_t>(EventKind::offline)];
  if (condition.active()) return latest_;
  condition.update(judged_, true);
  begin(EventKind::offline, frames_, silent_since);
  open_.back().detail = latest_.events.back().second.detail = why;
  return latest_;
}

}  // namespace sfft::video
