// SPDX-License-Identifier: Apache-2.0
// The largest jump gives the pattern. All pictures are then held against it: how much of it does each show,
// and what is left?
#include "video/triage/switched_light.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::video {

namespace {

constexpr float kLeastJump = 1;       ///< grey levels, root mean square
constexpr float kLeftAtMost = 0.05F;  ///< share of the pattern's energy, in the mean over the period
constexpr float kLeftAtOnce = 0.3F;   ///< the same in any picture
/// How much of the pattern shows may range over this much of what the jump takes: what drifts ranges further.
constexpr float kRange = 1.6F;

}  // namespace

float SwitchedLight::distance(std::size_t a, std::size_t b, const PointSquare& square) const {
  float sum = 0;
  for (int y = square.top; y < square.top + square.down; ++y) {
    const auto line = static_cast<std::size_t>(y * width_ + square.left);
    for (std::size_t i = line; i < line + static_cast<std::size_t>(square.across); ++i) {
      const float off = moments_[b].picture[i] - moments_[a].picture[i];
      sum += off * off;
    }
  }
  return sum;
}

void SwitchedLight::copy(std::size_t moment, const PointSquare& square, std::vector<float>& to) const {
  to.clear();
  for (int y = square.top; y < square.top + square.down; ++y) {
    const auto from = moments_[moment].picture.begin() + y * width_ + square.left;
    to.insert(to.end(), from, from + square.across);
  }
}

/// How much of the pattern a picture shows, and the energy that this leaves. White points hide how bright
/// they would be: they have no say, and may be less bright than the others make expect.
SwitchedLight::Fit SwitchedLight::fit(std::span<const float> shown, std::span<const float> pattern,
                                      float noise) const {
  float along = 0;
  float energy = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (shown[i] >= white_) continue;
    along += (shown[i] - before_[i]) * pattern[i];
    energy += pattern[i] * pattern[i];
  }
  if (!(energy > 0)) return {0, 0};
  const float share = along / energy;
  float left = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const float off = shown[i] - before_[i] - share * pattern[i];
    if (off > 0 || shown[i] < white_) left += off * off;
  }
  return {share, std::max(0.0F, left - noise * static_cast<float>(pattern.size()))};
}

bool SwitchedLight::find(const PointSquare& square, float noise, std::vector<float>& pattern) {
  const auto step = static_cast<std::size_t>(step_);
  if (moments_.size() < 2 * step + 2) return false;
  std::size_t jump = 0;
  float most = 0;
  for (std::size_t n = 0; n + step < moments_.size(); ++n) {
    const float change = distance(n, n + step, square);
    if (change <= most) continue;
    most = change;
    jump = n;
  }
  const auto points = static_cast<float>(square.across * square.down);
  if (most < kLeastJump * kLeastJump * points) return false;
  for (std::size_t n = jump + 1; n <= jump + step; ++n)
    if (moments_[n].gap) return false;
  copy(jump, square, before_);
  copy(jump + step, square, pattern);
  float energy = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    pattern[i] -= before_[i];
    energy += pattern[i] * pattern[i];
  }
  float left_in_all = 0;
  float lowest = 0;
  float highest = 1;
  for (std::size_t n = 0; n < moments_.size(); ++n) {
    copy(n, square, shown_);
    const auto [share, left] = fit(shown_, pattern, noise);
    lowest = std::min(lowest, share);
    highest = std::max(highest, share);
    if (left > kLeftAtOnce * energy) return false;
    left_in_all += left;
  }
  return highest - lowest <= kRange &&
         left_in_all <= kLeftAtMost * energy * static_cast<float>(moments_.size());
}

}  // namespace sfft::video
