// SPDX-License-Identifier: Apache-2.0
// A few pixels of each tile represent a frame. Most lags are ruled out by the first tiles.
#include "video/guard/replay.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "video/events/pace.hpp"

namespace sfft::video {

namespace {

/// Seconds between two searches.
constexpr double kSearchEvery_s = 0.1;
/// A tile is a copy if its variance is at most this share of the usual noise; variance above which noise can
/// be missed.
constexpr double kCopy = 0.25;
constexpr double kNoise = 0.05;
/// Number of tiles that have to have noise, and the share of them that have to be copies: others may show a
/// clock.
constexpr std::size_t kNoisy = kTiles / 2;
constexpr double kMax = 0.75;
/// Minimum number of frames that have to return. Noise is a running mean with weight kShare; its minimum
/// counts after kFirst frames, is trusted after kLearned, and grows by kForget per frame.
constexpr int kMinRun = 8;
constexpr std::int64_t kFirst = 8, kLearned = 32;
constexpr double kShare = 1.0 / 16;
constexpr double kForget = 1.0005;
/// Noise is the minimum difference over lags up to this: lamps flicker with periods of up to this number of
/// frames.
constexpr std::int64_t kFlicker = 6;
/// Number of successive frames that have to be copies for a period to be found.
constexpr std::int64_t kAgree = 3;
/// Variance of the change in a tile above which something moves there; number of still tiles that may
/// nevertheless differ.
constexpr double kMotion = 6;
constexpr int kOthers = 2;
/// Minima for motion that returns: tiles that move when a search begins, tiles in which motion was seen,
/// share of the frames with motion, seconds for which it has to return, and period in seconds.
constexpr int kMovingNow = 1;
constexpr std::size_t kMovingTiles = 3;
constexpr double kMovingShare = 0.3;
constexpr double kMotion_s = 1.5;
constexpr double kMinPeriod_s = 3;
/// What sways comes by the same places all the time: if more than the share kOften of the frames with motion
/// were also seen at other times, more than kApart_s from now and from the time that returns, that is no
/// replay.
constexpr double kOften = 0.5;
constexpr double kApart_s = 0.3;
/// Minimum share of the frames that do not repeat the previous one: without noise, every lag would match.
constexpr double kChangingShare = 0.5;
/// Successive frames that may fail to match, as key frames do.
constexpr std::int64_t kMaxMisses = 2;
/// Longest period that is found, in seconds; seconds before it that are kept, too; numbers of frames that are
/// kept at least, and at most.
constexpr double kLongest_s = 20;
constexpr double kBefore_s = 4;
constexpr std::size_t kMinFrames = 16, kMaxFrames = 4000;

}  // namespace

void Replay::keep(const SparsePicture& pixels, double seconds) {
  kept_.push_back({pixels, seconds});
  ++taken_;
  const auto old = [&] { return seconds - kept_.front().seconds > kLongest_s + kBefore_s; };
  while (kept_.size() > kMaxFrames || (kept_.size() > kMinFrames && old())) kept_.pop_front();
  const std::int64_t first = taken_ - std::ssize(kept_);
  while (!judged_.empty() && judged_.front() < first) judged_.pop_front();
}

std::int64_t Replay::since(std::int64_t ago) const noexcept {
  return taken_ - 1 - judged_[judged_.size() - 1 - static_cast<std::size_t>(ago)];
}

Replay::Difference Replay::difference(std::size_t tile, std::int64_t now, std::int64_t then) const noexcept {
  const auto pixels = [&](std::int64_t ago) {
    return kept_[kept_.size() - 1 - static_cast<std::size_t>(ago)].pixels.data() + tile * kPixelsPerTile;
  };
  const std::uint16_t* const a = pixels(now);
  const std::uint16_t* const b = pixels(then);
  std::int64_t sum = 0;
  std::int64_t squares = 0;
  for (std::size_t i = 0; i < kPixelsPerTile; ++i) {
    const std::int64_t change = static_cast<std::int64_t>(a[i]) - b[i];
    sum += change;
    squares += change * change;
  }
  constexpr double kCount = kPixelsPerTile;
  const double mean = static_cast<double>(sum) / kCount;
  return {std::max(0.0, static_cast<double>(squares) / kCount - mean * mean) / (unit_ * unit_), squares == 0};
}

bool Replay::reaches(std::int64_t lag, std::int64_t ago) const noexcept {
  return ago + 1 < std::ssize(judged_) && since(ago + 1) + lag < std::ssize(kept_);
}

bool Replay::returns(std::int64_t lag, std::int64_t ago) const noexcept {
  const std::int64_t now = since(ago);
  if (noisy_ < kNoisy) {
    for (std::size_t t = 0; t < kTiles; ++t) {
      if (!difference(t, now, now + lag).equal) return false;
    }
    return true;
  }
  auto left = static_cast<int>((1 - kMax) * static_cast<double>(noisy_));
  for (std::size_t t = 0; t < kTiles; ++t) {
    if (usual_[t] > kNoise && difference(t, now, now + lag).variance > kCopy * usual_[t] && --left < 0)
      return false;
  }
  return true;
}

void Replay::learn_noise() noexcept {
  for (std::size_t t = 0; t < kTiles; ++t) {
    double min = std::numeric_limits<double>::infinity();
    for (std::int64_t ago = 1; ago <= std::min(kFlicker, std::ssize(judged_) - 1); ++ago)
      min = std::min(min, difference(t, 0, since(ago)).variance);
    mean_[t] += std::max(kShare, 1.0 / static_cast<double>(learned_ + 1)) * (min - mean_[t]);
    // Objects that pass by meanwhile are not noise.
    usual_[t] = learned_ < kFirst ? mean_[t] : std::min(kForget * usual_[t], mean_[t]);
  }
  ++learned_;
  noisy_ = learned_ < kLearned ? 0 : static_cast<std::size_t>(std::ranges::count_if(usual_, [](double usual) {
    return usual > kNoise;
  }));
}

bool Replay::motion_returns(std::int64_t lag, std::int64_t ago) const noexcept {
  int others = 0;
  const std::int64_t now = since(ago);
  const std::int64_t before = since(ago + 1);
  for (std::size_t t = 0; t < kTiles; ++t) {
    // What moved then has to move now as well.
    const double motion =
        std::max(difference(t, now, before).variance, difference(t, now + lag, before + lag).variance);
    const double other = difference(t, now, now + lag).variance;
    if (motion > kMotion) {
      if (other > kCopy * motion) return false;
    } else if (other > kMotion) {
      ++others;
    }
  }
  return others <= kOthers;
}

bool Replay::copy(std::int64_t lag, std::int64_t ago) const noexcept {
  return by_motion_ ? motion_returns(lag, ago) : returns(lag, ago);
}

/// Several frames have to agree; otherwise a picture that is shown for long would seem to return too soon.
std::int64_t Replay::search() const noexcept {
  // Frames that follow each other faster than judged ones may be alike.
  std::int64_t min = 2;
  for (std::int64_t ago = 0; ago < kAgree; ++ago) min = std::max(min, since(ago + 1) - since(ago) + 1);
  const double now = kept_.back().seconds;
  for (std::int64_t lag = min; reaches(lag, kAgree - 1); ++lag) {
    if (now - kept_[kept_.size() - 1 - static_cast<std::size_t>(lag)].seconds > kLongest_s) break;
    bool all = true;
    for (std::int64_t ago = 0; all && ago < kAgree; ++ago) all = copy(lag, ago);
    if (all) return lag;
  }
  return 0;
}

void Replay::note_motion(std::int64_t apart) noexcept {
  bool any = false;
  for (std::size_t t = 0; t < kTiles; ++t) {
    if (!(difference(t, 0, since(1)).variance > kMotion)) continue;
    moved_[t] = any = true;
  }
  if (!any) return;
  ++moving_frames_;
  const std::int64_t max = std::min(period_ - apart, std::ssize(judged_) - 1);
  for (std::int64_t ago = apart; ago <= max && reaches(since(ago), 0); ++ago) {
    if (!motion_returns(since(ago), 0)) continue;
    ++often_;
    break;
  }
}

void Replay::add(const SparsePicture& pixels, double seconds, double interval_s, double min_s, bool hold) {
  judged_.push_back(taken_);
  keep(pixels, seconds);
  ++frames_;
  if (std::ssize(judged_) < 2 + kAgree) {  // the first ones, or the first after a gap
    lag_ = period_ = run_ = 0;
    period_s_ = strength_ = 0;
    return;
  }
  std::size_t changed = 0;
  int moving = 0;
  for (std::size_t t = 0; t < kTiles; ++t) {
    const Difference difference = this->difference(t, 0, since(1));
    changed += difference.equal ? 0 : 1;
    moving += difference.variance > kMotion ? 1 : 0;
  }
  if (changed >= kNoisy) latest_change_ = frames_;
  if (lag_ > 0) {
    const bool again = reaches(lag_, 0) && copy(lag_, 0);
    misses_ = again ? 0 : misses_ + 1;
    run_ += again ? 1 : 0;
    changing_frames_ += again && !returns(since(1)) ? 1 : 0;
    if (misses_ > kMaxMisses) lag_ = period_ = run_ = 0;
  }
  if (lag_ == 0) {
    strength_ = 0;
    find_period(interval_s, moving);
  }
  if (lag_ == 0) {
    period_s_ = 0;
    if (!hold) learn_noise();
    return;
  }
  if (by_motion_) note_motion(frames_in(kApart_s, interval_s));
  // Without noise the whole period has to return, and something has to happen in it.
  const std::int64_t min = frames_in(min_s, interval_s, kMinRun);
  const std::int64_t needed = by_motion_ ? std::max(min, std::int64_t{frames_in(kMotion_s, interval_s)})
                              : noisy_ >= kNoisy ? min
                                                 : std::max(min, period_);
  const bool tells =
      by_motion_ ? moved_.count() >= kMovingTiles &&
                       static_cast<double>(moving_frames_) > kMovingShare * static_cast<double>(run_) &&
                       static_cast<double>(often_) <= kOften * static_cast<double>(moving_frames_)
      : noisy_ >= kNoisy ? static_cast<double>(changing_frames_) > kChangingShare * static_cast<double>(run_)
                         : frames_ - latest_change_ <= period_;
  // Once recognised, a replay continues while pictures return.
  if (tells || strength_ > 1) strength_ = static_cast<double>(run_) / static_cast<double>(needed);
}

void Replay::find_period(double interval_s, int moving) noexcept {
  by_motion_ = false;
  // A picture that stands still returns after any lag.
  const std::int64_t every = frames_in(kSearchEvery_s, interval_s);
  if (frames_ % every != 0 || returns(since(1))) return;
  lag_ = search();
  if (lag_ == 0 && moving >= kMovingNow) {
    by_motion_ = true;
    lag_ = search();
  }
  if (lag_ == 0) return;
  period_s_ = kept_.back().seconds - kept_[kept_.size() - 1 - static_cast<std::size_t>(lag_)].seconds;
  period_ = frames_in(period_s_, interval_s);
  // Swinging objects return after a short time by themselves.
  if (by_motion_ && period_ < frames_in(kMinPeriod_s, interval_s)) {
    lag_ = period_ = 0;
    return;
  }
  run_ = kAgree;
  // The replay may have begun before the search. Motion alone cannot tell, because a still picture always
  // matches.
  while (!by_motion_ && reaches(lag_, run_) && copy(lag_, run_)) ++run_;
  misses_ = 0;
  moving_frames_ = often_ = 0;
  changing_frames_ = run_;
  moved_.reset();
}

}  // namespace sfft::video
