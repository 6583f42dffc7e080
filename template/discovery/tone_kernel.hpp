// SPDX-License-Identifier: Apache-2.0
// The spectrum of a tone of any real frequency: the Dirichlet kernel, and its sums under cosine windows
// (Harris, Proceedings of the IEEE 66, 1978).
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <vector>

#include "kernels/base/turns.hpp"

namespace sfft::detail {

/// w(t) = a0 − a1 cos(2πt/p) + a2 cos(4πt/p) − a3 cos(6πt/p), with the period p = n or, symmetric, n − 1.
struct CosineWindow {
  int terms = 1;
  std::array<double, 4> a{1, 0, 0, 0};
};

inline constexpr int kCosineWindows = 4;
inline constexpr std::array<CosineWindow, kCosineWindows> kCosineWindow{{
    {1, {1, 0, 0, 0}},                          // none
    {2, {0.5, 0.5, 0, 0}},                      // Hann
    {2, {0.54, 0.46, 0, 0}},                    // Hamming
    {4, {0.35875, 0.48829, 0.14128, 0.01168}},  // Blackman-Harris
}};

/// (1/n) Σ_t exp(2πi x t/n) over t = 0 … n−1, for any real x.
inline std::complex<double> dirichlet(double x, double n) noexcept {
  const double below = root_of_turns(0.5 * x / n).imag() * n;
  if (std::fabs(below) < 1e-13 * n) return 1;
  const double above = root_of_turns(0.5 * x).imag();
  return above / below * root_of_turns(0.5 * x * (n - 1) / n);
}

/// (1/n) Σ_t w(t) exp(2πi x t/n), which a tone of frequency f + x contributes at f. `spacing`: n over the
/// window's period, the distance of its terms in bins.
inline std::complex<double> tone_kernel(const CosineWindow& window, double spacing, double x,
                                        double n) noexcept {
  std::complex<double> sum = window.a[0] * dirichlet(x, n);
  for (int q = 1; q < window.terms; ++q) {
    const double half = (q % 2 != 0 ? -0.5 : 0.5) * window.a[static_cast<std::size_t>(q)];
    sum += half * (dirichlet(x - q * spacing, n) + dirichlet(x + q * spacing, n));
  }
  return sum;
}

/// Writes dirichlet(x − j) for j = first … last to to[j]. The phases of neighbours differ by a constant
/// factor, and so do the phases whose imaginary part is the sine in the denominator. A small sine is computed
/// from its series.
inline void dirichlet_row(double x, double n, std::int64_t first, std::int64_t last,
                          std::complex<double>* to) noexcept {
  constexpr double kSmall = 0.2;
  const double above = root_of_turns(0.5 * x).imag();
  const double start = x - static_cast<double>(first);
  const std::complex<double> turn = root_of_turns(-0.5 * (n - 1) / n), part = root_of_turns(-0.5 / n);
  std::complex<double> phase = root_of_turns(0.5 * start * (n - 1) / n),
                       share = root_of_turns(0.5 * start / n);
  for (std::int64_t j = first; j <= last; ++j, phase = times(phase, turn), share = times(share, part)) {
    const double angle = std::numbers::pi * (x - static_cast<double>(j)) / n, square = angle * angle;
    const double sine =
        square > kSmall * kSmall
            ? share.imag()
            : angle * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72))));
    to[j] = std::fabs(sine) < 1e-13 ? std::complex<double>(1)
                                    : (j % 2 != 0 ? -above : above) / (sine * n) * phase;
  }
}

/// Largest `reach` of tone_kernels().
inline constexpr int kMaxKernels = 4;

/// Writes tone_kernel(x − j) for j = −reach … reach to to[j]. `turns`: the share of the window's period by
/// which the samples begin after the window.
inline void tone_kernels(const CosineWindow& window, double spacing, double x, double n, int reach,
                         std::complex<double>* to, double turns = 0) noexcept {
  constexpr int kWide = kMaxKernels + 3;
  std::complex<double> storage[2 * kWide + 1];
  std::complex<double>* row = storage + kWide;
  const bool apart = (spacing != 1 || turns != 0) && window.terms > 1;
  // A kernel shifted by whole bins is another element of the row.
  const int wide = apart ? reach : reach + window.terms - 1;
  dirichlet_row(x, n, -wide, wide, row);
  for (int j = -reach; j <= reach; ++j) to[j] = window.a[0] * row[j];
  for (int q = 1; q < window.terms; ++q) {
    const double half = (q % 2 != 0 ? -0.5 : 0.5) * window.a[static_cast<std::size_t>(q)];
    if (!apart) {
      for (int j = -reach; j <= reach; ++j) to[j] += half * (row[j + q] + row[j - q]);
      continue;
    }
    for (const double side : {-1.0, 1.0}) {
      dirichlet_row(x + side * q * spacing, n, -reach, reach, row);
      const std::complex<double> factor = half * root_of_turns(side * q * turns);
      for (int j = -reach; j <= reach; ++j) to[j] += times(factor, row[j]);
    }
  }
}

/// Returns tone_kernel(frequency − j) for all bins j of an axis.
inline std::vector<std::complex<double>> tone_kernel_line(const CosineWindow& window, double spacing,
                                                          double frequency, std::int64_t n) {
  const auto count = static_cast<std::size_t>(n);
  std::vector<std::complex<double>> row(count), line(count);
  const auto fill = [&](double at) { dirichlet_row(at, static_cast<double>(n), 0, n - 1, row.data()); };
  fill(frequency);
  for (std::size_t j = 0; j < count; ++j) line[j] = window.a[0] * row[j];
  if (spacing == 1 && window.terms < n) {
    // A kernel shifted by whole bins is another element of the row.
    for (int q = 1; q < window.terms; ++q) {
      const auto shift = static_cast<std::size_t>(q);
      const double half = (q % 2 != 0 ? -0.5 : 0.5) * window.a[shift];
      for (std::size_t j = 0; j < count; ++j) {
        const std::size_t above = j + shift < count ? j + shift : j + shift - count;
        const std::size_t below = j >= shift ? j - shift : j + count - shift;
        line[j] += half * (row[above] + row[below]);
      }
    }
    return line;
  }
  for (int q = 1; q < window.terms; ++q) {
    const double half = (q % 2 != 0 ? -0.5 : 0.5) * window.a[static_cast<std::size_t>(q)];
    for (const double side : {-1.0, 1.0}) {
      fill(frequency + side * q * spacing);
      for (std::size_t j = 0; j < count; ++j) line[j] += half * row[j];
    }
  }
  return line;
}

}  // namespace sfft::detail
