// SPDX-License-Identifier: Apache-2.0
// Half spectra of real signals by definition: packed and unpacked rows, and inverse transforms.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

namespace sfft::test {

/// exp(−2πi j/n).
inline std::complex<double> root_of_one(std::size_t j, std::size_t n) {
  return std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n));
}

/// Returns twice the FFT of the n pairs x[2t] + i x[2t+1] of a row. The input is the n + 1 kept values of the
/// row's spectrum and of its mirror row's. The mirror row has the other dimensions' frequencies negated; a
/// single line is its own mirror. Values 0 and n of a row and of its mirror are conjugates; the parts that
/// contradict this are dropped.
inline std::vector<std::complex<double>> packed_real(const std::vector<std::complex<double>>& x,
                                                     const std::vector<std::complex<double>>& mirror) {
  constexpr std::complex<double> kI(0, 1);
  const std::size_t n = x.size() - 1;
  std::vector<std::complex<double>> z(n);
  for (std::size_t k = 0; k < n; ++k) {
    std::complex<double> own = x[k], other = std::conj(mirror[n - k]);
    if (k == 0) {
      own = 0.5 * (own + std::conj(mirror[0]));
      other = 0.5 * (other + x[n]);
    }
    z[k] = own + other + kI * std::conj(root_of_one(k, 2 * n)) * (own - other);
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

/// Returns the real signal of any half spectrum, shape (n1, …, nD/2 + 1), as numpy.fft.irfftn does: complex
/// inverse transforms along all dimensions but the last, then sums over the last one that ignore the
/// imaginary parts of values 0 and nD/2. Includes the factor 1/N.
inline std::vector<std::complex<double>> inverse_of_half_spectrum(std::vector<std::complex<double>> x,
                                                                  std::span<const std::int64_t> extents) {
  const auto n = static_cast<std::size_t>(extents.back()), kept = n / 2 + 1;
  std::size_t inner = kept;
  for (std::size_t d = extents.size() - 1; d-- > 0;) {
    const auto length = static_cast<std::size_t>(extents[d]);
    std::vector<std::complex<double>> sums(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t at = i / inner % length, first = i / inner / length * length;
      for (std::size_t f = 0; f < length; ++f)
        sums[i] += x[(first + f) * inner + i % inner] * std::conj(root_of_one(f * at % length, length));
      sums[i] /= static_cast<double>(length);
    }
    x = sums;
    inner *= length;
  }
  std::vector<std::complex<double>> signal;
  for (std::size_t row = 0; row < x.size(); row += kept) {
    for (std::size_t t = 0; t < n; ++t) {
      double sum = 0;
      for (std::size_t f = 0; f < kept; ++f) {
        const double term = (x[row + f] * std::conj(root_of_one(f * t % n, n))).real();
        sum += f == 0 ? x[row].real() : 2 * f == n ? x[row + f].real() * (t % 2 == 0 ? 1 : -1) : 2 * term;
      }
      signal.emplace_back(sum / static_cast<double>(n));
    }
  }
  return signal;
}

}  // namespace sfft::test
