// SPDX-License-Identifier: Apache-2.0
// Allocation-free small solvers: Gaussian elimination with pivoting, least squares by normal equations, and
// linear prediction, which finds the roots of its polynomial by Laguerre's method with deflation.
#include "template/discovery/fit.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/base/math/roots_of_unity.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

double turns_in_circle(Complex z) noexcept {
  const double turns = std::atan2(z.imag(), z.real()) / (2 * std::numbers::pi);
  return turns < 0 ? turns + 1 : turns;
}

/// The square root with non-negative real part, without the library's handling of extreme values.
Complex root_of(Complex z) noexcept {
  const double large = std::sqrt(0.5 * (std::sqrt(std::norm(z)) + std::fabs(z.real())));
  if (!(large > 0)) return 0;
  const double small = 0.5 * std::fabs(z.imag()) / large;
  return z.real() >= 0 ? Complex(large, std::copysign(small, z.imag()))
                       : Complex(small, std::copysign(large, z.imag()));
}

/// One root of z^order + Σ a_i z^i near the unit circle (Laguerre).
Complex polynomial_root(int order, const Complex* a) noexcept {
  const double n = order;
  Complex z = root_of_turns(0.1);
  for (int step = 0; step < 40; ++step) {
    Complex value = 1;
    Complex slope = 0;
    Complex bend = 0;  // half the second derivative
    for (int j = order - 1; j >= 0; --j) {
      bend = times(bend, z) + slope;
      slope = times(slope, z) + value;
      value = times(value, z) + a[j];
    }
    if (std::norm(value) < 1e-28) break;
    const Complex root = root_of((n - 1) * ((n - 1) * times(slope, slope) - 2 * n * times(value, bend)));
    const Complex divisor = times_conj(root, slope).real() < 0 ? slope - root : slope + root;
    const double norm = std::norm(divisor);
    if (!(norm > 1e-280)) break;
    const Complex move = (n / norm) * times_conj(value, divisor);
    z -= move;
    if (std::norm(move) < 1e-26) break;
  }
  return z;  // close enough; the fit's residual decides
}

/// All roots of z^order + Σ a_i z^i for order > 1, by deflation. Overwrites a.
void polynomial_roots(int order, Complex* a, Complex* roots) noexcept {
  for (; order > 2; --order) {
    const Complex z = polynomial_root(order, a);
    roots[order - 1] = z;
    Complex carry = 1;
    for (int j = order - 1; j >= 0; --j) {
      const Complex own = a[j];
      a[j] = carry;
      carry = times(carry, z) + own;
    }
  }
  const Complex half = -0.5 * a[1];
  const Complex apart = root_of(times(half, half) - a[0]);
  roots[0] = half + apart;
  roots[1] = half - apart;
}

}  // namespace

bool solve_small(int n, Complex a[kDiscoveryMembers][kDiscoveryMembers], Complex* b) noexcept {
  for (int column = 0; column < n; ++column) {
    int pivot = column;
    for (int row = column + 1; row < n; ++row) {
      if (std::norm(a[row][column]) > std::norm(a[pivot][column])) pivot = row;
    }
    const double norm = std::norm(a[pivot][column]);
    if (!(norm > 1e-280)) return false;
    if (pivot != column) {
      std::swap_ranges(a[pivot], a[pivot] + n, a[column]);
      std::swap(b[pivot], b[column]);
    }
    const Complex inverse = std::conj(a[column][column]) / norm;
    for (int row = column + 1; row < n; ++row) {
      const Complex factor = times(a[row][column], inverse);
      for (int i = column; i < n; ++i) a[row][i] -= times(factor, a[column][i]);
      b[row] -= times(factor, b[column]);
    }
    for (int i = column; i < n; ++i) a[column][i] = times(a[column][i], inverse);
    b[column] = times(b[column], inverse);
  }
  for (int row = n - 2; row >= 0; --row) {
    for (int i = row + 1; i < n; ++i) b[row] -= times(a[row][i], b[i]);
  }
  return true;
}

