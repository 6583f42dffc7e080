// SPDX-License-Identifier: Apache-2.0
// Checks that the tests of the engine tensor share: comparison with transforms in double, lines of any scale,
// and values that are not finite.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "sfft/dense.hpp"
#include "tests/support/tensor_emulation.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test {

using Values = std::vector<std::complex<float>>;
using Exact = std::vector<std::complex<double>>;

/// Transforms signals of one shape in double on the CPU.
inline Exact exact_spectra(const Values& signals, const Shape& shape, bool inverse = false) {
  const dense::Plan<double> plan(shape, Domain::complex,
                                 {.normalization = dense::Options::Normalization::none,
                                  .device = Device::cpu(),
                                  .batch = static_cast<std::int64_t>(signals.size()) / shape.points()});
  Exact in(signals.begin(), signals.end()), out(in.size());
  if (inverse) {
    plan.inverse(std::span<const std::complex<double>>(in), std::span<std::complex<double>>(out));
  } else {
    plan.forward(in.data(), ElementType::c128, out);
  }
  return out;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// The error of line `i` among lines of `points` points.
inline double error_of_line(const Values& got, const Exact& expected, std::int64_t points, std::size_t i) {
  const auto first = static_cast<std::ptrdiff_t>(i) * points, last = first + points;
  return relative_l2(Values(got.begin() + first, got.begin() + last),
                     Exact(expected.begin() + first, expected.begin() + last));
}

/// `forward(values)` returns the transforms of lines of `points` points.
template <class Forward>
void expect_scales_of_lines(std::int64_t points, const Forward& forward) {
  const std::vector<float> scales = {1e-30f, 1e30f, 0.0f, 1.0f, 1e-37f, 3e33f};
  Values all;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const Values one = uniform_noise(static_cast<std::size_t>(points), static_cast<unsigned>(i), scales[i]);
    all.insert(all.end(), one.begin(), one.end());
  }
  const Values got = forward(all);
  const Exact expected = exact_spectra(all, Shape{points});
  for (std::size_t i = 0; i < scales.size(); ++i)
    EXPECT_LE(error_of_line(got, expected, points, i), kTensorBound) << points << " points, line " << i;
}

/// Transforms three lines, the second of which has a value that is not finite.
template <class Forward>
void expect_others_without_trouble(std::int64_t points, const Forward& forward) {
  const auto n = static_cast<std::size_t>(points);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity}) {
    Values x = uniform_noise(3 * n, 9);
    const Exact expected = exact_spectra(x, Shape{points});
    x[n + n / 3] = {0.5f, bad};
    const Values got = forward(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool finite = std::isfinite(got[i].real()) && std::isfinite(got[i].imag());
      ASSERT_EQ(finite, i < n || i >= 2 * n) << i;
    }
    for (const std::size_t line : {0, 2})
      EXPECT_LE(error_of_line(got, expected, points, line), kTensorBound) << points << " points";
  }
}

}  // namespace sfft::test
