// SPDX-License-Identifier: Apache-2.0
// New pictures that come regularly, several frames apart, give the rate.
#include "video/guard/padding.hpp"

#include <algorithm>
#include <cstdint>

#include "kernels/base/math/quantiles.hpp"

namespace sfft::video {

namespace {

/// A picture is new if it changes at least this share of what new pictures usually change. Pictures that x264
/// encoded six times each changed by up to a 40th. What is usual decays by kChangeDecay per frame, and grows
/// at most by kChangeGrowth: something that comes before the camera changes a thousand times as much.
constexpr double kNewShare = 1.0 / 8;
constexpr double kChangeDecay = 0.98;
constexpr double kChangeGrowth = 2;
/// Of the latest intervals between new pictures, kRegularIntervals must be within a factor kIntervalFactor of
/// their median: a key frame may come between them.
constexpr std::ptrdiff_t kRegularIntervals = 6;
constexpr double kIntervalFactor = 1.4;
/// Max. seconds per picture. Key frames of a still scene may come as regularly, but less often. Of drawn
/// scenes at 2 pictures per second, no more are right with this rule.
constexpr double kMaxInterval_s = 0.35;

}  // namespace

double Padding::change_to(const SparsePicture& pixels) {
  std::array<double, kTiles> changes{};
  for (std::size_t t = 0; t < kTiles; ++t) {
    std::int64_t squares = 0;
    for (std::size_t i = t * kPixelsPerTile; i < (t + 1) * kPixelsPerTile; ++i) {
      const std::int64_t change = static_cast<std::int64_t>(pixels[i]) - before_[i];
      squares += change * change;
    }
    changes[t] = static_cast<double>(squares);
  }
  before_ = pixels;
  return detail::median_in_place(changes);
}

void Padding::note_new(double seconds) {
  const std::size_t place = known_++ % kKept;
  frames_[place] = since_new_;
  seconds_[place] = seconds - new_s_;
  new_s_ = seconds;
  every_ = 1;
  if (known_ < kKept) return;
  auto sorted_seconds = seconds_;
  if (detail::median_in_place(sorted_seconds) > kMaxInterval_s) return;
  auto sorted = frames_;
  const int usual = detail::median_in_place(sorted);
  const auto regular = std::ranges::count_if(
      frames_, [usual](int one) { return one < kIntervalFactor * usual && kIntervalFactor * one > usual; });
  if (regular >= kRegularIntervals) every_ = usual;
}

bool Padding::due(const SparsePicture& pixels, double seconds) {
  const double change = change_to(pixels);
  ++since_new_;
  ++since_due_;
  if (first_) {  // there was no frame before
    first_ = false;
    new_s_ = seconds;
    since_new_ = since_due_ = 0;
    return true;
  }
  usual_ = usual_ > 0 ? std::max(kChangeDecay * usual_, std::min(change, kChangeGrowth * usual_)) : change;
  if (change > kNewShare * usual_) {
    note_new(seconds);
    since_new_ = since_due_ = 0;
  } else if (every_ == 1 || since_due_ > every_) {
    since_due_ = 0;
  }
  return since_due_ == 0;
}

}  // namespace sfft::video
