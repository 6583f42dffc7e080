// SPDX-License-Identifier: Apache-2.0
// Uses Tukey's weights, scaled by the median deviation: points that do not follow the others get no weight.
#include "video/triage/light.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace sfft::video {

namespace {

constexpr int kIterations = 5;
constexpr std::size_t kPoints = 700;  ///< points that take part; of large pictures, 2/3 to 2 times as many
/// A scene without contrast cannot tell a gain from an offset, so a prior pulls the gain to 1. At this
/// contrast, in grey levels, data and prior count half each.
constexpr double kContrast = 2;
/// Below this correlation the scenes differ, or most of the scene is hidden: the light is unknown.
constexpr double kAlike = 0.6;
constexpr double kMinLightScale = 0.5;  ///< grey levels
constexpr double kClose = 0.03;         ///< grey levels

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
    const double reach = 4.685 * std::max(kMinLightScale, 1.4826 * points.median_deviation(light));
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

namespace {

constexpr int kReach = 5;              ///< points from the middle of a square to its edges
constexpr float kMinVariance = 1;      ///< variance of structure that determines no contrast
constexpr double kMinContrast = -0.7;  ///< light leaves at least 30 % of the structure's contrast

}  // namespace

LocalLight::LocalLight(int width, int height) : width_(width), height_(height) {
  const auto points = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  level_.resize(points);
  mean_level_.resize(points);
  per_variance_.resize(points);
  values_.resize(points);
  means_.resize(points);
}

/// Computes means over squares, clipped at the borders.
void LocalLight::average(const Picture& of, Picture& means) {
  const auto row = [this, &of](int y) { return of.data() + static_cast<std::ptrdiff_t>(y) * width_; };
  columns_.assign(static_cast<std::size_t>(width_), Four{});
  Four* const columns = columns_.data();
  const auto add_row = [&](int y, float sign) {
    for (int x = 0; x < width_; ++x) columns[x] += sign * row(y)[x];
  };
  for (int y = 0; y < std::min(kReach, height_); ++y) add_row(y, 1);
  for (int y = 0; y < height_; ++y) {
    if (y + kReach < height_) add_row(y + kReach, 1);
    if (y - kReach > 0) add_row(y - kReach - 1, -1);
    const int rows = std::min(y + kReach, height_ - 1) - std::max(y - kReach, 0) + 1;
    Four sum{};
    for (int x = 0; x < std::min(kReach, width_); ++x) sum += columns[x];
    for (int x = 0; x < width_; ++x) {
      if (x + kReach < width_) sum += columns[x + kReach];
      if (x - kReach > 0) sum -= columns[x - kReach - 1];
      const int across = std::min(x + kReach, width_ - 1) - std::max(x - kReach, 0) + 1;
      means[static_cast<std::size_t>(y * width_ + x)] = sum * (1 / static_cast<float>(rows * across));
    }
  }
}

void LocalLight::set_usual(std::span<const float> usual) {
  // Levels are relative to their mean, so that their squares stay small.
  const float middle = std::accumulate(usual.begin(), usual.end(), 0.0F) /
                       static_cast<float>(std::max<std::size_t>(1, usual.size()));
  for (std::size_t i = 0; i < usual.size(); ++i) {
    level_[i] = usual[i] - middle;
    values_[i] = Four{level_[i], level_[i] * level_[i], 0, 0};
  }
  average(values_, means_);
  for (std::size_t i = 0; i < usual.size(); ++i) {
    mean_level_[i] = means_[i][0];
    per_variance_[i] = 1 / (std::max(0.0F, means_[i][1] - means_[i][0] * means_[i][0]) + kMinVariance);
  }
}

void LocalLight::remove(std::span<const float> first, std::span<const float> second,
                        std::vector<float>& first_left, std::vector<float>& second_left) {
  for (std::size_t i = 0; i < level_.size(); ++i)
    values_[i] = Four{first[i], first[i] * level_[i], second[i], second[i] * level_[i]};
  average(values_, means_);
  for (std::size_t i = 0; i < level_.size(); ++i) {
    const auto gain = [&](float mean, float product) {
      return std::max(static_cast<float>(kMinContrast), (product - mean * mean_level_[i]) * per_variance_[i]);
    };
    const Four mean = means_[i];
    const float a = gain(mean[0], mean[1]);
    const float b = gain(mean[2], mean[3]);
    values_[i] = Four{mean[0] - a * mean_level_[i], a, mean[2] - b * mean_level_[i], b};
  }
  average(values_, means_);
  first_left.resize(level_.size());
  second_left.resize(level_.size());
  for (std::size_t i = 0; i < level_.size(); ++i) {
    const Four fit = means_[i];
    first_left[i] = first[i] - fit[0] - fit[1] * level_[i];
    second_left[i] = second[i] - fit[2] - fit[3] * level_[i];
  }
}

SmoothLight::SmoothLight(int width, int across, int down, std::size_t terms)
    : width_(width), across_(across), down_(down), terms_(terms) {
  const auto points = static_cast<std::size_t>(across) * static_cast<std::size_t>(down);
  padded_ = (points + kFour - 1) / kFour * kFour;
  basis_.assign(terms * padded_, 0);
  off_.assign(padded_, 0);
  level_.assign(padded_, 0);
  double norms[kBent] = {};
  const double mean_x = (across * across - 1) / 12.0;
  const double mean_y = (down * down - 1) / 12.0;
  std::size_t at = 0;
  for (int v = 0; v < down; ++v) {
    for (int u = 0; u < across; ++u, ++at) {
      const double x = u - 0.5 * (across - 1);
      const double y = v - 0.5 * (down - 1);
      const double values[kBent] = {1, x, y, x * x - mean_x, x * y, y * y - mean_y};
      for (std::size_t i = 0; i < terms; ++i) {
        basis_[i * padded_ + at] = static_cast<float>(values[i]);
        norms[i] += values[i] * values[i];
      }
    }
  }
  for (std::size_t i = 0; i < terms; ++i) per_norm_[i] = norms[i] > 0 ? 1 / norms[i] : 0;
}

template <std::size_t terms>
SmoothLight::Products SmoothLight::multiply() const {
  Four terms_off[terms] = {};
  Four terms_level[terms] = {};
  Four off_off{}, level_level{}, off_level{};
  for (std::size_t i = 0; i < padded_; i += kFour) {
    const Four off = four(off_, i);
    const Four level = four(level_, i);
    for (std::size_t k = 0; k < terms; ++k) {
      const Four term = four(basis_, k * padded_ + i);
      terms_off[k] += term * off;
      terms_level[k] += term * level;
    }
    off_off += off * off;
    level_level += level * level;
    off_level += off * level;
  }
  const auto sum = [](Four value) { return static_cast<double>(total(value)); };
  Products products;
  for (std::size_t k = 0; k < terms; ++k) {
    products.terms_off[k] = sum(terms_off[k]);
    products.terms_level[k] = sum(terms_level[k]);
  }
  products.off_off = sum(off_off);
  products.level_level = sum(level_level);
  products.off_level = sum(off_level);
  return products;
}

/// With the width known at compile time, rows are a few vectors.
template <int across>
void SmoothLight::cut_out(const float* off, const float* level, float middle) {
  float* to_off = off_.data();
  float* to_level = level_.data();
  for (int v = 0; v < down_; ++v, off += width_, level += width_, to_off += across, to_level += across) {
    for (int u = 0; u < across; ++u) {
      to_off[u] = off[u];
      to_level[u] = level[u] - middle;
    }
  }
}

double SmoothLight::leaves(std::span<const float> deviation, std::span<const float> usual, int left,
                           int top) {
  // The constant term takes up any offset of the levels: subtracting one of them keeps the products small.
  const float middle = usual[static_cast<std::size_t>((top + down_ / 2) * width_ + left + across_ / 2)];
  const float* const off = deviation.data() + top * width_ + left;
  const float* const level = usual.data() + top * width_ + left;
  if (across_ == 7) {
    cut_out<7>(off, level, middle);
  } else if (across_ == 11) {
    cut_out<11>(off, level, middle);
  } else {
    for (int at = 0; at < across_ * down_; ++at) {
      const int from = at / across_ * width_ + at % across_;
      off_[static_cast<std::size_t>(at)] = off[from];
      level_[static_cast<std::size_t>(at)] = level[from] - middle;
    }
  }
  Products of = terms_ == kPlane ? multiply<kPlane>() : multiply<kBent>();
  const double energy = of.off_off;
  for (std::size_t i = 0; i < terms_; ++i) {
    of.off_off -= of.terms_off[i] * of.terms_off[i] * per_norm_[i];
    of.level_level -= of.terms_level[i] * of.terms_level[i] * per_norm_[i];
    of.off_level -= of.terms_off[i] * of.terms_level[i] * per_norm_[i];
  }
  const double structure = std::max(0.0, of.level_level);
  const double prior = across_ * down_ * kMinVariance * kMinVariance;
  const double contrast = std::max(kMinContrast, of.off_level / (structure + prior));
  const double left_over = of.off_off - 2 * contrast * of.off_level + contrast * contrast * structure;
  return std::max(0.0, left_over - kImperfect * (energy - of.off_off));
}

}  // namespace sfft::video
