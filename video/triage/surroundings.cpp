// SPDX-License-Identifier: Apache-2.0
// Squares of all moments are stored one after another. The largest jump gives the pattern of switched light.
// What swings shows the opposite of its deviation. A search for brief things visits other times before other
// places.
#include "video/triage/tile_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "video/triage/light.hpp"

namespace sfft::video {

namespace {

std::size_t padded(const PointSquare& square) {
  return (square.points() + kFour - 1) / kFour * kFour;
}

void copy(std::span<const float> picture, int width, const PointSquare& square, float* to) {
  for (int y = square.top; y < square.top + square.down; ++y)
    to = std::copy_n(picture.begin() + y * width + square.left, square.across, to);
}

}  // namespace

void Moments::cut_out(const PointSquare& square) {
  padded_ = padded(square);
  shown_.assign(padded_ * moments_.size(), 0);
  float* to = shown_.data();
  for (const Moment& moment : moments_) {
    copy(moment.picture, width_, square, to);
    to += padded_;
  }
}

void Moments::cut_out(std::span<const float> picture, const PointSquare& square,
                      std::vector<float>& to) const {
  to.assign(padded(square), 0);
  copy(picture, width_, square, to.data());
}

std::span<const float> Moments::shown(std::size_t moment) const {
  return std::span(shown_).subspan(moment * padded_, padded_);
}

namespace {

constexpr float kMinJump = 1;         ///< grey levels, root mean square
constexpr float kLeftAtMost = 0.05F;  ///< share of the pattern's energy, mean over the moments
constexpr float kLeftAtOnce = 0.3F;   ///< the same at any moment
/// Max. range of the pattern's strength, where the jump is 1. What drifts ranges further.
constexpr float kRange = 1.6F;

float distance(std::span<const float> a, std::span<const float> b) {
  Four sum{};
  for (std::size_t i = 0; i < a.size(); i += kFour) {
    const Four off = four(b, i) - four(a, i);
    sum += off * off;
  }
  return total(sum);
}

}  // namespace

/// Computes how much of the pattern a picture shows, and the energy that remains. The true brightness of
/// white points is unknown: the fit ignores them, and they count only if they are brighter than it predicts.
SwitchedLight::Fit SwitchedLight::fit(std::span<const float> shown, std::span<const float> before,
                                      std::span<const float> pattern) const {
  const Four white = {white_, white_, white_, white_};
  const Four one = {1, 1, 1, 1};
  Four along{};
  Four energy{};
  Four left{};
  Four dark{};
  for (std::size_t i = 0; i < pattern.size(); i += kFour) {
    const Four level = four(shown, i);
    const Four say = level < white ? one : Four{};
    const Four off = level - four(before, i);
    const Four light = say * four(pattern, i);
    along += light * off;
    energy += light * light;
    left += say * off * off;
    dark += say;
  }
  if (!(total(energy) > 0)) return {0, 0};
  const float share = total(along) / total(energy);
  float left_over = std::max(0.0F, total(left) - share * total(along));
  if (total(dark) < static_cast<float>(pattern.size())) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const float off = shown[i] - before[i] - share * pattern[i];
      if (off > 0 && shown[i] >= white_) left_over += off * off;
    }
  }
  return {share, left_over};
}

bool SwitchedLight::find(const Moments& moments, const PointSquare& square, float noise,
                         std::vector<float>& pattern) const {
  const auto step = static_cast<std::size_t>(step_);
  if (moments.size() < 2 * step + 2) return false;
  std::size_t jump = 0;
  float energy = 0;
  for (std::size_t n = 0; n + step < moments.size(); ++n) {
    const float change = distance(moments.shown(n), moments.shown(n + step));
    if (change <= energy) continue;
    energy = change;
    jump = n;
  }
  const auto points = static_cast<float>(square.points());
  if (energy < kMinJump * kMinJump * points) return false;
  for (std::size_t n = jump + 1; n <= jump + step; ++n)
    if (moments.gap(n)) return false;
  const std::span<const float> before = moments.shown(jump);
  pattern.resize(before.size());
  std::ranges::transform(moments.shown(jump + step), before, pattern.begin(), std::minus<>());
  float left_in_all = 0;
  float lowest = 0;
  float highest = 1;
  for (std::size_t n = 0; n < moments.size(); ++n) {
    const Fit found = fit(moments.shown(n), before, pattern);
    const float left = std::max(0.0F, found.left - noise * points);
    lowest = std::min(lowest, found.share);
    highest = std::max(highest, found.share);
    if (left > kLeftAtOnce * energy) return false;
    left_in_all += left;
  }
  return highest - lowest <= kRange &&
         left_in_all <= kLeftAtMost * energy * static_cast<float>(moments.size());
}

