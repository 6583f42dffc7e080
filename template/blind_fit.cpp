#include "template/blind_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/common/turns.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

double turns_in_circle(Complex z) noexcept {
  const double turns = std::atan2(z.imag(), z.real()) / (2 * std::numbers::pi);
  return turns < 0 ? turns + 1 : turns;
}

/// All roots of z^order + Σ a_i z^i at once (Durand and Kerner). The roots lie near the unit circle.
bool polynomial_roots(int order, const Complex* a, Complex* roots) noexcept {
  for (int i = 0; i < order; ++i) roots[i] = root_of_turns(0.1 + static_cast<double>(i) / order);
  for (int sweep = 0; sweep < 60; ++sweep) {
    double moved = 0;
    for (int i = 0; i < order; ++i) {
      Complex value = 1;
      for (int j = order - 1; j >= 0; --j) value = times(value, roots[i]) + a[j];
      Complex product = 1;
      for (int j = 0; j < order; ++j) {
        if (j != i) product = times(product, roots[i] - roots[j]);
      }
      const double norm = std::norm(product);
      if (!(norm > 1e-280)) return false;
      const Complex step = times_conj(value, product) / norm;
      roots[i] -= step;
      moved = std::max(moved, std::norm(step));
    }
    if (moved < 1e-26) return true;
  }
  return true;  // close enough to be judged by its residual
}

}  // namespace

bool solve_small(int n, Complex a[kBlindMembers][kBlindMembers], Complex* b) noexcept {
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

BlindFit fit_bucket(int members, int delays, const BlindVector* roots, const BlindVector& y) noexcept {
  BlindFit fit;
  const auto project = [&](int i) {
    Complex sum = 0;
    for (int j = 0; j < delays; ++j) sum += times_conj(y[j], roots[i][j]);
    return sum;
  };
  if (members == 1) {
    fit.values[0] = project(0) / static_cast<double>(delays);
    fit.gain[0] = 1.0 / delays;
  } else {
    Complex gram[kBlindMembers][kBlindMembers];
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
      Complex copy[kBlindMembers][kBlindMembers];
      for (int r = 0; r < members; ++r) std::copy(gram[r], gram[r] + members, copy[r]);
      Complex unit[kBlindMembers] = {};
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

bool prony(const BlindVector& y, int delays, int order, double* turns) noexcept {
  if (order == 1) {
    // The phase from one delay to the next, then from the first half to the second.
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
  Complex gram[kBlindMembers][kBlindMembers] = {};
  Complex a[kBlindMembers] = {};
  for (int n = 0; n + order < delays; ++n) {
    for (int i = 0; i < order; ++i) {
      for (int l = 0; l < order; ++l) gram[i][l] += times_conj(y[n + l], y[n + i]);
      a[i] -= times_conj(y[n + order], y[n + i]);
    }
  }
  if (!solve_small(order, gram, a)) return false;
  Complex roots[kBlindMembers];
  if (!polynomial_roots(order, a, roots)) return false;
  for (int i = 0; i < order; ++i) turns[i] = turns_in_circle(roots[i]);
  return true;
}

}  // namespace sfft::detail
