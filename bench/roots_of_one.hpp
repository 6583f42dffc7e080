// SPDX-License-Identifier: Apache-2.0
// Tables of roots of unity for references that are independent of the library.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <vector>

namespace sfft::test {

/// exp(2 pi i k/n) for k = 0..n-1, computed in long double and rounded once. Most are products of two roots,
/// because sines in long double are slow and references need millions of roots.
template <class Real>
std::vector<std::complex<Real>> roots_of_one(std::int64_t n) {
  using Long = long double;
  struct Root {
    Long re, im;
  };
  const auto block = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  const auto every = [&](std::int64_t step) {
    std::vector<Root> roots;
    for (std::int64_t k = 0; k < block; ++k) {
      const Long angle = 2 * std::numbers::pi_v<Long> * static_cast<Long>(k * step) / static_cast<Long>(n);
      roots.push_back({std::cos(angle), std::sin(angle)});
    }
    return roots;
  };
  const std::vector<Root> fine = every(1), coarse = every(block);
  std::vector<std::complex<Real>> roots(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    const Root a = coarse[static_cast<std::size_t>(k / block)], b = fine[static_cast<std::size_t>(k % block)];
    roots[static_cast<std::size_t>(k)] = {static_cast<Real>(a.re * b.re - a.im * b.im),
                                          static_cast<Real>(a.re * b.im + a.im * b.re)};
  }
  return roots;
}

}  // namespace sfft::test
