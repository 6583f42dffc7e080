// SPDX-License-Identifier: Apache-2.0
// Complex products as plain arithmetic, without the treatment of NaN and infinity in Annex G of C99.
#pragma once

#include <complex>

namespace sfft::detail {

// Always inline: otherwise the linker could use an out-of-line copy that was compiled for another instruction
// set.

/// a·b
template <class Real>
[[gnu::always_inline]] constexpr std::complex<Real> times(std::complex<Real> a,
                                                          std::complex<Real> b) noexcept {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
/// a·conj(b)
template <class Real>
[[gnu::always_inline]] constexpr std::complex<Real> times_conj(std::complex<Real> a,
                                                               std::complex<Real> b) noexcept {
  return {a.real() * b.real() + a.imag() * b.imag(), a.imag() * b.real() - a.real() * b.imag()};
}
/// i·a
template <class Real>
[[gnu::always_inline]] constexpr std::complex<Real> times_i(std::complex<Real> a) noexcept {
  return {-a.imag(), a.real()};
}

}  // namespace sfft::detail
