// SPDX-License-Identifier: Apache-2.0
// Flat window functions: a Dolph-Chebyshev window widened by a box in frequency (SODA 2012, section 2.2).
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/peers/permutation.hpp"

namespace sfft::peers {

/// Lengths are in units of a bucket's width N/B. The response is 1 within `box - lobe` of a bucket's centre,
/// below `leakage` beyond `box + lobe`, and one half at `box`. Taps are real and symmetric. There are about 2
/// B acosh(1/leakage) / (2π lobe) of them.
struct FlatWindowShape {
  std::int64_t buckets;
  double box, lobe, leakage;

  std::int64_t half() const;  ///< taps on either side of the centre
  std::int64_t taps() const { return 2 * half() + 1; }
};

template <class Real>
class FlatWindow {
 public:
  explicit FlatWindow(const FlatWindowShape& shape);

  std::int64_t buckets() const noexcept { return shape_.buckets; }
  std::int64_t half() const noexcept { return half_; }
  std::int64_t taps() const noexcept { return 2 * half_ + 1; }
  double reach() const noexcept { return shape_.box + shape_.lobe; }
  /// Points to tap 0. Taps run over -half() <= j <= half().
  const Real* centre() const noexcept { return taps_.data() + half_; }

  /// The response at `offset` buckets from the centre where it is above `leakage`, and 0 beyond.
  double response(double offset) const noexcept {
    const double at = std::abs(offset) * kSteps;
    const auto i = static_cast<std::size_t>(at);
    if (i + 2 >= response_.size()) return 0;
    // Cubic Lagrange interpolation on the points i-1 … i+2. The first entry of the table is that of -1.
    const double t = at - static_cast<double>(i);
    const double* p = response_.data() + i;
    return -t * (t - 1) * (t - 2) / 6 * p[0] + (t + 1) * (t - 1) * (t - 2) / 2 * p[1] -
           (t + 1) * t * (t - 2) / 2 * p[2] + (t + 1) * t * (t - 1) / 6 * p[3];
  }

 private:
  static constexpr int kSteps = 2048;  ///< table entries per bucket
  FlatWindowShape shape_;
  std::int64_t half_;
  std::vector<Real> taps_;
  std::vector<double> response_;
};

/// HashToBins without its FFT: buckets[m] = Σ over taps j ≡ m modulo B of G[j]·x[σj + τ], where N is a power
/// of two. After the forward FFT, bucket b holds 1/N Σ_f X[f] exp(2πi fτ/N) Ĝ(b − σfB/N), where Ĝ is
/// response().
template <class Real, class Sum>
void hash_to_buckets(std::span<const std::complex<Real>> signal, const Permutation& permutation,
                     const FlatWindow<Sum>& window, std::complex<Sum>* buckets) {
  const std::uint64_t mask = signal.size() - 1;
  const std::int64_t count = window.buckets();
  const std::complex<Real>* x = signal.data();
  for (std::int64_t m = 0; m < count; ++m) buckets[m] = 0;
  const Sum* tap = window.centre() - window.half();
  std::uint64_t at = permutation.tau - static_cast<std::uint64_t>(window.half()) * permutation.sigma;
  std::int64_t m = (count - window.half() % count) % count;
  for (std::int64_t left = window.taps(); left > 0;) {
    const std::int64_t run = std::min(left, count - m);
    std::complex<Sum>* bucket = buckets + m;
    for (std::int64_t i = 0; i < run; ++i) {
      const std::complex<Real> sample = x[at & mask];
      bucket[i] += std::complex<Sum>(tap[i] * static_cast<Sum>(sample.real()),
                                     tap[i] * static_cast<Sum>(sample.imag()));
      at += permutation.sigma;
    }
    tap += run;
    left -= run;
    m = 0;
  }
}

extern template class FlatWindow<float>;
extern template class FlatWindow<double>;

}  // namespace sfft::peers
