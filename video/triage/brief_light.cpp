// SPDX-License-Identifier: Apache-2.0
// A search ends as soon as the thing has lasted long enough, so it visits other times before other places.
#include "video/triage/brief_light.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sfft::video {

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
