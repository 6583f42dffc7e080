// SPDX-License-Identifier: Apache-2.0
// Roots of unity: one at a time from an angle in turns, all of an order, or those of a length that is too
// long for a full table. unit_root() in index.hpp is for exact fractions.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/base/math/complex.hpp"
#include "kernels/base/math/index.hpp"

namespace sfft::detail {

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

/// exp(2πi p/n) for p in [0, n).
class RootsOfUnity {
 public:
  explicit RootsOfUnity(std::int64_t n = 1) : n_(n) {
    constexpr std::int64_t kLongest = 4096;
    if (n > kLongest) return;
    table_.reserve(static_cast<std::size_t>(n));
    for (std::int64_t p = 0; p < n; ++p)
      table_.push_back(root_of_turns(static_cast<double>(p) / static_cast<double>(n)));
  }

  std::complex<double> operator()(std::int64_t p) const noexcept {
    return table_.empty() ? root_of_turns(static_cast<double>(p) / static_cast<double>(n_))
                          : table_[static_cast<std::size_t>(p)];
  }
  /// exp(2πi a b/n) for a, b in [0, n).
  std::complex<double> operator()(std::int64_t a, std::int64_t b) const noexcept {
    if (table_.empty()) return root_of_turns(turns_of(a, b, n_));
    return table_[static_cast<std::size_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b) %
                                           static_cast<std::uint32_t>(n_))];
  }

 private:
  std::int64_t n_;
  std::vector<std::complex<double>> table_;
};

/// exp(−2πi·k/length) for 0 ≤ k ≤ `max`: a product of two roots from tables of about √max entries.
class RootTable {
 public:
  RootTable() = default;
  RootTable(std::int64_t length, std::int64_t max) {
    while ((max >> shift_) > (std::int64_t{1} << shift_)) ++shift_;
    for (std::int64_t k = 0; k < (std::int64_t{1} << shift_); ++k)
      fine_.push_back(std::conj(unit_root(k % length, length)));
    for (std::int64_t k = 0; k <= max; k += std::int64_t{1} << shift_)
      coarse_.push_back(std::conj(unit_root(k % length, length)));
  }

  std::complex<double> operator()(std::int64_t k) const noexcept {
    return times(coarse_[static_cast<std::size_t>(k >> shift_)],
                 fine_[static_cast<std::size_t>(k & ((std::int64_t{1} << shift_) - 1))]);
  }

 private:
  int shift_ = 0;
  std::vector<std::complex<double>> coarse_, fine_;
};

}  // namespace sfft::detail
