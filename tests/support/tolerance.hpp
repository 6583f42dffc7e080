// Error measures and bounds of the tests, in one place.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <span>

namespace sfft::test {

/// ‖a − b‖₂ / ‖b‖₂ with b the reference; infinite for different lengths, ‖a‖₂ when b is zero. NaN stays NaN,
/// so tests ask `error <= bound`.
template <class A, class B>
double relative_l2(std::span<const std::complex<A>> a, std::span<const std::complex<B>> b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  long double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::complex<long double> reference(b[i].real(), b[i].imag());
    const std::complex<long double> value(a[i].real(), a[i].imag());
    difference += std::norm(value - reference);
    norm += std::norm(reference);
  }
  return static_cast<double>(std::sqrt(norm > 0 ? difference / norm : difference));
}

template <class RangeA, class RangeB>
double relative_l2(const RangeA& a, const RangeB& b) {
  return relative_l2(std::span<const typename RangeA::value_type>(a),
                     std::span<const typename RangeB::value_type>(b));
}

/// Relative L2 error that an FFT of so many points may have: the error grows with the depth, log2 N, of the
/// computation (Gentleman and Sande 1966; the average case grows with its root). The constant leaves room for
/// the three FFTs of Bluestein's algorithm and for odd radices.
template <class Real>
double fft_bound(double points) {
  return std::numeric_limits<Real>::epsilon() * (1.0 + 0.6 * std::log2(points));
}

}  // namespace sfft::test
