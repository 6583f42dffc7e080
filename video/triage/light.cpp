// SPDX-License-Identifier: Apache-2.0
// Uses Tukey's weights, scaled by the median deviation: points that do not follow the others get no weight.
#include "video/triage/light.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "video/triage/four.hpp"

namespace sfft::video {

namespace {

constexpr int kIterations = 5;
constexpr std::size_t kPoints = 700;  ///< points that take part; of large pictures, 2/3 to 2 times as many
/// A scene without contrast cannot tell a gain from an offset, so a prior pulls the gain to 1. At this
/// contrast, in grey levels, data and prior count half each.
constexpr double kContrast = 2;
/// Below this correlation the scenes differ, or most of the scene is hidden: the light is unknown.
constexpr double kAlike = 0.6;
constexpr double kMinScale = 0.5;  ///< grey levels
constexpr double kClose = 0.03;    ///< grey levels

/// The points that take part, less their means, padded to a multiple of four.
class Points {
 public:
  Points(std::span<const float> picture, std::span<const float> reference) {
    const std::size_t step = std::max<std::size_t>(1, picture.size() / kPoints) | 1U;
    count_ = (picture.size() + step - 1) / step;
    padded_ = (count_ + kFour - 1) / kFour * kFour;
    for (std::size_t n = 0, i = 0; n < count_; ++n, i += step) {
      x_[n] = reference[i];
      y_[n] = picture[i];
      mean_x_ += static_cast<double>(x_[n]);
      mean_y_ += static_cast<double>(y_[n]);
    }
    mean_x_ /= static_cast<double>(count_);
    mean_y_ /= static_cast<double>(count_);
    for (std::size_t n = 0; n < count_; ++n) {
      x_[n] -= static_cast<float>(mean_x_);
      y_[n] -= static_cast<float>(mean_y_);
    }
    for (std::size_t n = count_; n < padded_; ++n) {
      x_[n] = 0;
      y_[n] = kFar;
    }
  }

  double mean_x() const noexcept { return mean_x_; }
  double mean_y() const noexcept { return mean_y_; }

  double median_deviation(const Light& light) {
    const auto [gain, offset] = among_these(light);
    for (std::size_t i = 0; i < padded_; i += kFour) {
      const Four off = four(y_, i) - gain * four(x_, i) - offset;
      const Four size = off < 0 ? -off : off;
      std::memcpy(deviations_.data() + i, &size, sizeof size);
    }
    return static_cast<double>(middle());
  }

  struct Sums {
    double w = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  };
  /// Sums with Tukey's weights, which are 0 for deviations of `reach` or more.
  Sums weigh(const Light& light, double reach) const {
    const auto [gain, offset] = among_these(light);
    const auto per_reach = static_cast<float>(1 / reach);
    Four w{}, wx{}, wy{}, wxx{}, wxy{}, wyy{};
    for (std::size_t i = 0; i < padded_; i += kFour) {
      const Four x = four(x_, i);
      const Four y = four(y_, i);
      const Four t = (y - gain * x - offset) * per_reach;
      const Four left = 1 - t * t;
      const Four weight = left > 0 ? left * left : Four{};
      w += weight;
      wx += weight * x;
      wy += weight * y;
      wxx += weight * x * x;
      wxy += weight * x * y;
      wyy += weight * y * y;
    }
    const auto sum = [](Four value) { return static_cast<double>(total(value)); };
    return {sum(w), sum(wx), sum(wy), sum(wxx), sum(wxy), sum(wyy)};
  }

 private:
  static constexpr float kFar = 1e9F;  ///< padding: far enough for weight 0

  struct Line {
    float gain, offset;
  };
  Line among_these(const Light& light) const {
    return {static_cast<float>(light.gain),
            static_cast<float>(light.offset + light.gain * mean_x_ - mean_y_)};
  }

  /// The median deviation. Floats that are not negative sort like their bits, so a histogram of the upper
  /// bits finds the bin that holds the median.
  float middle() {
    constexpr int kShift = 21;
    constexpr std::uint32_t kSize = 0x7FFFFFFF;  // all but the sign
    const auto drawer_of = [](float size) { return (std::bit_cast<std::uint32_t>(size) & kSize) >> kShift; };
    std::array<std::uint32_t, std::size_t{1} << (31 - kShift)> drawers{};
    for (std::size_t n = 0; n < count_; ++n) ++drawers[drawer_of(deviations_[n])];
    std::size_t rank = count_ / 2;
    std::uint32_t drawer = 0;
    while (rank >= drawers[drawer]) rank -= drawers[drawer++];
    std::size_t found = 0;
    for (std::size_t n = 0; n < count_; ++n) {
      within_[found] = deviations_[n];
      found += drawer_of(deviations_[n]) == drawer ? 1 : 0;
    }
    const auto begin = within_.begin();
    const auto at = begin + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(begin, at, begin + static_cast<std::ptrdiff_t>(found));
    return *at;
  }

  using Values = std::array<float, 2 * kPoints + 2 * kFour>;
  std::size_t count_ = 0, padded_ = 0;
  double mean_x_ = 0, mean_y_ = 0;
  Values x_, y_, deviations_, within_;
};

}  // namespace

Light fit_light(std::span<const float> picture, std::span<const float> reference, const Light& start) {
  Points points(picture, reference);
  Light light = start;
  double likeness = 1;
  for (int pass = 0; pass < kIterations; ++pass) {
    const double reach = 4.685 * std::max(kMinScale, 1.4826 * points.median_deviation(light));
    const Points::Sums sums = points.weigh(light, reach);
    if (!(sums.w > 0)) return light;
    const double x = sums.x / sums.w;
    const double y = sums.y / sums.w;
    const double variance = std::max(0.0, sums.xx / sums.w - x * x);
    const double covariance = sums.xy / sums.w - x * y;
    const double prior = kContrast * kContrast;
    likeness = (covariance + prior) /
               std::sqrt((variance + prior) * (std::max(0.0, sums.yy / sums.w - y * y) + prior));
    const Light before = light;
    light.gain = std::clamp((covariance + prior) / (variance + prior), 0.05, 20.0);
    const double level = points.mean_x() + x;
    light.offset = points.mean_y() + y - light.gain * level;
    // Light changes little between frames, and the next frame starts from this result.
    const double moved = (light.gain - before.gain) * level + light.offset - before.offset;
    if (std::abs(moved) < kClose && std::abs(light.gain - before.gain) * std::sqrt(variance) < kClose) break;
  }
  return likeness < kAlike ? Light{} : light;
}

}  // namespace sfft::video
