// SPDX-License-Identifier: Apache-2.0
// Tests every butterfly of the kernels against direct sums.
#include "kernels/base/radix/butterfly.hpp"

#include <gtest/gtest.h>

#include "kernels/base/radix/radices.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::butterfly_test {
namespace {

template <int R, class Real>
void expect_transform() {
  const auto x = random_signal(R, R);
  std::vector<std::complex<double>> streamed(R), in_place(R);
  detail::Butterfly<R>::template stream<Real, Real>(
      [&](int k, Real& re, Real& im) {
        re = static_cast<Real>(x[static_cast<std::size_t>(k)].real());
        im = static_cast<Real>(x[static_cast<std::size_t>(k)].imag());
      },
      [&](int j, Real re, Real im) {
        streamed[static_cast<std::size_t>(j)] = {re, im};
      });
  Real re[R], im[R];
  for (std::size_t k = 0; k < R; ++k) {
    re[k] = static_cast<Real>(x[k].real());
    im[k] = static_cast<Real>(x[k].imag());
  }
  detail::Butterfly<R>::template apply<Real>(re, im);
  for (std::size_t j = 0; j < R; ++j) in_place[j] = {re[j], im[j]};
  const auto exact = direct_dft_axis(x, 1, R, 1);
  EXPECT_LE(relative_l2(streamed, exact), fft_bound<Real>(R)) << R;
  EXPECT_LE(relative_l2(in_place, exact), fft_bound<Real>(R)) << R;
}

template <std::size_t... I>
void expect_transforms(std::index_sequence<I...>) {
  (expect_transform<detail::kRadices[I].radix, float>(), ...);
  (expect_transform<detail::kRadices[I].radix, double>(), ...);
}

TEST(Butterfly, EveryRadixEqualsDirectSums) {
  expect_transforms(std::make_index_sequence<std::size(detail::kRadices)>());
}

}  // namespace
}  // namespace sfft::test::butterfly_test