namespace {

constexpr std::size_t kFewestMoments = 10;
constexpr float kOpposite = -0.5F;  ///< max. correlation of opposite deviations
/// Bounds on the size of the opposite, as multiples of the deviation.
constexpr float kSmallest = 0.3F, kLargest = 3;
/// Min. share of the moments that must show it.
constexpr float kShare = 0.04F;
/// Min. share of the energy that light does not explain. With less, an object may fill the square.
constexpr float kMinOfDeviation = 0.5F;
constexpr float kContrastPrior = 1;  ///< grey levels of structure that determine no contrast

void remove(std::span<const float> direction, std::span<float> from) {
  const float part = product(direction, from);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= part * direction[i];
}

void scale(std::span<float> values, float factor) {
  for (float& value : values) value *= factor;
}

}  // namespace

bool Swinging::find(const Moments& moments, const PointSquare& square, std::span<const float> deviation,
                    std::span<const float> usual) {
  if (moments.size() < kFewestMoments) return false;
  const auto points = static_cast<float>(square.points());
  even_.assign(usual.size(), 0);
  std::fill_n(even_.begin(), square.points(), 1 / std::sqrt(points));
  structure_.assign(usual.begin(), usual.end());
  remove(even_, structure_);
  const float contrast = product(structure_, structure_);
  scale(structure_, contrast > points * kContrastPrior * kContrastPrior ? 1 / std::sqrt(contrast) : 0);
  swing_.assign(deviation.begin(), deviation.end());
  remove(even_, swing_);
  remove(structure_, swing_);
  const float energy = product(swing_, swing_);
  if (energy < kMinOfDeviation * product(deviation, deviation)) return false;

  std::size_t opposite = 0;
  for (std::size_t n = 0; n < moments.size(); ++n) {
    const std::span<const float> shown = moments.shown(n);
    Four all{}, by_light{}, by_contrast{}, along{};
    for (std::size_t i = 0; i < shown.size(); i += kFour) {
      const Four off = four(shown, i) - four(usual, i);
      all += off * off;
      by_light += off * four(even_, i);
      by_contrast += off * four(structure_, i);
      along += off * four(swing_, i);
    }
    const float size = total(along);
    if (size > -kSmallest * energy || size < -kLargest * energy) continue;
    const float left =
        total(all) - total(by_light) * total(by_light) - total(by_contrast) * total(by_contrast);
    if (size <= kOpposite * std::sqrt(std::max(0.0F, left) * energy)) ++opposite;
  }
  return static_cast<float>(opposite) >= kShare * static_cast<float>(moments.size());
}

namespace {

/// Max. seconds that an insect is in front of the lens; seconds for which averages contain what was there.
constexpr double kBrief_s = 0.55;
constexpr double kHeld_s = 0.35;
/// If pictures are farther apart than kApart_s, a thing may be anywhere within reach at kSpeed, in widths of
/// the picture per second.
constexpr double kApart_s = 0.12, kSpeed = 1.5;
/// Min. brightness of a tile that belongs to a thing: relative to the thing's peak, and to the usual spread.
constexpr float kOfPeak = 0.3F, kOfSpread = 2;

/// Mean seconds between pictures that differ: some streams repeat pictures to keep a constant rate.
double seconds_apart(const Moments& around) {
  constexpr std::size_t kStep = 7;     // compares every seventh point
  constexpr float kUnchanged = 0.02F;  // mean difference in grey levels
  int others = 0;
  for (std::size_t m = 1; m < around.size(); ++m) {
    const std::span<const float> before = around.picture(m - 1), now = around.picture(m);
    float sum = 0;
    for (std::size_t i = 0; i < now.size(); i += kStep) sum += std::abs(now[i] - before[i]);
    others += sum > kUnchanged * static_cast<float>(now.size() / kStep);
  }
  return (around.seconds(around.size() - 1) - around.seconds(0)) / std::max(1, others);
}

}  // namespace

BriefLight::BriefLight(int width, int height) : width_(width), height_(height) {}

void BriefLight::begin(const Moments& around, std::size_t now, const Light& light,
                       std::span<const float> recent, std::span<const float> spread) {
  around_ = &around;
  now_ = now;
  gain_ = static_cast<float>(1 / light.gain);
  offset_ = static_cast<float>(-light.offset / light.gain);
  recent_ = recent;
  spread_ = spread;
  first_ = now;
  while (first_ > 0 && around.seconds(now) - around.seconds(first_ - 1) <= kHeld_s) --first_;
  reach_ = -1;
  brightness_.resize(std::max(brightness_.size(), around.size()));
  for (std::vector<float>& one : brightness_) one.clear();
  verdicts_.assign(recent.size(), Verdict::unknown);
  if (visited_.size() < around.size() * recent.size()) visited_.assign(around.size() * recent.size(), 0);
}

