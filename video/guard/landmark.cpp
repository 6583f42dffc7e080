// SPDX-License-Identifier: Apache-2.0
// Structure tensors are summed over blocks of pixels first, then over the blocks of each patch.
#include "video/guard/landmark.hpp"

#include <algorithm>
#include <cmath>

#include "video/guard/pixel_rows.hpp"

namespace sfft::video {

namespace {

/// Minimum number of pixels between the picture's edge and a patch.
constexpr int kRim = 6;

/// The smaller eigenvalue of [xx xy; xy yy].
double smaller_eigenvalue(double xx, double xy, double yy) {
  return 0.5 * (xx + yy - std::hypot(xx - yy, 2 * xy));
}

}  // namespace

void Landmark::expect(const Patch& patch) {
  expected = patch;
  energy = product(patch, patch);
  by_x = gradient(patch, false);
  by_y = gradient(patch, true);
  // Means are ignored, because a change of light alters them.
  remove_mean(by_x);
  remove_mean(by_y);
  xx = product(by_x, by_x);
  xy = product(by_x, by_y);
  yy = product(by_y, by_y);
  along_x = product(by_x, patch);
  along_y = product(by_y, patch);
  coarse = smoothed(patch);
  remove_mean(coarse);
  coarse_energy = product(coarse, coarse);
  coarse_product = product(coarse, patch);
}

void Landmark::compare(const Patch& patch) {
  seen = patch;
  remove_mean(seen);
  const auto [own, same, on_x, on_y] = products(seen, expected, by_x, by_y);
  correlation = own > 0 && energy > 0 ? same / std::sqrt(own * energy) : 0;
  gain = energy > 0 ? same / energy : 0;
  rest = own - same * gain;
  // seen(p) = gain * expected(p - step), approximately.
  const double contrast = std::max(0.05, gain);
  tx = along_x - on_x / contrast;
  ty = along_y - on_y / contrast;
  step_x = step_y = 0;
  const double determinant = xx * yy - xy * xy;
  if (determinant > 1e-3 * xx * yy) {
    step_x = (yy * tx - xy * ty) / determinant;
    step_y = (xx * ty - xy * tx) / determinant;
  }
}

std::vector<Landmark> choose_landmarks(std::span<const float> scene, std::int64_t width, std::int64_t height,
                                       double unit) {
  // Structure tensors of blocks of 4x4 pixels, summed over patches.
  constexpr int kBlock = 4;
  constexpr int kBlocks = kPatchSide / kBlock;
  const std::int64_t columns = width / kBlock;
  const std::int64_t rows = height / kBlock;
  std::vector<std::array<float, 3>> tensors(static_cast<std::size_t>(columns * rows));
  const auto pixel = [&](std::int64_t x, std::int64_t y) {
    return scene[static_cast<std::size_t>(y * width + x)];
  };
  for (std::int64_t y = 1; y < rows * kBlock && y + 1 < height; ++y) {
    for (std::int64_t x = 1; x < columns * kBlock && x + 1 < width; ++x) {
      const float gx =
          0.25F * (pixel(x + 1, y) - pixel(x - 1, y)) +
          0.125F * (pixel(x + 1, y - 1) - pixel(x - 1, y - 1) + pixel(x + 1, y + 1) - pixel(x - 1, y + 1));
      const float gy =
          0.25F * (pixel(x, y + 1) - pixel(x, y - 1)) +
          0.125F * (pixel(x - 1, y + 1) - pixel(x - 1, y - 1) + pixel(x + 1, y + 1) - pixel(x + 1, y - 1));
      auto& tensor = tensors[static_cast<std::size_t>(y / kBlock * columns + x / kBlock)];
      tensor[0] += gx * gx;
      tensor[1] += gx * gy;
      tensor[2] += gy * gy;
    }
  }
  struct Candidate {
    double strength = 0;
    std::int64_t x = 0, y = 0;
  };
  std::array<Candidate, kCellColumns * kCellRows> best{};
  for (std::int64_t row = 0; row + kBlocks <= rows; ++row) {
    for (std::int64_t column = 0; column + kBlocks <= columns; ++column) {
      const std::int64_t x = column * kBlock;
      const std::int64_t y = row * kBlock;
      if (x < kRim || y < kRim || x + kPatchSide + kRim > width || y + kPatchSide + kRim > height) continue;
      std::array<double, 3> sum{};
      for (int i = 0; i < kBlocks; ++i) {
        for (int j = 0; j < kBlocks; ++j) {
          const auto& tensor = tensors[static_cast<std::size_t>((row + i) * columns + column + j)];
          for (std::size_t c = 0; c < 3; ++c) sum[c] += tensor[c];
        }
      }
      const double strength = smaller_eigenvalue(sum[0], sum[1], sum[2]);
      const std::int64_t cell = (y + kPatchSide / 2) * kCellRows / height * kCellColumns +
                                (x + kPatchSide / 2) * kCellColumns / width;
      Candidate& candidate = best[static_cast<std::size_t>(cell)];
      if (strength > candidate.strength) candidate = {strength, x, y};
    }
  }
  const double min = 0.25 * kPatchPixels * unit * unit;
  std::vector<Landmark> landmarks;
  Patch patch{};
  for (const Candidate& candidate : best) {
    if (!(candidate.strength > min)) continue;
    Landmark& landmark = landmarks.emplace_back();
    landmark.x = static_cast<int>(candidate.x);
    landmark.y = static_cast<int>(candidate.y);
    landmark.from_x = landmark.x + 0.5 * static_cast<double>(kPatchSide - width);
    landmark.from_y = landmark.y + 0.5 * static_cast<double>(kPatchSide - height);
    landmark.tile = static_cast<int>((candidate.y + kPatchSide / 2) * kTileRows / height * kTileColumns +
                                     (candidate.x + kPatchSide / 2) * kTileColumns / width);
    read_patch(scene.data(), width, candidate.x, candidate.y, patch);
    remove_mean(patch);
    landmark.expect(patch);
  }
  return landmarks;
}

}  // namespace sfft::video
