// SPDX-License-Identifier: Apache-2.0
// Each patch compares two explanations by the likelihood ratio of their residuals, whose variance is unknown:
// n/2 * log(R0 / R1), where n is the number of independent samples of a patch.
#include "video/guard/move_check.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "video/guard/patch.hpp"

namespace sfft::video {

namespace {

constexpr std::int64_t kColumns = 28, kRows = 16;
/// Number of rows of patches left out at the top and at the bottom, where recorders write the time, which
/// stays in place.
constexpr std::int64_t kWritten = 2;
/// Smoothing correlates neighbouring pixels: some six of them make one independent sample.
constexpr double kSamples = kPatchPixels / 6.0;
/// Log-likelihood ratio above which a patch counts as evidence: one in 150 exceeds it by chance.
constexpr double kClear = 5;
/// Maximum share of a patch's energy that the better explanation may leave over.
constexpr double kExplained = 0.5;
/// Energy of the residuals that rounding and compression leave in a patch, in units of (full range / 255)².
constexpr double kFloor = 0.25 * kPatchPixels;
/// Minimum number of patches, and their share kStayed, whose evidence rejects a move.
constexpr int kMinStayed = 10;
/// Number that suffices if fewer patches have moved.
constexpr int kAFew = 3;
constexpr double kStayed = 0.25;

/// Removes the mean and the slope, because smooth shading of bodies and walls looks alike anywhere.
void remove_plane(Patch& patch) {
  remove_mean(patch);
  constexpr float kMiddle = 0.5F * (kPatchSide - 1);
  float across = 0;
  float down = 0;
  for (int row = 0; row < kPatchSide; ++row) {
    for (int column = 0; column < kPatchSide; ++column) {
      const float value = patch[static_cast<std::size_t>(row * kPatchSide + column)];
      across += value * (static_cast<float>(column) - kMiddle);
      down += value * (static_cast<float>(row) - kMiddle);
    }
  }
  // Sum of the squares of a coordinate over the patch.
  constexpr float kSpread = kPatchPixels * (kPatchSide * kPatchSide - 1) / 12.0F;
  for (int row = 0; row < kPatchSide; ++row) {
    for (int column = 0; column < kPatchSide; ++column) {
      patch[static_cast<std::size_t>(row * kPatchSide + column)] -=
          (across * (static_cast<float>(column) - kMiddle) + down * (static_cast<float>(row) - kMiddle)) /
          kSpread;
    }
  }
}

/// The part of a patch's energy that another patch does not explain.
double unexplained(const Patch& seen, const Patch& expected) {
  const double own = product(seen, seen);
  const double same = product(seen, expected);
  const double energy = product(expected, expected);
  if (!(energy > 0) || !(same > 0)) return own;
  return std::max(0.0, own - same * same / energy);
}

}  // namespace

bool MoveCheck::Votes::deny() const noexcept {
  if (stayed >= kAFew && stayed > moved) return true;
  return stayed >= kMinStayed && stayed > kStayed * (moved + stayed);
}

void MoveCheck::remember(const SignalView& frame, const Pose& pose) {
  height_ = frame.shape()[0];
  width_ = frame.shape()[1];
  pixels_.resize(static_cast<std::size_t>(width_ * height_));
  const auto copy = [&](const auto* pixels) {
    for (std::int64_t row = 0; row < height_; ++row)
      std::copy_n(pixels + row * frame.stride(0), width_, pixels_.begin() + row * width_);
  };
  if (frame.type() == ElementType::u16) {
    copy(static_cast<const std::uint16_t*>(frame.data()));
  } else {
    copy(static_cast<const std::uint8_t*>(frame.data()));
  }
  place_ = pose;
}

MoveCheck::Votes MoveCheck::vote(const SignalView& frame, const Pose& pose, const Pose& before) const {
  Votes votes;
  const auto inside = [&](std::int64_t x, std::int64_t y) {
    return x >= kPatchReach && y >= kPatchReach && x + kPatchSide + kPatchReach <= width_ &&
           y + kPatchSide + kPatchReach <= height_;
  };
  // The patch of the kept frame that is now at (x, y), if the scene has made this move since then.
  const auto origin = [&](std::int64_t x, std::int64_t y, const Pose& move) -> std::optional<Patch> {
    const auto [by_x, by_y] =
        move.shift_at(static_cast<double>(x) + 0.5 * static_cast<double>(kPatchSide - width_),
                      static_cast<double>(y) + 0.5 * static_cast<double>(kPatchSide - height_));
    const double from_x = static_cast<double>(x) - by_x;
    const double from_y = static_cast<double>(y) - by_y;
    const double left = std::floor(from_x);
    const double top = std::floor(from_y);
    if (!(std::abs(left) < 1e6) || !(std::abs(top) < 1e6)) return std::nullopt;
    const auto [column, row] = std::pair(static_cast<std::int64_t>(left), static_cast<std::int64_t>(top));
    if (!inside(column, row)) return std::nullopt;
    Patch patch{};
    read_patch(pixels_.data(), width_, column, row, taps_near(from_x - left), taps_near(from_y - top), patch);
    remove_plane(patch);
    return patch;
  };
  const double floor = kFloor * unit_ * unit_;
  const auto look = [&](const auto* pixels) {
    for (std::int64_t i = kWritten; i < kRows - kWritten; ++i) {
      for (std::int64_t j = 0; j < kColumns; ++j) {
        const std::int64_t x = (2 * j + 1) * width_ / (2 * kColumns) - kPatchSide / 2;
        const std::int64_t y = (2 * i + 1) * height_ / (2 * kRows) - kPatchSide / 2;
        if (!inside(x, y)) continue;
        const std::optional<Patch> there = origin(x, y, pose - place_);
        const std::optional<Patch> here = origin(x, y, before - place_);
        if (!there || !here) continue;
        Patch seen{};
        read_patch(pixels, frame.stride(0), x, y, taps_near(0), taps_near(0), seen);
        remove_plane(seen);
        const double moved = unexplained(seen, *there) + floor;
        double stayed = unexplained(seen, *here) + floor;
        // The scene may have stayed in place although its landmarks have swayed.
        if (const std::optional<Patch> same = origin(x, y, {}))
          stayed = std::min(stayed, unexplained(seen, *same) + floor);
        // A patch that neither explains shows something else.
        if (std::min(moved, stayed) > kExplained * (product(seen, seen) + floor)) continue;
        const double ratio = 0.5 * kSamples * std::log(stayed / moved);
        if (ratio > kClear) ++votes.moved;
        if (ratio < -kClear) ++votes.stayed;
      }
    }
  };
  if (frame.type() == ElementType::u16) {
    look(static_cast<const std::uint16_t*>(frame.data()));
  } else {
    look(static_cast<const std::uint8_t*>(frame.data()));
  }
  return votes;
}

}  // namespace sfft::video
