// SPDX-License-Identifier: Apache-2.0
// The largest jump gives the pattern. A multiple of it is then fitted to each picture, and what is left must
// be small.
#include "video/triage/switched_light.hpp"

#include <algorithm>
#include <functional>

#include "video/triage/four.hpp"

namespace sfft::video {

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

}  // namespace sfft::video
