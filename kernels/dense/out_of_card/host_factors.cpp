// SPDX-License-Identifier: Apache-2.0
// Factors of neighbouring columns are powers of one root: few are looked up.
#include "kernels/dense/out_of_card/host_factors.hpp"

#include <algorithm>

namespace sfft::detail {

namespace {

/// By factor·step^c. Several powers side by side, so that none has to wait for the one before.
template <class Real>
void multiply_by_powers(std::complex<double> factor, std::complex<double> step, std::int64_t count, Real* re,
                        Real* im) {
  constexpr std::int64_t kAtOnce = 8;
  double by_re[kAtOnce], by_im[kAtOnce];
  for (std::int64_t j = 0; j < kAtOnce; ++j, factor = RootTable::times(factor, step)) {
    by_re[j] = factor.real();
    by_im[j] = factor.imag();
  }
  for (int doubled = 1; doubled < kAtOnce; doubled *= 2) step = RootTable::times(step, step);
  const double step_re = step.real(), step_im = step.imag();
  const auto multiply = [&](std::int64_t c, std::int64_t j) {
    const double a = re[c + j], b = im[c + j];
    re[c + j] = static_cast<Real>(a * by_re[j] - b * by_im[j]);
    im[c + j] = static_cast<Real>(a * by_im[j] + b * by_re[j]);
    const double next = by_re[j] * step_re - by_im[j] * step_im;
    by_im[j] = by_re[j] * step_im + by_im[j] * step_re;
    by_re[j] = next;
  };
  std::int64_t c = 0;
  for (; c + kAtOnce <= count; c += kAtOnce) {
    for (std::int64_t j = 0; j < kAtOnce; ++j) multiply(c, j);
  }
  for (std::int64_t j = 0; c + j < count; ++j) multiply(c, j);
}

}  // namespace

template <class Real>
void HostFactors<Real>::multiply(const PieceFactors& by, std::int64_t row, std::int64_t column,
                                 std::int64_t count, Real* re, Real* im) const {
  const std::int64_t element = by.twiddles.element;
  const auto turn = [&](std::int64_t k) { return by.inverse ? std::conj(roots_(k)) : roots_(k); };
  if (by.twiddles.length == 0) return multiply_by_powers(by.scale, 1, count, re, im);
  const std::complex<double> step = turn(row);
  if (element == 1) return multiply_by_powers(by.scale * turn(row * column), step, count, re, im);
  for (std::int64_t done = 0; done < count;) {  // an element, or the part of one, by the same factor
    const std::int64_t line = (column + done) / element, end = std::min(count, (line + 1) * element - column);
    multiply_by_powers(by.scale * turn(row * line), 1, end - done, re + done, im + done);
    done = end;
  }
}

template class HostFactors<float>;
template class HostFactors<double>;

}  // namespace sfft::detail