const std::vector<float>& BriefLight::brightness(std::size_t moment) {
  std::vector<float>& tiles = brightness_[moment];
  if (!tiles.empty()) return tiles;
  const std::span<const float> picture = around_->picture(moment);
  tiles.assign(recent_.size(), 0);
  columns_.assign(static_cast<std::size_t>(width_), 0);
  for (int y = 1; y + 1 < height_; ++y) {
    for (int x = 0; x < width_; ++x) {
      float sum = 0;
      for (int v = y - 1; v <= y + 1; ++v) {
        const auto i = static_cast<std::size_t>(v * width_ + x);
        sum += picture[i] * gain_ + offset_ - recent_[i];
      }
      columns_[static_cast<std::size_t>(x)] = sum;
    }
    for (int x = 1; x + 1 < width_; ++x) {
      const auto at = static_cast<std::size_t>(x);
      tiles[static_cast<std::size_t>(y * width_ + x)] =
          (columns_[at - 1] + columns_[at] + columns_[at + 1]) / 9;
    }
  }
  return tiles;
}

bool BriefLight::bright(const Place& place, float peak) {
  const auto i = static_cast<std::size_t>(place.y * width_ + place.x);
  return brightness(place.moment)[i] >= std::max(kOfPeak * peak, kOfSpread * spread_[i]);
}

bool BriefLight::gone_at_once(const Place& first, float peak) {
  if (reach_ < 0) {
    const double apart = seconds_apart(*around_);
    reach_ = apart <= kApart_s ? 0 : static_cast<int>(kSpeed * apart * width_);
  }
  ++search_;
  stack_.assign(1, first);
  part_.clear();
  std::size_t earliest = first.moment, latest = first.moment;
  int left = first.x, right = first.x;
  const auto visit = [&](const Place& place) {
    if (place.x < 1 || place.x + 1 >= width_ || place.y < 1 || place.y + 1 >= height_) return;
    std::uint32_t& mark =
        visited_[place.moment * recent_.size() + static_cast<std::size_t>(place.y * width_ + place.x)];
    if (mark == search_ || !bright(place, peak)) return;
    mark = search_;
    stack_.push_back(place);
  };
  while (!stack_.empty()) {
    const Place at = stack_.back();
    stack_.pop_back();
    part_.push_back(at);
    earliest = std::min(earliest, at.moment);
    latest = std::max(latest, at.moment);
    left = std::min(left, at.x);
    right = std::max(right, at.x);
    // It may also have been there before the first picture or after the last one.
    if (earliest == 0 || latest + 1 == around_->size() ||
        around_->seconds(latest) - around_->seconds(earliest) >= kBrief_s)
      return false;
    if (left <= 1 && right + 2 >= width_) return false;  // a vehicle that passes
    for (int v = -1; v <= 1; ++v)
      for (int u = -1; u <= 1; ++u) visit({at.moment, at.x + u, at.y + v});
    for (const std::size_t next : {at.moment - 1, at.moment + 1}) {
      for (int v = -reach_; v <= reach_; ++v)
        for (int u = -reach_; u <= reach_; ++u) visit({next, at.x + u, at.y + v});
    }
  }
  return true;
}

bool BriefLight::find(int x, int y) {
  Verdict& known = verdicts_[static_cast<std::size_t>(y * width_ + x)];
  if (known != Verdict::unknown) return known == Verdict::brief;
  known = Verdict::lasting;
  Place brightest{now_, x, y};
  float peak = 0;
  for (std::size_t m = first_; m <= now_; ++m) {
    for (int v = std::max(1, y - 1); v <= std::min(height_ - 2, y + 1); ++v) {
      for (int u = std::max(1, x - 1); u <= std::min(width_ - 2, x + 1); ++u) {
        const float here = brightness(m)[static_cast<std::size_t>(v * width_ + u)];
        if (here <= peak) continue;
        peak = here;
        brightest = {m, u, v};
      }
    }
  }
  if (!bright(brightest, peak) || !gone_at_once(brightest, peak)) return false;
  // The neighbours of its tiles belong to it.
  for (const Place& at : part_) {
    if (at.moment < first_ || at.moment > now_) continue;
    for (int v = at.y - 1; v <= at.y + 1; ++v)
      for (int u = at.x - 1; u <= at.x + 1; ++u)
        verdicts_[static_cast<std::size_t>(v * width_ + u)] = Verdict::brief;
  }
  known = Verdict::brief;
  return true;
}

}  // namespace sfft::video
