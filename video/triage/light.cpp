// SPDX-License-Identifier: Apache-2.0
// Tukey's weights, whose scale is the median deviation: points that do not follow the others lose their say.
#include "video/triage/light.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace sfft::video {

namespace {

constexpr int kIterations = 5;
constexpr std::size_t kPoints = 700;  ///< about so many take part
/// A scene without contrast cannot tell a gain from an offset: grey levels of contrast that count half.
constexpr double kContrast = 2;
/// Pictures that are correlated less are not of one scene, or most of it is hidden: they tell no light.
constexpr double kAlike = 0.6;
constexpr double kLeastScale = 0.5;  ///< grey levels
constexpr double kClose = 0.03;      ///< grey levels

}  // namespace

Light fit_light(std::span<const float> picture, std::span<const float> reference, const Light& start) {
  const std::size_t step = std::max<std::size_t>(1, picture.size() / kPoints) | 1U;
  std::vector<float> deviations;
  deviations.reserve(picture.size() / step + 1);
  Light light = start;
  double likeness = 1;
  for (int pass = 0; pass < kIterations; ++pass) {
    deviations.clear();
    const auto gain = static_cast<float>(light.gain);
    const auto offset = static_cast<float>(light.offset);
    for (std::size_t i = 0; i < picture.size(); i += step)
      deviations.push_back(std::abs(picture[i] - gain * reference[i] - offset));
    const auto middle = deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() / 2);
    std::ranges::nth_element(deviations, middle);
    const double reach = 4.685 * std::max(kLeastScale, 1.4826 * static_cast<double>(*middle));
    const auto per_reach = static_cast<float>(1 / reach);
    double w = 0;
    double wx = 0;
    double wy = 0;
    double wxx = 0;
    double wxy = 0;
    double wyy = 0;
    for (std::size_t i = 0; i < picture.size(); i += step) {
      const float t = (picture[i] - gain * reference[i] - offset) * per_reach;
      const float left = std::max(0.0F, 1 - t * t);
      const double weight = left * left;
      const double x = reference[i];
      const double y = picture[i];
      w += weight;
      wx += weight * x;
      wy += weight * y;
      wxx += weight * x * x;
      wxy += weight * x * y;
      wyy += weight * y * y;
    }
    if (!(w > 0)) return light;
    const double x = wx / w;
    const double y = wy / w;
    const double variance = std::max(0.0, wxx / w - x * x);
    const double covariance = wxy / w - x * y;
    const double prior = kContrast * kContrast;
    likeness =
        (covariance + prior) / std::sqrt((variance + prior) * (std::max(0.0, wyy / w - y * y) + prior));
    const Light before = light;
    light.gain = std::clamp((covariance + prior) / (variance + prior), 0.05, 20.0);
    light.offset = y - light.gain * x;
    // From one frame to the next little changes: the next frame goes on from here.
    const double moved = (light.gain - before.gain) * x + light.offset - before.offset;
    if (std::abs(moved) < kClose && std::abs(light.gain - before.gain) * std::sqrt(variance) < kClose) break;
  }
  return likeness < kAlike ? Light{} : light;
}

}  // namespace sfft::video
