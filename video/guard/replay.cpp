// SPDX-License-Identifier: Apache-2.0
// A few pixels of each tile stand for a frame. Most lags are ruled out by the first tiles.
#include "video/guard/replay.hpp"

#include <algorithm>
#include <limits>

#include "video/events/pace.hpp"

namespace sfft::video {

namespace {

/// Seconds between two searches.
constexpr double kSearchEvery_s = 0.1;
/// Share of the usual noise below which a tile is a copy, and variance that can be missed.
constexpr double kCopy = 0.25;
constexpr double kNoise = 0.05;
/// Tiles that have to have noise, and the share of them that have to be copies: others may show a clock.
constexpr std::size_t kNoisy = kTiles / 2;
constexpr double kMost = 0.75;
/// Frames that have to return, and whose mean noise is learned; factor per frame by which that is forgotten.
constexpr int kLeastRun = 8;
constexpr std::int64_t kLearned = 32;
constexpr double kShare = 1.0 / 16;
constexpr double kForget = 1.0005;
/// Lags among which the least difference is noise: lamps flicker with periods of up to so many frames.
constexpr std::int64_t kFlicker = 6;
/// Frames in a row that may be spoilt, as key frames are.
constexpr std::int64_t kSpoilt = 2;

}  // namespace

void Replay::read(const SignalView& frame) {
  const auto most = static_cast<std::size_t>(kMostFrames + 1);
  if (kept_.size() < most) kept_.emplace_back();
  Levels& levels = kept_[static_cast<std::size_t>(frames_) % most];
  std::array<std::size_t, kTiles> filled{};
  const auto look = [&](const auto* pixels) {
    each_run(frame.shape()[0], frame.shape()[1],
             [&](std::size_t tile, std::int64_t row, std::int64_t left, std::int64_t length) {
               for (std::size_t i = 0; i < kPerRun && filled[tile] < kPerTile && length > 0; ++i) {
                 const std::int64_t column =
                     left + (2 * static_cast<std::int64_t>(i) + 1) * length / (2 * static_cast<int>(kPerRun));
                 levels[tile * kPerTile + filled[tile]++] =
                     static_cast<std::uint16_t>(pixels[row * frame.stride(0) + column]);
               }
             });
  };
  if (frame.type() == ElementType::u16) {
    look(static_cast<const std::uint16_t*>(frame.data()));
  } else {
    look(static_cast<const std::uint8_t*>(frame.data()));
  }
  ++frames_;
}

const Replay::Levels& Replay::before(std::int64_t lag) const noexcept {
  return kept_[static_cast<std::size_t>((frames_ - 1 - lag) % (kMostFrames + 1))];
}

Replay::Difference Replay::difference(std::size_t tile, std::int64_t lag) const noexcept {
  const std::uint16_t* const now = before(0).data() + tile * kPerTile;
  const std::uint16_t* const then = before(lag).data() + tile * kPerTile;
  std::int64_t sum = 0;
  std::int64_t squares = 0;
  for (std::size_t i = 0; i < kPerTile; ++i) {
    const std::int64_t change = static_cast<std::int64_t>(now[i]) - then[i];
    sum += change;
    squares += change * change;
  }
  constexpr double kCount = kPerTile;
  const double mean = static_cast<double>(sum) / kCount;
  return {std::max(0.0, static_cast<double>(squares) / kCount - mean * mean) / (unit_ * unit_), squares == 0};
}

bool Replay::returns(std::int64_t lag) const noexcept {
  if (noisy_ < kNoisy) {
    for (std::size_t t = 0; t < kTiles; ++t) {
      if (!difference(t, lag).equal) return false;
    }
    return true;
  }
  auto left = static_cast<int>((1 - kMost) * static_cast<double>(noisy_));
  for (std::size_t t = 0; t < kTiles; ++t) {
    if (usual_[t] > kNoise && difference(t, lag).variance > kCopy * usual_[t] && --left < 0) return false;
  }
  return true;
}

void Replay::learn_noise() noexcept {
  for (std::size_t t = 0; t < kTiles; ++t) {
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t lag = 1; lag <= std::min(kFlicker, frames_ - 1); ++lag)
      least = std::min(least, difference(t, lag).variance);
    mean_[t] += std::max(kShare, 1.0 / static_cast<double>(learned_ + 1)) * (least - mean_[t]);
    usual_[t] = learned_ < kLearned ? mean_[t] : std::min(kForget * usual_[t], mean_[t]);
  }
  ++learned_;
  noisy_ = learned_ < kLearned ? 0 : static_cast<std::size_t>(std::ranges::count_if(usual_, [](double usual) {
    return usual > kNoise;
  }));
}

std::int64_t Replay::search() const noexcept {
  const std::int64_t most = std::min(longest_, frames_ - 1);
  for (std::int64_t lag = 2; lag <= most; ++lag) {
    if (returns(lag)) return lag;
  }
  return 0;
}

void Replay::add(const SignalView& frame, double interval_s, double least_s, bool hold) {
  read(frame);
  longest_ = std::min<std::int64_t>(kMostFrames, frames_in(kLongest_s, interval_s));
  if (frames_ < 2) return;
  std::size_t changed = 0;
  for (std::size_t t = 0; t < kTiles; ++t) changed += difference(t, 1).equal ? 0 : 1;
  if (changed >= kNoisy) latest_change_ = frames_;
  if (lag_ > 0) {
    const bool again = lag_ < frames_ && returns(lag_);
    misses_ = again ? 0 : misses_ + 1;
    run_ += again ? 1 : 0;
    if (misses_ > kSpoilt) lag_ = run_ = 0;
  }
  if (lag_ == 0) {
    strength_ = 0;
    // A picture that stands still returns after any lag.
    const std::int64_t every = frames_in(kSearchEvery_s, interval_s);
    if (frames_ % every == 0 && !returns(1)) lag_ = search();
    if (lag_ > 0) {
      run_ = 1;
      misses_ = 0;
    }
  }
  if (lag_ == 0) {
    if (!hold) learn_noise();
    return;
  }
  // Without noise the whole period has to return, and something has to happen in it.
  const std::int64_t least = frames_in(least_s, interval_s, kLeastRun);
  const std::int64_t needed = noisy_ >= kNoisy ? least : std::max(least, lag_);
  const bool changes = frames_ - latest_change_ <= lag_;
  strength_ = changes ? static_cast<double>(run_) / static_cast<double>(needed) : 0;
}

}  // namespace sfft::video
