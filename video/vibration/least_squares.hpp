// SPDX-License-Identifier: Apache-2.0
// Solves small dense systems of normal equations.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace sfft::video {

/// Weighted normal equations A^T W A p = A^T W b, accumulated row by row and solved by Cholesky's method.
/// Columns that depend on earlier ones get the coefficient 0.
class NormalEquations {
 public:
  explicit NormalEquations(std::size_t columns) : n_(columns), matrix_(columns * columns), right_(columns) {}

  void add(std::span<const double> row, double value, double weight) {
    for (std::size_t i = 0; i < n_; ++i) {
      const double w = weight * row[i];
      for (std::size_t j = 0; j <= i; ++j) matrix_[i * n_ + j] += w * row[j];
      right_[i] += w * value;
    }
  }

  std::vector<double> solve() const {
    std::vector<double> factor = matrix_;
    std::vector<double> p = right_;
    constexpr double kRounding = 1e-12;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = matrix_[i * n_ + j];
        for (std::size_t k = 0; k < j; ++k) sum -= factor[i * n_ + k] * factor[j * n_ + k];
        if (i == j) {
          factor[i * n_ + i] = sum > kRounding * matrix_[i * n_ + i] ? std::sqrt(sum) : 0;
        } else {
          factor[i * n_ + j] = factor[j * n_ + j] > 0 ? sum / factor[j * n_ + j] : 0;
        }
      }
    }
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < i; ++k) p[i] -= factor[i * n_ + k] * p[k];
      p[i] = factor[i * n_ + i] > 0 ? p[i] / factor[i * n_ + i] : 0;
    }
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t k = i + 1; k < n_; ++k) p[i] -= factor[k * n_ + i] * p[k];
      p[i] = factor[i * n_ + i] > 0 ? p[i] / factor[i * n_ + i] : 0;
    }
    return p;
  }

 private:
  std::size_t n_;
  std::vector<double> matrix_, right_;  ///< the lower triangle, row-major
};

}  // namespace sfft::video
