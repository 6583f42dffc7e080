// SPDX-License-Identifier: Apache-2.0
// The largest jump gives the pattern. All pictures are then held against it: how much of it does each show,
// and what is left?
#include "video/triage/switched_light.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace sfft::video {

namespace {

constexpr float kLeastJump = 1;       ///< grey levels, root mean square
constexpr float kLeftAtMost = 0.05F;  ///< share of the pattern's energy, in the mean over the period
constexpr float kLeftAtOnce = 0.3F;   ///< the same in any picture
/// How much of the pattern shows may range over this much of what the jump takes: what drifts ranges further.
constexpr float kRange = 1.6F;

/// Sums have four parts, for a single one waits for itself. Squares are filled up with zeros.
using Four = float __attribute__((vector_size(16)));
constexpr std::size_t kParts = 4;

Four four(std::span<const float> values, std::size_t at) {
  Four some;
  std::memcpy(&some, values.data() + at, sizeof some);
  return some;
}

float total(Four sum) {
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

float distance(std::span<const float> a, std::span<const float> b) {
  Four sum{};
  for (std::size_t i = 0; i < a.size(); i += kParts) {
    const Four off = four(b, i) - four(a, i);
    sum += off * off;
  }
  return total(sum);
}

}  // namespace

/// All pictures of the square, one after the other.
void SwitchedLight::cut_out(const PointSquare& square) {
  const auto points = static_cast<std::size_t>(square.across * square.down);
  padded_ = (points + kParts - 1) / kParts * kParts;
  shown_.assign(padded_ * moments_.size(), 0);
  auto to = shown_.begin();
  for (const Moment& moment : moments_) {
    auto row = to;
    for (int y = square.top; y < square.top + square.down; ++y)
      row = std::copy_n(moment.picture.begin() + y * width_ + square.left, square.across, row);
    to += static_cast<std::ptrdiff_t>(padded_);
  }
}

std::span<const float> SwitchedLight::shown(std::size_t moment) const {
  return std::span(shown_).subspan(moment * padded_, padded_);
}

/// How much of the pattern a picture shows, and the energy that this leaves. White points hide how bright
/// they would be: they have no say, and may be less bright than the others make expect.
SwitchedLight::Fit SwitchedLight::fit(std::span<const float> shown, std::span<const float> before,
                                      std::span<const float> pattern) const {
  const Four white = {white_, white_, white_, white_};
  const Four one = {1, 1, 1, 1};
  Four along{};
  Four energy{};
  Four left{};
  Four dark{};
  for (std::size_t i = 0; i < pattern.size(); i += kParts) {
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

bool SwitchedLight::find(const PointSquare& square, float noise, std::vector<float>& pattern) {
  const auto step = static_cast<std::size_t>(step_);
  if (moments_.size() < 2 * step + 2) return false;
  cut_out(square);
  std::size_t jump = 0;
  float energy = 0;
  for (std::size_t n = 0; n + step < moments_.size(); ++n) {
    const float change = distance(shown(n), shown(n + step));
    if (change <= energy) continue;
    energy = change;
    jump = n;
  }
  const auto points = static_cast<float>(square.across * square.down);
  if (energy < kLeastJump * kLeastJump * points) return false;
  for (std::size_t n = jump + 1; n <= jump + step; ++n)
    if (moments_[n].gap) return false;
  const std::span<const float> before = shown(jump);
  pattern.resize(padded_);
  std::ranges::transform(shown(jump + step), before, pattern.begin(), std::minus<>());
  float left_in_all = 0;
  float lowest = 0;
  float highest = 1;
  for (std::size_t n = 0; n < moments_.size(); ++n) {
    const Fit found = fit(shown(n), before, pattern);
    const float left = std::max(0.0F, found.left - noise * points);
    lowest = std::min(lowest, found.share);
    highest = std::max(highest, found.share);
    if (left > kLeftAtOnce * energy) return false;
    left_in_all += left;
  }
  return highest - lowest <= kRange &&
         left_in_all <= kLeftAtMost * energy * static_cast<float>(moments_.size());
}

}  // namespace sfft::video
