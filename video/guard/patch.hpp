// SPDX-License-Identifier: Apache-2.0
// Small squares of pixels, read at subpixel positions and slightly smoothed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sfft::video {

inline constexpr int kPatchSide = 12;
inline constexpr int kPatchPixels = kPatchSide * kPatchSide;
/// Pixels around a patch that reading it may touch.
inline constexpr int kPatchReach = 4;

using Patch = std::array<float, kPatchPixels>;

/// Weights of samples -3 ... 4 for a position between 0 and 1: a Lanczos kernel of six samples, convolved
/// with (1 2 1) / 4.
using Taps = std::array<float, 8>;
Taps taps(double fraction);
/// The same from a table, exact to a 512th of a pixel.
const Taps& taps_near(double fraction);

/// Reads the patch whose corner lies at (x, y) plus the taps' fractions.
template <class T>
void read_patch(const T* pixels, std::int64_t stride, std::int64_t x, std::int64_t y, const Taps& by_x,
                const Taps& by_y, Patch& out) {
  constexpr int N = kPatchSide;
  float lines[(N + 7) * N];
  float row[N + 7];
  for (int r = 0; r < N + 7; ++r) {
    const T* from = pixels + (y - 3 + r) * stride + x - 3;
    for (int i = 0; i < N + 7; ++i) row[i] = static_cast<float>(from[i]);
    float* line = lines + r * N;
    for (int i = 0; i < N; ++i)
      line[i] = by_x[0] * row[i] + by_x[1] * row[i + 1] + by_x[2] * row[i + 2] + by_x[3] * row[i + 3] +
                by_x[4] * row[i + 4] + by_x[5] * row[i + 5] + by_x[6] * row[i + 6] + by_x[7] * row[i + 7];
  }
  for (int i = 0; i < N * N; ++i)
    out[i] = by_y[0] * lines[i] + by_y[1] * lines[i + N] + by_y[2] * lines[i + 2 * N] +
             by_y[3] * lines[i + 3 * N] + by_y[4] * lines[i + 4 * N] + by_y[5] * lines[i + 5 * N] +
             by_y[6] * lines[i + 6 * N] + by_y[7] * lines[i + 7 * N];
}

/// The same where both fractions are 0.
template <class T>
void read_patch(const T* pixels, std::int64_t stride, std::int64_t x, std::int64_t y, Patch& out) {
  constexpr int N = kPatchSide;
  using Sum = std::conditional_t<std::is_floating_point_v<T>, T, std::int32_t>;
  Sum lines[(N + 2) * N];
  for (int r = 0; r < N + 2; ++r) {
    const T* from = pixels + (y - 1 + r) * stride + x - 1;
    Sum* line = lines + r * N;
    for (int i = 0; i < N; ++i)
      line[i] = static_cast<Sum>(from[i]) + 2 * static_cast<Sum>(from[i + 1]) + static_cast<Sum>(from[i + 2]);
  }
  for (int i = 0; i < N * N; ++i)
    out[i] = 0.0625F * static_cast<float>(lines[i] + 2 * lines[i + N] + lines[i + 2 * N]);
}

void remove_mean(Patch& patch);
double product(const Patch& a, const Patch& b);
/// Products of `a` with itself and with three others.
std::array<double, 4> products(const Patch& a, const Patch& b, const Patch& c, const Patch& d);
/// Half the difference of both neighbours, along rows or, if `down`, along columns.
Patch gradient(const Patch& patch, bool down);
/// Smooths strongly, with a standard deviation of about 2.4 pixels.
Patch smoothed(const Patch& patch);

}  // namespace sfft::video
