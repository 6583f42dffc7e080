// SPDX-License-Identifier: Apache-2.0
// Phases and complex products for discovery, which recomputes them for every signal. They are cheap: there is
// no library sine and no NaN test inside a product.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

#include "kernels/base/index.hpp"

namespace sfft::detail {

/// a·b and a·conj(b) as plain products, without the treatment of NaN and infinity in Annex G of C99.
inline std::complex<double> times(std::complex<double> a, std::complex<double> b) noexcept {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
inline std::complex<double> times_conj(std::complex<double> a, std::complex<double> b) noexcept {
  return {a.real() * b.real() + a.imag() * b.imag(), a.imag() * b.real() - a.real() * b.imag()};
}

/// Sine and cosine of |x| <= pi/4 by their Taylor series, whose error there is 1e-17. Always inline:
/// otherwise the linker could use an out-of-line copy that was compiled for another instruction set.
inline __attribute__((always_inline)) void sine_cosine(double x, double& sine, double& cosine) noexcept {
  const double z = x * x;
  double s = -1.0 / 1307674368000.0;
  s = s * z + 1.0 / 6227020800.0;
  s = s * z - 1.0 / 39916800.0;
  s = s * z + 1.0 / 362880.0;
  s = s * z - 1.0 / 5040.0;
  s = s * z + 1.0 / 120.0;
  s = s * z - 1.0 / 6.0;
  sine = s * z * x + x;
  double c = 1.0 / 20922789888000.0;
  c = c * z - 1.0 / 87178291200.0;
  c = c * z + 1.0 / 479001600.0;
  c = c * z - 1.0 / 3628800.0;
  c = c * z + 1.0 / 40320.0;
  c = c * z - 1.0 / 720.0;
  c = c * z + 1.0 / 24.0;
  c = c * z - 0.5;
  cosine = c * z + 1.0;
}

/// exp(2 pi i turns) for any finite |turns| < 2^51, within 2e-16 plus the rounding error of `turns`.
inline std::complex<double> root_of_turns(double turns) noexcept {
  constexpr double kPi = 3.14159265358979323846;
  const double quarters = std::floor(4 * turns + 0.5);
  double s, c;
  sine_cosine(2 * kPi * (turns - 0.25 * quarters), s, c);
  const auto quadrant = static_cast<std::int64_t>(quarters);
  if ((quadrant & 1) != 0) {
    const double swap = c;
    c = -s;
    s = swap;
  }
  return (quadrant & 2) != 0 ? std::complex<double>(-c, -s) : std::complex<double>(c, s);
}

/// f·t/n modulo 1, exact until the division, for 0 <= f, t < n.
inline double turns_of(std::int64_t f, std::int64_t t, std::int64_t n) noexcept {
  constexpr std::int64_t kShort = std::int64_t{1} << 31;
  if (n <= kShort) {
    const auto product = static_cast<std::uint64_t>(f) * static_cast<std::uint64_t>(t);
    const auto whole = static_cast<std::uint64_t>(n);
    // Powers of two are the common case, and the division is most of this function's cost.
    const std::uint64_t rest = (whole & (whole - 1)) == 0 ? product & (whole - 1) : product % whole;
    return static_cast<double>(rest) / static_cast<double>(n);
  }
  return static_cast<double>(multiply_mod(f, t, n)) / static_cast<double>(n);
}

}  // namespace sfft::detail
