// SPDX-License-Identifier: Apache-2.0
// Finds rows through the Cholesky factor of a regularised Gram matrix, with a few refinement passes; falls
// back to an orthonormal basis by Gram–Schmidt if the condition number is too large.
#include "template/flat/flat_recovery.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/base/math/complex.hpp"

namespace sfft::detail {

namespace {

/// Added to the unit diagonal of Gram matrices, above their rounding. Columns at the end of the window's
/// reach are small and nearly parallel; this ridge keeps their weights small, and further passes remove its
/// effect on the larger columns (iterated Tikhonov regularisation).
constexpr double kRidge = 2e-14;
constexpr int kPasses = 4;
/// If less than this remains of a unit column after orthogonalisation, it is rounding.
constexpr double kRounding = 1e-14;

/// Σ conj(a) b, in four independent sums.
std::complex<double> inner_product(const std::vector<std::complex<double>>& a,
                                   const std::vector<std::complex<double>>& b) {
  std::complex<double> sums[4];
  for (std::size_t l = 0; l < a.size(); ++l) sums[l % 4] += times(std::conj(a[l]), b[l]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double norm2(const std::vector<std::complex<double>>& vector) {
  double sum = 0;
  for (const std::complex<double>& value : vector) sum += std::norm(value);
  return sum;
}

}  // namespace

FlatSystem::FlatSystem(std::size_t row_buckets, std::size_t delays)
    : p_(row_buckets), r_(delays), line_(2 * row_buckets * delays + 2) {}

void FlatSystem::clear() {
  shapes_.clear();
  turns_.clear();
  norms_.clear();
}

void FlatSystem::add(const double* shape, const Complex* turns) {
  double sum = 0;
  for (std::size_t q = 0; q < p_; ++q) sum += shape[q] * shape[q];
  if (sum == 0) return;
  const double norm = std::sqrt(sum * static_cast<double>(r_));
  for (std::size_t q = 0; q < p_; ++q) shapes_.push_back(shape[q] / norm);
  turns_.push_back(turns);
  norms_.push_back(norm);
}

double FlatSystem::gain() {
  factor();
  // The last diagonal element is the sine of the angle between the last column and all others.
  const double own = factor_re_.back() * norms_.back();
  return 1 / (own * own);
}

std::vector<std::complex<double>> FlatSystem::row(double leakage) {
  std::vector<Complex> row(dimensions());
  double leak = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    std::vector<Complex> excess = read(row);
    excess.back() -= 1.0;
    leak = 0;
    for (std::size_t v = 0; v < size(); ++v) leak = std::max(leak, std::abs(excess[v]) * norms_[v]);
    if (leak <= leakage * norms_.back()) break;
    solve(excess);
    remove(excess, row);
  }
  // The Gram matrix squares the condition number, so some rows in double precision need the slower method.
  if (!(leak <= leakage * norms_.back())) {
    row = column(size() - 1);
    make_basis(size() - 1);
    project(row);
    const double power = norm2(row);
    for (Complex& weight : row) weight = std::conj(weight) / power;
  }
  for (Complex& weight : row) weight /= norms_.back();
  return row;
}

void FlatSystem::start_discovery_rows() {
  make_basis(size());
}

std::vector<std::complex<double>> FlatSystem::discovery_row(std::vector<Complex> vector) {
  project(vector);
  const double norm = std::sqrt(norm2(vector));
  for (Complex& weight : vector) weight /= norm;
  // The next ones are orthogonal to it, so that their readings are independent.
  basis_.push_back(vector);
  for (Complex& weight : vector) weight = std::conj(weight);
  return vector;
}

/// The lower half of the Gram matrix of the loaded columns: over (q, j) it is the product of two small Gram
/// matrices, of the shapes and of the turns. All loops here and in factor() run along rows without a running
/// sum, so that they vectorise in strict arithmetic.
void FlatSystem::make_gram() {
  const std::size_t size = norms_.size();
  const std::size_t p = p_;
  const std::size_t r = r_;
  transposed_.resize((p + 2 * r) * size);
  double* turns_re = &transposed_[p * size];
  double* turns_im = turns_re + r * size;
  for (std::size_t v = 0; v < size; ++v) {
    for (std::size_t q = 0; q < p; ++q) transposed_[q * size + v] = shapes_[v * p + q];
    for (std::size_t l = 0; l < r; ++l) {
      turns_re[l * size + v] = turns_[v][l].real();
      turns_im[l * size + v] = turns_[v][l].imag();
    }
  }
  factor_re_.assign(size * size, 0.0);
  factor_im_.assign(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    double* __restrict re = &factor_re_[i * size];
    double* __restrict im = &factor_im_[i * size];
    for (std::size_t l = 0; l < r; ++l) {
      const double* own_re = turns_re + l * size;
      const double* own_im = turns_im + l * size;
      for (std::size_t j = 0; j <= i; ++j) {
        re[j] += own_re[i] * own_re[j] + own_im[i] * own_im[j];
        im[j] += own_re[i] * own_im[j] - own_im[i] * own_re[j];
      }
    }
    double* __restrict shape = line_.data();
    std::fill_n(shape, i + 1, 0.0);
    for (std::size_t q = 0; q < p; ++q) {
      const double* row = &transposed_[q * size];
      for (std::size_t j = 0; j <= i; ++j) shape[j] += row[i] * row[j];
    }
    for (std::size_t j = 0; j <= i; ++j) {
      re[j] *= shape[j];
      im[j] *= shape[j];
    }
    re[i] += kRidge;
  }
}

/// Cholesky factorisation in place.
void FlatSystem::factor() {
  make_gram();
  const std::size_t size = norms_.size();
  double* __restrict pivots_re = line_.data();
  double* __restrict pivots_im = pivots_re + size;
  for (std::size_t j = 0; j < size; ++j) {
    const double diagonal = std::sqrt(std::max(factor_re_[j * size + j], kRidge));
    factor_re_[j * size + j] = diagonal;
    for (std::size_t i = j + 1; i < size; ++i) {
      pivots_re[i] = factor_re_[i * size + j] /= diagonal;
      pivots_im[i] = factor_im_[i * size + j] /= diagonal;
    }
    for (std::size_t i = j + 1; i < size; ++i) {
      double* __restrict re = &factor_re_[i * size];
      double* __restrict im = &factor_im_[i * size];
      const double a = pivots_re[i];
      const double b = pivots_im[i];
      for (std::size_t l = j + 1; l <= i; ++l) {
        re[l] -= a * pivots_re[l] + b * pivots_im[l];
        im[l] -= b * pivots_re[l] - a * pivots_im[l];
      }
    }
  }
}

/// Solves Gram · x = right side in place.
void FlatSystem::solve(std::vector<Complex>& x) const {
  const std::size_t size = norms_.size();
  const auto at = [&](std::size_t i, std::size_t j) {
    return Complex(factor_re_[i * size + j], factor_im_[i * size + j]);
  };
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) x[i] -= times(at(i, j), x[j]);
    x[i] /= factor_re_[i * size + i];
  }
  for (std::size_t i = size; i-- > 0;) {
    x[i] /= factor_re_[i * size + i];
    for (std::size_t j = 0; j < i; ++j) x[j] -= times(std::conj(at(i, j)), x[i]);
  }
}

