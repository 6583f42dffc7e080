// SPDX-License-Identifier: Apache-2.0
// Unequally spaced FFT: evaluates a sparse spectrum along an arithmetic progression of samples. AAFFT owes
// its speed to it (Gilbert, Muthukrishnan, Strauss 2005, section 4). This one uses Gaussian gridding
// (Greengard, Lee 2004).
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/peers/bucket_fft.hpp"

namespace sfft::peers {

class Usfft {
 public:
  /// For progressions of `points` samples, which must be an even number.
  explicit Usfft(std::int64_t points);

  /// Sets the frequencies, in cycles per sample, in [0, 1). Their weights serve any number of evaluations.
  void place(std::span<const double> frequencies);
  /// samples[j] -= Σ_f coefficients[f] exp(2πi frequencies[f] j), 0 <= j < points.
  void subtract(std::span<const std::complex<double>> coefficients, std::span<std::complex<double>> samples);

 private:
  static constexpr std::int64_t kSpread = 10;  ///< grid points on either side: errors of about 1e-10
  static constexpr std::int64_t kOversampling = 2;

  struct Term {
    std::int64_t first;           ///< grid index of the first weight, modulo the grid
    std::complex<double> centre;  ///< phase that moves sample 0 to the middle of the progression
    double weights[2 * kSpread + 1];
  };

  std::int64_t points_;
  double width_;  ///< τ of the paper
  BucketFft<double> fft_;
  std::vector<std::complex<double>> grid_;
  std::vector<double> correction_;  ///< correction of sample j - points/2
  std::vector<Term> terms_;
};

}  // namespace sfft::peers
