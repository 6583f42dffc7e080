// SPDX-License-Identifier: Apache-2.0
// Weighted linear least squares with a few unknowns.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace sfft::video {

/// Sums rows one by one and solves the normal equations by Cholesky's method.
template <std::size_t N>
class SmallLeastSquares {
 public:
  void add(const std::array<double, N>& row, double value, double weight) noexcept {
    for (std::size_t i = 0; i < N; ++i) {
      const double scaled = weight * row[i];
      for (std::size_t j = 0; j <= i; ++j) matrix_[i][j] += scaled * row[j];
      right_[i] += scaled * value;
    }
  }

  /// Returns false and leaves `solution` unchanged if the rows do not determine it.
  bool solve(std::array<double, N>& solution) noexcept {
    if (!factorise()) return false;
    solution = solved(right_);
    return true;
  }

  /// Variance of unknown i for values of variance 1 and weights near 1; valid after solve().
  double variance(std::size_t i) const noexcept { return influence(i)[i]; }
  /// Derivatives of unknown i by each element of the right-hand side; valid after solve().
  std::array<double, N> influence(std::size_t i) const noexcept {
    std::array<double, N> unit{};
    unit[i] = 1;
    return solved(unit);
  }

 private:
  bool factorise() noexcept {
    // Unknowns have different units: a pivot is small relative to the original diagonal.
    constexpr double kSingular = 1e-10;
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = matrix_[i][j];
        for (std::size_t m = 0; m < j; ++m) sum -= factor_[i][m] * factor_[j][m];
        if (i == j) {
          if (!(sum > kSingular * matrix_[i][i])) return false;
          factor_[i][i] = std::sqrt(sum);
        } else {
          factor_[i][j] = sum / factor_[j][j];
        }
      }
    }
    return true;
  }

  std::array<double, N> solved(std::array<double, N> right) const noexcept {
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j < i; ++j) right[i] -= factor_[i][j] * right[j];
      right[i] /= factor_[i][i];
    }
    for (std::size_t i = N; i-- > 0;) {
      for (std::size_t j = i + 1; j < N; ++j) right[i] -= factor_[j][i] * right[j];
      right[i] /= factor_[i][i];
    }
    return right;
  }

  double matrix_[N][N]{};
  double factor_[N][N]{};
  std::array<double, N> right_{};
};

}  // namespace sfft::video
