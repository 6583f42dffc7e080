// SPDX-License-Identifier: Apache-2.0
// Error measures and bounds of all tests.
#pragma once

#include <cmath>
#include <complex>
#include <iterator>
#include <limits>

#include "sfft/storage.hpp"
#include "sfft/types.hpp"

namespace sfft::test {

/// ‖a − b‖₂ / ‖b‖₂ for ranges of real or complex numbers, where b is the reference. It is infinite for
/// different lengths, and ‖a‖₂ when b is zero. NaN stays NaN, so tests require `error <= bound`.
template <class RangeA, class RangeB>
double relative_l2(const RangeA& a, const RangeB& b) {
  if (std::size(a) != std::size(b)) return std::numeric_limits<double>::infinity();
  using std::imag, std::real;
  long double difference = 0, norm = 0;
  auto reference = std::begin(b);
  for (const auto& value : a) {
    const auto re = static_cast<long double>(real(*reference)),
               im = static_cast<long double>(imag(*reference));
    const long double off_re = real(value) - re, off_im = imag(value) - im;
    difference += off_re * off_re + off_im * off_im;
    norm += re * re + im * im;
    ++reference;
  }
  return static_cast<double>(std::sqrt(norm > 0 ? difference / norm : difference));
}

/// Relative L2 error that an FFT of this many points may have: the error grows with the depth, log2 N, of the
/// computation (Gentleman and Sande 1966; the average case grows with its root). The constant leaves room for
/// the three FFTs of Bluestein's algorithm and for odd radices.
template <class Real>
double fft_bound(double points) {
  return std::numeric_limits<Real>::epsilon() * (1.0 + 0.6 * std::log2(points));
}

/// Bound on the relative L2 error of storing `count` values in a format, if the largest of them is where
/// CompactPlan places it. The error of a value is half a unit in the last of p bits, and for f16 half of
/// 2^-24 where values are subnormal. In block16 each of 32 values is off by up to half a unit, and the
/// largest of them has at least 2^14 − 1 units.
inline double storage_bound(dense::Storage storage, double count) {
  if (storage == dense::Storage::block16) return std::sqrt(32.0) * 0.5 / 16383;
  const int digits = storage == dense::Storage::f32 ? 24 : (storage == dense::Storage::f16 ? 11 : 8);
  const double subnormal = storage == dense::Storage::f16 ? std::ldexp(std::sqrt(count), -25 - 14) : 0;
  return std::ldexp(1.0, -digits) + subnormal;
}

/// Relative L2 error of a sparse plan on a signal that has no tail: the rounding of float input or
/// arithmetic, amplified by the recovery rows. The planner keeps their root-mean-square gain below 3.
template <class Real>
double plan_bound(const Shape& shape) {
  return 8 * fft_bound<Real>(static_cast<double>(shape.points())) + (sizeof(Real) == 8 ? 1e-13 : 0);
}

}  // namespace sfft::test