/// Conjugated readings of a row over (q, j) for each loaded column, in the transposed layout that make_gram()
/// left.
std::vector<std::complex<double>> FlatSystem::read(const std::vector<Complex>& row) {
  const std::size_t size = norms_.size();
  const std::size_t p = p_;
  const std::size_t r = r_;
  sums_.assign(4 * size, 0.0);
  double* __restrict reads_re = sums_.data();
  double* __restrict reads_im = reads_re + size;
  double* __restrict sum_re = reads_im + size;
  double* __restrict sum_im = sum_re + size;
  for (std::size_t q = 0; q < p; ++q) {
    std::fill_n(sum_re, 2 * size, 0.0);
    for (std::size_t l = 0; l < r; ++l) {
      const double a = row[q * r + l].real();
      const double b = row[q * r + l].imag();
      const double* turns_re = &transposed_[(p + l) * size];
      const double* turns_im = turns_re + r * size;
      for (std::size_t v = 0; v < size; ++v) {
        sum_re[v] += a * turns_re[v] - b * turns_im[v];
        sum_im[v] += a * turns_im[v] + b * turns_re[v];
      }
    }
    const double* shape = &transposed_[q * size];
    for (std::size_t v = 0; v < size; ++v) {
      reads_re[v] += shape[v] * sum_re[v];
      reads_im[v] -= shape[v] * sum_im[v];
    }
  }
  std::vector<Complex> reads(size);
  for (std::size_t v = 0; v < size; ++v) reads[v] = {reads_re[v], reads_im[v]};
  return reads;
}

/// row −= conj(columns · coefficients).
void FlatSystem::remove(const std::vector<Complex>& coefficients, std::vector<Complex>& row) const {
  const std::size_t p = p_;
  const std::size_t r = r_;
  for (std::size_t v = 0; v < norms_.size(); ++v) {
    for (std::size_t q = 0; q < p; ++q) {
      const Complex scaled = coefficients[v] * shapes_[v * p + q];
      for (std::size_t l = 0; l < r; ++l) row[q * r + l] -= std::conj(times(scaled, turns_[v][l]));
    }
  }
}

std::vector<std::complex<double>> FlatSystem::column(std::size_t v) const {
  std::vector<Complex> values;
  values.reserve(dimensions());
  for (std::size_t q = 0; q < p_; ++q) {
    for (std::size_t l = 0; l < r_; ++l) values.push_back(shapes_[v * p_ + q] * turns_[v][l]);
  }
  return values;
}

/// Makes an orthonormal basis of the first `count` columns by Gram–Schmidt, large ones first.
void FlatSystem::make_basis(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return norms_[a] > norms_[b]; });
  basis_.clear();
  for (const std::size_t v : order) {
    std::vector<Complex> vector = column(v);
    project(vector);
    const double norm = std::sqrt(norm2(vector));
    if (norm <= kRounding) continue;
    for (Complex& value : vector) value /= norm;
    basis_.push_back(std::move(vector));
  }
}

/// Removes a vector's projection onto the basis, a second time if the first removed most of its power,
/// because rounding then shows. Twice is enough (Giraud, Langou and Rozložník 2005).
void FlatSystem::project(std::vector<Complex>& vector) const {
  for (int pass = 0; pass < 2; ++pass) {
    const double before = norm2(vector);
    for (const auto& other : basis_) {
      const Complex overlap = inner_product(other, vector);
      for (std::size_t l = 0; l < vector.size(); ++l) vector[l] -= times(overlap, other[l]);
    }
    if (norm2(vector) > 0.25 * before) return;
  }
}

}  // namespace sfft::detail
