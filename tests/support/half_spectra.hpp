// SPDX-License-Identifier: Apache-2.0
// Packs and unpacks the half spectra of real rows of a grid, by definition.
#pragma once

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace sfft::test {

/// exp(−2πi j/n).
inline std::complex<double> root_of_one(std::size_t j, std::size_t n) {
  return std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n));
}

/// Returns twice the FFT of the n pairs x[2t] + i x[2t+1] of a row. The input is the n + 1 kept values of the
/// row's spectrum and of its mirror row's. The mirror row has the other dimensions' frequencies negated; a
/// single line is its own mirror.
inline std::vector<std::complex<double>> packed_real(const std::vector<std::complex<double>>& x,
                                                     const std::vector<std::complex<double>>& mirror) {
  constexpr std::complex<double> kI(0, 1);
  const std::size_t n = x.size() - 1;
  std::vector<std::complex<double>> z(n);
  for (std::size_t k = 0; k < n; ++k) {
    const std::complex<double> other = std::conj(mirror[n - k]);
    z[k] = x[k] + other + kI * std::conj(root_of_one(k, 2 * n)) * (x[k] - other);
  }
  return z;
}

/// Computes half a spectrum from FFTs of pairs: the inverse of packed_real(), but without the factor of two.
inline std::vector<std::complex<double>> unpacked_real(const std::vector<std::complex<double>>& z,
                                                       const std::vector<std::complex<double>>& mirror) {
  constexpr std::complex<double> kTwiceI(0, 2);
  const std::size_t n = z.size();
  std::vector<std::complex<double>> x(n + 1);
  for (std::size_t k = 0; k <= n; ++k) {
    const std::complex<double> other = std::conj(mirror[(n - k) % n]);
    x[k] = 0.5 * (z[k % n] + other) + root_of_one(k, 2 * n) * (z[k % n] - other) / kTwiceI;
  }
  return x;
}

}  // namespace sfft::test
