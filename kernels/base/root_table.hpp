// SPDX-License-Identifier: Apache-2.0
// Roots of unity for lengths too long for a full table.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/base/index.hpp"

namespace sfft::detail {

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

  /// Complex product without the special cases for infinities.
  static std::complex<double> times(const std::complex<double>& a, const std::complex<double>& b) noexcept {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  /// i·a
  static std::complex<double> times_i(const std::complex<double>& a) noexcept {
    return {-a.imag(), a.real()};
  }

 private:
  int shift_ = 0;
  std::vector<std::complex<double>> coarse_, fine_;
};

}  // namespace sfft::detail
