// SPDX-License-Identifier: Apache-2.0
// Exact index and phase arithmetic shared by planning, CPU and GPU code.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

#include "kernels/base/math/portable.hpp"

namespace sfft::detail {

/// a*b mod n without overflow, for 0 <= a, b < n < 2^63.
SFFT_HOST_DEVICE constexpr std::int64_t multiply_mod(std::int64_t a, std::int64_t b,
                                                     std::int64_t n) noexcept {
  return static_cast<std::int64_t>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b) %
                                   static_cast<unsigned __int128>(n));
}

/// a mod n in [0, n) for any a.
SFFT_HOST_DEVICE constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t n) noexcept {
  const std::int64_t r = a % n;
  return r < 0 ? r + n : r;
}

/// exp(2 pi i numerator/denominator), correct to the last bits of double: the angle is reduced to an eighth
/// of a turn in integers first. numerator in [0, denominator).
inline std::complex<double> unit_root(std::int64_t numerator, std::int64_t denominator) noexcept {
  int octant;
  std::int64_t rest;
  if (denominator < std::int64_t{1} << 60) {
    octant = static_cast<int>(8 * numerator / denominator);
    rest = 8 * numerator - octant * denominator;
  } else {
    // Computed in 128 bits, so that the octant is exact: for an angle 2*pi*p/q with q up to 2^62, 8p
    // overflows 64 bits.
    const auto eighths = static_cast<unsigned __int128>(numerator) * 8u;
    octant = static_cast<int>(eighths / static_cast<unsigned __int128>(denominator));
    rest = static_cast<std::int64_t>(eighths - static_cast<unsigned __int128>(octant) *
                                                   static_cast<unsigned __int128>(denominator));
  }
  const bool mirrored = (octant & 1) != 0;
  const double fraction =
      static_cast<double>(mirrored ? denominator - rest : rest) / static_cast<double>(denominator);
  constexpr double kEighth = 0.78539816339744830962;  // π/4
  const double angle = fraction * kEighth;
  double c = std::cos(angle);
  double s = std::sin(angle);
  // Reflect within the quarter turn, then rotate by quarter turns.
  if (mirrored) {
    const double t = c;
    c = s;
    s = t;
  }
  switch (octant >> 1) {
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    case 3:
      return {s, -c};
    default:
      return {c, s};
  }
}

/// exp(2 pi i f t / n) for 0 <= f, t < n.
inline std::complex<double> phase(std::int64_t f, std::int64_t t, std::int64_t n) noexcept {
  return unit_root(multiply_mod(f, t, n), n);
}

}  // namespace sfft::detail
