// SPDX-License-Identifier: Apache-2.0
// Two pictures need four sliding sums in each of two passes. The four share a vector.
#include "video/triage/local_light.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace sfft::video {

namespace {

constexpr int kReach = 5;          ///< points from the middle of a square to its edges
constexpr float kPrior = 1;        ///< variance of structure that determines no contrast
constexpr float kMinGain = -0.7F;  ///< light leaves at least 30 % of the structure's contrast

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
    per_variance_[i] = 1 / (std::max(0.0F, means_[i][1] - means_[i][0] * means_[i][0]) + kPrior);
  }
}

void LocalLight::remove(std::span<const float> first, std::span<const float> second,
                        std::vector<float>& first_left, std::vector<float>& second_left) {
  for (std::size_t i = 0; i < level_.size(); ++i)
    values_[i] = Four{first[i], first[i] * level_[i], second[i], second[i] * level_[i]};
  average(values_, means_);
  for (std::size_t i = 0; i < level_.size(); ++i) {
    const auto gain = [&](float mean, float product) {
      return std::max(kMinGain, (product - mean * mean_level_[i]) * per_variance_[i]);
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

}  // namespace sfft::video
