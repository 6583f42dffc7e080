// SPDX-License-Identifier: Apache-2.0
// Removes even light and a change of contrast from deviations before it compares them, so that the light of
// the moments need not be known.
#include "video/triage/swinging.hpp"

#include <algorithm>
#include <cmath>

#include "video/triage/four.hpp"

namespace sfft::video {

namespace {

constexpr std::size_t kFewestMoments = 10;
constexpr float kOpposite = -0.5F;  ///< max. correlation of opposite deviations
/// Bounds on the size of the opposite, as multiples of the deviation.
constexpr float kSmallest = 0.3F, kLargest = 3;
/// Min. share of the moments that must show it.
constexpr float kShare = 0.04F;
/// Min. share of the energy that light does not explain. With less, an object may fill the square.
constexpr float kMinOfDeviation = 0.5F;
constexpr float kPrior = 1;  ///< grey levels of structure that determine no contrast

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
  scale(structure_, contrast > points * kPrior * kPrior ? 1 / std::sqrt(contrast) : 0);
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

}  // namespace sfft::video