DiscoveryFit fit_bucket(int members, int delays, const DiscoveryVector* roots,
                        const DiscoveryVector& y) noexcept {
  DiscoveryFit fit;
  const auto project = [&](int i) {
    Complex sum = 0;
    for (int j = 0; j < delays; ++j) sum += times_conj(y[j], roots[i][j]);
    return sum;
  };
  if (members == 1) {
    fit.values[0] = project(0) / static_cast<double>(delays);
    fit.gain[0] = 1.0 / delays;
  } else if (members == 2) {
    // The common case needs no general solver.
    Complex cross = 0;
    for (int j = 0; j < delays; ++j) cross += times_conj(roots[0][j], roots[1][j]);
    const double own = delays;
    const double determinant = own * own - std::norm(cross);
    if (!(determinant > 1e-14 * own * own)) return fit;
    const Complex first = project(0);
    const Complex second = project(1);
    fit.values[0] = (own * first - times_conj(second, cross)) / determinant;
    fit.values[1] = (own * second - times(first, cross)) / determinant;
    fit.gain[0] = fit.gain[1] = own / determinant;
  } else {
    Complex gram[kDiscoveryMembers][kDiscoveryMembers];
    for (int i = 0; i < members; ++i) {
      fit.values[i] = project(i);
      gram[i][i] = delays;
      for (int l = 0; l < i; ++l) {
        Complex sum = 0;
        for (int j = 0; j < delays; ++j) sum += times_conj(roots[l][j], roots[i][j]);
        gram[i][l] = sum;
        gram[l][i] = std::conj(sum);
      }
    }
    // The gains are the diagonal of the inverse.
    for (int i = 0; i < members; ++i) {
      Complex copy[kDiscoveryMembers][kDiscoveryMembers];
      for (int r = 0; r < members; ++r) std::copy(gram[r], gram[r] + members, copy[r]);
      Complex unit[kDiscoveryMembers] = {};
      unit[i] = 1;
      if (!solve_small(members, copy, unit)) return fit;
      fit.gain[i] = std::abs(unit[i].real());
    }
    if (!solve_small(members, gram, fit.values)) return fit;
  }
  for (int j = 0; j < delays; ++j) {
    Complex rest = y[j];
    for (int i = 0; i < members; ++i) rest -= times(fit.values[i], roots[i][j]);
    fit.residual += std::norm(rest);
  }
  fit.ok = true;
  return fit;
}

bool prony(const DiscoveryVector& y, int delays, int order, double* turns) noexcept {
  if (order == 1) {
    // A coarse phase from one delay to the next, refined by the phase from the first half to the second.
    Complex near = 0;
    Complex far = 0;
    const int half = delays / 2;
    for (int j = 0; j + 1 < delays; ++j) near += times_conj(y[j + 1], y[j]);
    for (int j = 0; j + half < delays; ++j) far += times_conj(y[j + half], y[j]);
    const double coarse = turns_in_circle(near);
    const double fine = turns_in_circle(far);
    turns[0] = (std::floor(half * coarse - fine + 0.5) + fine) / half;
    return true;
  }
  if (2 * order > delays) return false;
  Complex gram[kDiscoveryMembers][kDiscoveryMembers] = {};
  Complex a[kDiscoveryMembers] = {};
  for (int n = 0; n + order < delays; ++n) {
    for (int i = 0; i < order; ++i) {
      for (int l = 0; l < order; ++l) gram[i][l] += times_conj(y[n + l], y[n + i]);
      a[i] -= times_conj(y[n + order], y[n + i]);
    }
  }
  if (!solve_small(order, gram, a)) return false;
  Complex roots[kDiscoveryMembers];
  polynomial_roots(order, a, roots);
  for (int i = 0; i < order; ++i) turns[i] = turns_in_circle(roots[i]);
  return true;
}

}  // namespace sfft::detail
