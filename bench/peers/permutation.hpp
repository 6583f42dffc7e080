// SPDX-License-Identifier: Apache-2.0
// Spectrum permutation for power-of-two lengths: i ↦ σ·i + τ modulo N with σ odd (SODA 2012, section 2).
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace sfft::peers {

/// σ is odd, so that its inverse modulo a power of two exists.
struct Permutation {
  std::uint64_t sigma = 1, inverse = 1, tau = 0;

  template <class Random>
  static Permutation draw(Random& random, std::uint64_t points) {
    Permutation drawn;
    drawn.sigma = (random() & (points - 1)) | 1;
    drawn.tau = random() & (points - 1);
    // Newton's iteration for the inverse modulo 2^64. Each step doubles the number of correct bits, starting
    // from three.
    std::uint64_t inverse = drawn.sigma;
    for (int step = 0; step < 5; ++step) inverse *= 2 - drawn.sigma * inverse;
    drawn.inverse = inverse & (points - 1);
    return drawn;
  }
};

/// exp(2πi p/N) for a power of two N, from two tables of about √N entries.
class Roots {
 public:
  explicit Roots(std::uint64_t points)
      : mask_(points - 1), shift_(static_cast<unsigned>(std::countr_zero(points)) / 2) {
    const double turn = 2 * std::numbers::pi / static_cast<double>(points);
    const std::uint64_t fine = std::uint64_t{1} << shift_;
    for (std::uint64_t p = 0; p < fine; ++p) fine_.push_back(std::polar(1.0, turn * static_cast<double>(p)));
    for (std::uint64_t p = 0; p < points; p += fine) {
      coarse_.push_back(std::polar(1.0, turn * static_cast<double>(p)));
    }
  }

  /// `p` is reduced modulo N, so products may be passed directly.
  std::complex<double> operator()(std::uint64_t p) const noexcept {
    const std::complex<double> a = coarse_[(p & mask_) >> shift_];
    const std::complex<double> b = fine_[p & ((std::uint64_t{1} << shift_) - 1)];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  std::uint64_t mask_;
  unsigned shift_;
  std::vector<std::complex<double>> fine_, coarse_;
};

/// Products without the tests for infinities that operator* makes.
template <class Real>
std::complex<Real> times(std::complex<Real> a, std::complex<Real> b) noexcept {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace sfft::peers
