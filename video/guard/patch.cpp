// SPDX-License-Identifier: Apache-2.0
// Arithmetic on patches. Sums have four parts, for a single one waits for itself.
#include "video/guard/patch.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sfft::video {

Taps taps(double fraction) {
  double kernel[6];
  double sum = 0;
  for (int i = 0; i < 6; ++i) {
    const double at = std::numbers::pi * (i - 2 - fraction);
    kernel[i] = std::abs(at) < 1e-9 ? 1 : 3 * std::sin(at) * std::sin(at / 3) / (at * at);
    sum += kernel[i];
  }
  Taps eight{};
  for (std::size_t i = 0; i < 6; ++i) {
    const double value = kernel[i] / sum;
    eight[i] += static_cast<float>(0.25 * value);
    eight[i + 1] += static_cast<float>(0.5 * value);
    eight[i + 2] += static_cast<float>(0.25 * value);
  }
  return eight;
}

void remove_mean(Patch& patch) {
  float four[4] = {};
  for (std::size_t i = 0; i < kPatchPixels; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) four[j] += patch[i + j];
  }
  const float mean = ((four[0] + four[1]) + (four[2] + four[3])) / kPatchPixels;
  for (float& value : patch) value -= mean;
}

double product(const Patch& a, const Patch& b) {
  float four[4] = {};
  for (std::size_t i = 0; i < kPatchPixels; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) four[j] += a[i + j] * b[i + j];
  }
  return (four[0] + four[1]) + (four[2] + four[3]);
}

Patch gradient(const Patch& patch, bool down) {
  Patch out{};
  for (int row = 0; row < kPatchSide; ++row) {
    for (int column = 0; column < kPatchSide; ++column) {
      // One-sided at the rim of the patch.
      const int at = down ? row : column;
      const int before = std::max(at - 1, 0);
      const int after = std::min(at + 1, kPatchSide - 1);
      const auto place = [&](int p) {
        return static_cast<std::size_t>(down ? p * kPatchSide + column : row * kPatchSide + p);
      };
      out[place(at)] = (patch[place(after)] - patch[place(before)]) / static_cast<float>(after - before);
    }
  }
  return out;
}

Patch smoothed(const Patch& patch) {
  // Three passes of a mean of five, across and down.
  Patch out = patch;
  for (int pass = 0; pass < 6; ++pass) {
    const bool down = pass % 2 == 1;
    const Patch from = out;
    for (int row = 0; row < kPatchSide; ++row) {
      for (int column = 0; column < kPatchSide; ++column) {
        float sum = 0;
        for (int d = -2; d <= 2; ++d) {
          const int r = down ? std::clamp(row + d, 0, kPatchSide - 1) : row;
          const int c = down ? column : std::clamp(column + d, 0, kPatchSide - 1);
          sum += from[static_cast<std::size_t>(r * kPatchSide + c)];
        }
        out[static_cast<std::size_t>(row * kPatchSide + column)] = 0.2F * sum;
      }
    }
  }
  return out;
}

}  // namespace sfft::video
