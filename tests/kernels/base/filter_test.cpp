// SPDX-License-Identifier: Apache-2.0
// Tests the mathematics of the flat-window path: window and response, lattice lines, and positions on the
// circle of buckets.
#include "kernels/base/math/filter.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "kernels/base/math/lattice_line.hpp"
#include "kernels/cpu/stages/flat_hash.hpp"

namespace filter_test {
namespace {

using sfft::Shape;
using sfft::detail::bessel_i0;
using sfft::detail::KaiserWindow;
using sfft::detail::walk_line;
using sfft::detail::cpu::FlatHash;

/// Computes the response by its definition, a sum over taps.
double direct_response(const KaiserWindow& window, std::int64_t taps, double s) {
  long double sum = 0;
  for (std::int64_t m = 0; m < taps; ++m) {
    const double t = static_cast<double>(2 * m + 1 - taps) / static_cast<double>(taps);
    sum += static_cast<long double>(window.tap(t)) * std::cos(std::numbers::pi_v<long double> * s * t);
  }
  return static_cast<double>(sum) / static_cast<double>(taps);
}

TEST(KaiserWindow, BesselFunctionAgreesWithTheStandardLibrary) {
  for (double x = 0; x <= 40; x += 0.37) {
    EXPECT_LE(std::abs(bessel_i0(x) / std::cyl_bessel_i(0.0, x) - 1), 1e-13) << x;
  }
}

TEST(KaiserWindow, ResponseIsTheTransformOfTheTaps) {
  for (const double leakage : {1e-3, 1e-8, 1e-13}) {
    const KaiserWindow window = KaiserWindow::for_leakage(leakage);
    const auto min = static_cast<std::int64_t>(std::ceil(2.5 * window.half_width));
    for (const std::int64_t taps : {min, min + 1, std::int64_t{64}, std::int64_t{1000}}) {
      EXPECT_NEAR(window.response(0), 1, 1e-14);
      for (double s = 0; s <= 0.5 * static_cast<double>(taps) && s < 60; s += 0.173) {
        EXPECT_NEAR(direct_response(window, taps, s), window.response(s), 2 * leakage + 1e-15)
            << taps << " " << s;
      }
    }
  }
}

TEST(KaiserWindow, LeakageStaysBelowTheRequest) {
  for (const double leakage : {1e-2, 1e-8, 1e-13, 1e-16}) {
    const KaiserWindow window = KaiserWindow::for_leakage(leakage);
    double largest = 0;
    for (double s = window.half_width; s < window.half_width + 50; s += 0.01) {
      largest = std::max(largest, std::abs(window.response(s)));
    }
    EXPECT_LE(largest, leakage * 1.001);
    EXPECT_GE(largest, leakage * 0.9) << "the window could be narrower";
    EXPECT_GT(window.response(window.half_width - 0.1), leakage);
  }
}

TEST(LatticeLine, VisitsTheSamplesOfTheDefinition) {
  const std::vector<std::vector<std::int64_t>> shapes{{1}, {2}, {17}, {4, 6}, {31, 37, 41}, {1, 5, 1}};
  for (const auto& extents : shapes) {
    std::array<std::int64_t, 3> sigma{}, tau{};
    for (std::size_t d = 0; d < extents.size(); ++d) {
      sigma[d] = (extents[d] * 2) / 3;
      tau[d] = extents[d] / 2;
    }
    std::int64_t m = 0;
    walk_line(extents.data(), static_cast<int>(extents.size()), sigma, tau, 100, [&](std::int64_t flat) {
      std::int64_t expected = 0;
      for (std::size_t d = 0; d < extents.size(); ++d) {
        expected = expected * extents[d] + (tau[d] + sigma[d] * m) % extents[d];
      }
      EXPECT_EQ(flat, expected);
      ++m;
    });
    EXPECT_EQ(m, 100);
  }
}

TEST(LatticeLine, DoesNotOverflowOnTheLargestGrids) {
  const std::int64_t extent = (std::int64_t{1} << 62) - 57;
  std::int64_t m = 0;
  walk_line(&extent, 1, {extent - 1, 0, 0}, {1, 0, 0}, 4, [&](std::int64_t flat) {
    EXPECT_EQ(flat, m < 2 ? 1 - m : extent + 1 - m);
    ++m;
  });
}

TEST(FlatHash, PlacesFrequenciesExactly) {
  const Shape shape{509, 6, 20};
  const std::array<std::int64_t, 3> sigma{77, 5, 13};
  const FlatHash hash(shape, sigma);
  EXPECT_EQ(hash.denominator(), 509 * 60);
  for (std::int64_t i = 0; i < shape.points(); i += 7) {
    const std::array<std::int64_t, 3> f{i / 120, i / 20 % 6, i % 20};
    const std::int64_t numerator =
        (f[0] * sigma[0] * 60 + f[1] * sigma[1] * 5090 + f[2] * sigma[2] * 1527) % 30540;
    EXPECT_EQ(hash.numerator(f), numerator);
    const auto position = hash.position(f, 48);
    EXPECT_EQ(position.bucket, numerator * 48 / 30540);
    EXPECT_DOUBLE_EQ(position.offset, static_cast<double>(numerator * 48 % 30540) / 30540);
  }
}

TEST(FlatHash, SurvivesTheLargestGrids) {
  const std::int64_t extent = (std::int64_t{1} << 62) - 57;
  const FlatHash hash(Shape(extent), {extent - 2, 0, 0});
  // (n − 1)(n − 2) = 2 mod n.
  EXPECT_EQ(hash.numerator({extent - 1, 0, 0}), 2);
  EXPECT_EQ(hash.position({1, 0, 0}, 1000).bucket, 999);
}

}  // namespace
}  // namespace filter_test
