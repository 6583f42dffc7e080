// SPDX-License-Identifier: Apache-2.0
// One small linear system of a flat-window plan: the columns in a run of buckets, and least-noise rows that
// read the last of them, or none.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace sfft::detail {

/// Rows and columns are over (q, j), bucket q < p of line j < r, whitened so that noise is a row's squared
/// norm. A column is the product of a real shape over the buckets and of phases over the lines.
class FlatSystem {
 public:
  using Complex = std::complex<double>;

  FlatSystem(std::size_t row_buckets, std::size_t delays);

  void clear();
  /// `shape` has p values, `turns` r of modulus one; `turns` must stay alive until clear(). A zero column is
  /// ignored.
  void add(const double* shape, const Complex* turns);
  std::size_t size() const noexcept { return norms_.size(); }
  std::size_t dimensions() const noexcept { return p_ * r_; }

  /// The squared norm of the best row that reads the last column as 1 and the others as 0; very large if they
  /// span it.
  double gain();
  /// That row, after gain(). It reads every other column as at most `leakage`, if rounding permits.
  std::vector<Complex> row(double leakage);

  /// Starts a series of orthonormal rows that reject all columns.
  void start_discovery_rows();
  /// The next row, derived from a random vector.
  std::vector<Complex> discovery_row(std::vector<Complex> vector);

 private:
  void make_gram();
  void factor();
  void solve(std::vector<Complex>& right_side) const;
  std::vector<Complex> read(const std::vector<Complex>& row);
  void remove(const std::vector<Complex>& coefficients, std::vector<Complex>& row) const;
  std::vector<Complex> column(std::size_t v) const;
  void make_basis(std::size_t count);
  void project(std::vector<Complex>& vector) const;

  std::size_t p_, r_;
  // Unit columns; `norms_` are their original norms.
  std::vector<double> shapes_;  ///< V × p
  std::vector<const Complex*> turns_;
  std::vector<double> norms_;
  std::vector<double> transposed_;  ///< shapes, real and imaginary turns, each a row over the columns
  std::vector<double> factor_re_, factor_im_;  ///< V × V, lower Cholesky factor of the Gram matrix
  std::vector<double> line_, sums_;            ///< scratch of the loops
  std::vector<std::vector<Complex>> basis_;
};

}  // namespace sfft::detail
