// SPDX-License-Identifier: Apache-2.0
// Small inverse FFTs of the low block. The block is tapered towards its limits, so that edges ring little. A
// Hann window in the picture is a sum over neighbouring frequencies.
#include "video/guard/small_picture.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "video/motion/friendly_size.hpp"
#include "video/motion/phase_ramp.hpp"

namespace sfft::video {

namespace {

/// Cycles per region up to which a picture is lighting rather than structure.
constexpr double kLightingCycles = 4;
/// Share of the block's radius from which it is tapered.
constexpr double kTaperFrom = 0.3;

}  // namespace

SmallPictures::SmallPictures(const Layout& layout)
    : columns_(layout.columns),
      rows_(layout.rows),
      width_(friendly_size(2 * layout.columns + 2)),
      height_(friendly_size(2 * layout.rows + 2)),
      step_x_(static_cast<double>(layout.region.width) / width_),
      step_y_(static_cast<double>(layout.region.height) / height_),
      region_width_(layout.region.width),
      region_height_(layout.region.height),
      plan_(Shape{height_, width_}, Domain::real, {.normalization = dense::Options::Normalization::none}),
      taper_(layout.block.size()),
      structure_taper_(layout.block.size()),
      half_(plan_.spectrum_points()),
      workspace_(plan_.workspace_bytes() + 64) {
  for (int fx = 0; fx <= columns_; ++fx) {
    for (int fy = -rows_; fy <= rows_; ++fy) {
      const double radius = std::min(
          1.0, std::hypot(static_cast<double>(fx) / (columns_ + 1), static_cast<double>(fy) / (rows_ + 1)));
      const double fall = std::clamp((radius - kTaperFrom) / (1.1 - kTaperFrom), 0.0, 1.0);
      const double taper = (0.5 + 0.5 * std::cos(std::numbers::pi * fall)) /
                           static_cast<double>(layout.region.width) /
                           static_cast<double>(layout.region.height);
      // Both filters reach only a few points, so the mixing of opposite edges of the picture stays near them.
      const double coarse = std::hypot(fx, fy) / kLightingCycles;
      taper_[layout.at(fx, fy)] = static_cast<float>(taper);
      structure_taper_[layout.at(fx, fy)] =
          static_cast<float>(taper * (1 - std::exp(-0.5 * coarse * coarse)));
    }
  }
}

std::span<std::byte> SmallPictures::room() {
  void* start = workspace_.data();
  std::size_t room = workspace_.size();
  std::align(64, plan_.workspace_bytes(), start, room);
  return {static_cast<std::byte*>(start), plan_.workspace_bytes()};
}

void SmallPictures::transform(std::vector<float>& picture) {
  picture.resize(points());
  plan_.inverse(std::span<const std::complex<float>>(half_), std::span<float>(picture), room());
}

void SmallPictures::draw(std::span<const std::complex<float>> low, double x, double y, bool structure,
                         std::vector<float>& picture) {
  std::ranges::fill(half_, std::complex<float>{});
  phase_ramp(x / static_cast<double>(region_width_), columns_, false, ramp_x_);
  phase_ramp(y / static_cast<double>(region_height_), rows_, true, ramp_y_);
  const std::vector<float>& taper = structure ? structure_taper_ : taper_;
  std::size_t i = 0;
  for (int fx = 0; fx <= columns_; ++fx) {
    for (int fy = -rows_; fy <= rows_; ++fy, ++i) {
      half_[half_at(fx, fy)] = taper[i] * times(low[i], times(ramp_x_[static_cast<std::size_t>(fx)],
                                                              ramp_y_[static_cast<std::size_t>(fy + rows_)]));
    }
  }
  transform(picture);
}

void SmallPictures::gradients(std::span<const std::complex<float>> low, std::vector<float>& by_x,
                              std::vector<float>& by_y) {
  for (const bool vertical : {false, true}) {
    std::ranges::fill(half_, std::complex<float>{});
    std::size_t i = 0;
    for (int fx = 0; fx <= columns_; ++fx) {
      for (int fy = -rows_; fy <= rows_; ++fy, ++i) {
        const double cycles = vertical ? static_cast<double>(fy) / static_cast<double>(region_height_)
                                       : static_cast<double>(fx) / static_cast<double>(region_width_);
        const std::complex<float> slope(0, static_cast<float>(2 * std::numbers::pi * cycles));
        half_[half_at(fx, fy)] = structure_taper_[i] * slope * low[i];
      }
    }
    transform(vertical ? by_y : by_x);
  }
}

void SmallPictures::turn_back(std::span<const std::complex<float>> low, const Pose& turn,
                              std::vector<std::complex<float>>& turned) {
  draw(low, 0, 0, true, upright_);
  turned_.assign(points(), 0.0F);
  for (int row = 0; row < height_; ++row) {
    for (int column = 0; column < width_; ++column) {
      const auto [by_x, by_y] =
          turn.shift_at((column - 0.5 * width_) * step_x_, (row - 0.5 * height_) * step_y_);
      const double x = column + by_x / step_x_;
      const double y = row + by_y / step_y_;
      const int left = static_cast<int>(std::floor(x));
      const int top = static_cast<int>(std::floor(y));
      if (left < 0 || top < 0 || left + 1 >= width_ || top + 1 >= height_) continue;
      const auto at = static_cast<std::size_t>(top * width_ + left);
      const auto below = at + static_cast<std::size_t>(width_);
      turned_[static_cast<std::size_t>(row * width_ + column)] =
          static_cast<float>(std::lerp(std::lerp(upright_[at], upright_[at + 1], x - left),
                                       std::lerp(upright_[below], upright_[below + 1], x - left), y - top));
    }
  }
  plan_.forward(SignalView(turned_, Shape{height_, width_}), half_, room());
  turned.resize(low.size());
  std::size_t i = 0;
  for (int fx = 0; fx <= columns_; ++fx)
    for (int fy = -rows_; fy <= rows_; ++fy, ++i) turned[i] = half_[half_at(fx, fy)];
}

void SmallPictures::window(std::span<const std::complex<float>> low,
                           std::vector<std::complex<float>>& windowed) {
  const auto lines = static_cast<std::size_t>(2 * rows_ + 1);
  const std::size_t points = low.size();
  lines_.assign(points, {});
  windowed.assign(points, {});
  for (std::size_t i = 1; i + 1 < points; ++i) lines_[i] = 0.5F * low[i] - 0.25F * (low[i - 1] + low[i + 1]);
  for (std::size_t i = lines; i + lines < points; ++i)
    windowed[i] = 0.5F * lines_[i] - 0.25F * (lines_[i - lines] + lines_[i + lines]);
  // Column -1 holds the conjugates of column 1.
  for (std::size_t i = 0; i < lines && i + lines < points; ++i)
    windowed[i] = 0.5F * lines_[i] - 0.25F * (std::conj(lines_[2 * lines - 1 - i]) + lines_[i + lines]);
}

void SmallPictures::correlate(std::span<const std::complex<float>> reference,
                              std::span<const std::complex<float>> low, std::vector<float>& surface) {
  std::ranges::fill(half_, std::complex<float>{});
  window(low, windowed_);
  window(reference, reference_);
  for (int fx = 0; fx < columns_; ++fx) {
    for (int fy = -rows_ + 1; fy < rows_; ++fy) {
      if (fx <= 1 && std::abs(fy) <= 1) continue;
      const auto i = static_cast<std::size_t>(fx * (2 * rows_ + 1) + fy + rows_);
      const std::complex<float> product = times(windowed_[i], std::conj(reference_[i]));
      const float strength = std::sqrt(std::norm(product));
      if (!(strength > 0)) continue;
      half_[half_at(fx, fy)] = product / std::sqrt(strength);
    }
  }
  transform(surface);
}

}  // namespace sfft::video
