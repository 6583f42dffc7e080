// SPDX-License-Identifier: Apache-2.0
// Arithmetic on patches. Sums have four partial sums, because additions to a single one wait for each other.
#include "video/guard/patch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

namespace sfft::video {

namespace {

/// Compilers do not vectorise four partial sums by themselves.
using Four = float __attribute__((vector_size(16)));

Four four(const Patch& patch, std::size_t at) {
  Four values;
  std::memcpy(&values, patch.data() + at, sizeof values);
  return values;
}

float total(Four sum) {
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace

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

const Taps& taps_near(double fraction) {
  constexpr std::size_t kPlaces = 256;
  static const std::vector<Taps> table = [] {
    std::vector<Taps> all;
    for (std::size_t i = 0; i <= kPlaces; ++i) all.push_back(taps(static_cast<double>(i) / kPlaces));
    return all;
  }();
  return table[static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * kPlaces + 0.5)];
}

void remove_mean(Patch& patch) {
  Four sum{};
  for (std::size_t i = 0; i < kPatchPixels; i += 4) sum += four(patch, i);
  const float mean = total(sum) / kPatchPixels;
  for (float& value : patch) value -= mean;
}

double product(const Patch& a, const Patch& b) {
  Four sum{};
  for (std::size_t i = 0; i < kPatchPixels; i += 4) sum += four(a, i) * four(b, i);
  return total(sum);
}

std::array<double, 4> products(const Patch& a, const Patch& b, const Patch& c, const Patch& d) {
  Four aa{}, ab{}, ac{}, ad{};
  for (std::size_t i = 0; i < kPatchPixels; i += 4) {
    const Four values = four(a, i);
    aa += values * values;
    ab += values * four(b, i);
    ac += values * four(c, i);
    ad += values * four(d, i);
  }
  return {total(aa), total(ab), total(ac), total(ad)};
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
