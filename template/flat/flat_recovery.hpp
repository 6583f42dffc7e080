// SPDX-License-Identifier: Apache-2.0
// The linear systems of a flat-window plan: which template frequencies are in a run of buckets, and the
// least-noise row of weights that reads one of them and rejects the others.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "kernels/base/math/filter.hpp"
#include "kernels/base/tables/flat_data.hpp"
#include "sfft/types.hpp"

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

/// The lines along which samples are taken.
struct FlatLines {
  std::array<std::int64_t, 3> sigma;
  std::vector<std::array<std::int64_t, 3>> delays;
  std::int64_t buckets;
  std::int64_t taps;         ///< M, a multiple of buckets
  std::int64_t row_buckets;  ///< p
  /// The lines cover the whole period of σ once (M = B), every frequency is exactly in a bucket, and the
  /// window is rectangular.
  bool full_period;
};

/// The longest period of a line: the least common multiple of the extents.
std::int64_t line_period(const Shape& shape);

class FlatLineSource {
 public:
  FlatLineSource(const Shape& shape, std::uint64_t seed);

  /// Sets sigma and `count` delays; the caller has set the other fields.
  void draw(std::int64_t count, FlatLines& lines);

 private:
  std::int64_t below(std::int64_t limit);
  std::array<std::int64_t, 3> piece(std::int64_t number, std::int64_t count, const FlatLines& lines);
  std::int64_t name(const std::array<std::int64_t, 3>& delay, const FlatLines& lines) const;

  Shape shape_;
  std::int64_t period_;
  std::mt19937_64 generator_;
};

/// The number of distinct samples on the lines.
std::int64_t count_samples(const Shape& shape, const FlatLines& lines);

/// The frequencies that a plan must separate: S and, for a real signal, −S.
struct FlatMember {
  std::array<std::int64_t, 3> f;
  std::int64_t coefficient;  ///< index into the support, or -1 for the conjugate of one
};

class FlatRecovery {
 public:
  FlatRecovery(const Shape& shape, std::span<const FlatMember> members, const KaiserWindow& kaiser,
               FlatLines lines);

  /// E|X̂ − X|² per unit of white tail energy for the best row of member `i` (in the constructor's order);
  /// infinite if its buckets cannot separate it from its neighbours.
  double gain(std::size_t i);
  /// Appends that row and its gain, which must be finite, to `data`.
  void append_row(std::size_t i, FlatPlanData& data);
  /// Appends up to `count` rows from `first_bucket` on that reject the whole template. Returns the number
  /// appended.
  std::int64_t append_probes(std::int64_t first_bucket, std::int64_t count, std::uint64_t seed,
                             FlatPlanData& data);

  const FlatLines& lines() const noexcept { return lines_; }
  const std::vector<double>& window() const noexcept { return window_; }

 private:
  using Complex = std::complex<double>;

  void make_window(const KaiserWindow& kaiser);
  void whiten();
  void hash_members(const Shape& shape, std::span<const FlatMember> members, const KaiserWindow& kaiser);
  std::int64_t run_start(std::size_t sorted) const noexcept;
  bool load(std::int64_t start, std::int64_t last);
  void load_column(std::size_t sorted, std::int64_t start);
  void append_weights(std::int64_t start, const std::vector<Complex>& row, Complex scale,
                      FlatPlanData& data) const;

  FlatLines lines_;
  std::int64_t points_;
  double leakage_;
  double reach_ = 0;  ///< half width of the main lobe in buckets
  std::vector<double> window_;
  std::vector<double> whitener_;  ///< p×p, inverse of the Cholesky factor of the buckets' noise covariance

  // Members sorted by position on the circle of buckets.
  std::vector<std::size_t> sorted_of_;
  std::vector<std::int64_t> bucket_;
  std::vector<double> offset_;
  std::vector<double> position_;
  std::vector<double> response_;  ///< per member, at the `response_width_` buckets around it
  std::int64_t response_width_ = 0;
  std::vector<Complex> turns_;  ///< member × r: exp(2πi f·τ_j/n)

  FlatSystem system_;  ///< the last one loaded
};

}  // namespace sfft::detail
