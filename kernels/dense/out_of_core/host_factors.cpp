// SPDX-License-Identifier: Apache-2.0
// The root of row r and column c is that of row r mod 16 times that of row r − r mod 16, so few roots are
// looked up.
#include "kernels/dense/out_of_core/host_factors.hpp"

#include <algorithm>
#include <vector>

#include "kernels/cpu/stages/layout.hpp"

namespace sfft::detail {

template <class Real>
void HostFactors<Real>::multiply(const PieceFactors& by, std::int64_t column, std::int64_t count, Real* re,
                                 Real* im) const {
  if (by.twiddles.length == 0) {
    const auto scale = static_cast<Real>(by.scale);
    std::for_each(re, re + by.rows * count, [&](Real& value) { value *= scale; });
    std::for_each(im, im + by.rows * count, [&](Real& value) { value *= scale; });
  } else if (by.twiddles.element == 1) {
    multiply_lines(by, column, count, re, im);
  } else {
    multiply_elements(by, column, count, re, im);
  }
}

template <class Real>
void HostFactors<Real>::multiply_lines(const PieceFactors& by, std::int64_t column, std::int64_t count,
                                       Real* re, Real* im) const {
  constexpr std::int64_t kNear = 16;
  const std::int64_t near_rows = std::min(kNear, by.rows);
  std::vector<Real> memory(static_cast<std::size_t>(2 * (near_rows + 1) * count));
  Real *const near_re = memory.data(), *const near_im = near_re + near_rows * count,
              *const far_re = near_im + near_rows * count, *const far_im = far_re + count;
  const auto put = [](const std::complex<double>& root, Real& to_re, Real& to_im) {
    to_re = static_cast<Real>(root.real());
    to_im = static_cast<Real>(root.imag());
  };
  PieceFactors unscaled = by;
  unscaled.scale = 1;
  for (std::int64_t r = 0; r < near_rows; ++r)
    for (std::int64_t c = 0; c < count; ++c)
      put(root(unscaled, r * (column + c)), near_re[r * count + c], near_im[r * count + c]);
  for (std::int64_t row = 0; row < by.rows; row += kNear) {
    for (std::int64_t c = 0; c < count; ++c) put(root(by, row * (column + c)), far_re[c], far_im[c]);
    cpu::layout_kernels<Real>().turn_rows(re + row * count, im + row * count, std::min(kNear, by.rows - row),
                                          count, near_re, near_im, far_re, far_im);
  }
}

/// Multiplies an element, or a part of one, by the same factor.
template <class Real>
void HostFactors<Real>::multiply_elements(const PieceFactors& by, std::int64_t column, std::int64_t count,
                                          Real* re, Real* im) const {
  const std::int64_t element = by.twiddles.element;
  for (std::int64_t row = 0; row < by.rows; ++row, re += count, im += count) {
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t line = (column + done) / element,
                         end = std::min(count, (line + 1) * element - column);
      const std::complex<double> factor = root(by, row * line);
      const auto c = static_cast<Real>(factor.real()), s = static_cast<Real>(factor.imag());
      for (; done < end; ++done) {
        const Real x = re[done], y = im[done];
        re[done] = x * c - y * s;
        im[done] = x * s + y * c;
      }
    }
  }
}

template class HostFactors<float>;
template class HostFactors<double>;

}  // namespace sfft::detail
