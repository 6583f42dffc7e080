// SPDX-License-Identifier: Apache-2.0
// Computes the transform by its definition, a direct sum. It is the reference of the FFT tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "bench/roots_of_one.hpp"

namespace sfft::test {

/// Σ_t x[t] exp(-2 pi i f t/n) along one axis: x has (outer, n, inner) elements.
inline std::vector<std::complex<double>> direct_dft_axis(const std::vector<std::complex<double>>& x,
                                                         std::int64_t outer, std::int64_t n,
                                                         std::int64_t inner) {
  constexpr std::int64_t kBlock = 64;  // sums in blocks, so that rounding errors do not grow as √n
  std::vector<std::complex<double>> part(static_cast<std::size_t>(inner));
  const std::vector<std::complex<double>> roots = roots_of_one<double>(n);
  std::vector<std::complex<double>> y(x.size());
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t f = 0; f < n; ++f) {
      std::complex<double>* out = &y[static_cast<std::size_t>((o * n + f) * inner)];
      std::int64_t turn = 0;
      for (std::int64_t block = 0; block < n; block += kBlock) {
        std::fill(part.begin(), part.end(), 0.0);
        for (std::int64_t t = block; t < std::min(n, block + kBlock); ++t) {
          const std::complex<double> root = std::conj(roots[static_cast<std::size_t>(turn)]);
          const std::complex<double>* in = &x[static_cast<std::size_t>((o * n + t) * inner)];
          for (std::size_t i = 0; i < part.size(); ++i) {
            const double re = in[i].real() * root.real() - in[i].imag() * root.imag();
            const double im = in[i].real() * root.imag() + in[i].imag() * root.real();
            part[i] += std::complex<double>(re, im);
          }
          turn += f;
          if (turn >= n) turn -= n;
        }
        for (std::size_t i = 0; i < part.size(); ++i) out[i] += part[i];
      }
    }
  }
  return y;
}

/// The forward transform of `lanes` interleaved signals on a grid whose slowest dimension comes first.
inline std::vector<std::complex<double>> direct_dft(std::vector<std::complex<double>> x,
                                                    std::span<const std::int64_t> grid,
                                                    std::int64_t lanes = 1) {
  std::int64_t inner = lanes;
  for (std::size_t d = grid.size(); d-- > 0; inner *= grid[d]) {
    const auto outer = static_cast<std::int64_t>(x.size()) / (inner * grid[d]);
    x = direct_dft_axis(x, outer, grid[d], inner);
  }
  return x;
}

/// The forward transform of one long signal at a few frequencies.
inline std::vector<std::complex<double>> direct_coefficients(const std::vector<std::complex<double>>& x,
                                                             std::span<const std::int64_t> frequencies) {
  const auto n = static_cast<std::int64_t>(x.size());
  constexpr std::int64_t kBlock = 256;
  const std::vector<std::complex<double>> roots = roots_of_one<double>(n);
  std::vector<std::complex<double>> y;
  for (const std::int64_t f : frequencies) {
    std::complex<double> sum = 0;
    std::int64_t turn = 0;
    for (std::int64_t block = 0; block < n; block += kBlock) {
      std::complex<double> part = 0;
      for (std::int64_t t = block; t < std::min(n, block + kBlock); ++t) {
        part += x[static_cast<std::size_t>(t)] * std::conj(roots[static_cast<std::size_t>(turn)]);
        turn += f;
        if (turn >= n) turn -= n;
      }
      sum += part;
    }
    y.push_back(sum);
  }
  return y;
}

/// Standard normal values, real and imaginary part, rounded to multiples of 2^-16 so that float holds them.
inline std::vector<std::complex<double>> random_signal(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<std::complex<double>> x(count);
  for (auto& value : x) {
    const double re = std::round(normal(generator) * 65536);
    const double im = std::round(normal(generator) * 65536);
    value = {re / 65536, im / 65536};
  }
  return x;
}

}  // namespace sfft::test
