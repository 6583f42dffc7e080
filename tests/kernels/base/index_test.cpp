// SPDX-License-Identifier: Apache-2.0
// Tests index arithmetic against wider integers and long double: roots of unity, exact phases, floor_mod.
#include "kernels/base/math/index.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sfft::detail::index_test {
namespace {

TEST(UnitRoot, EqualsLongDoubleEverywhere) {
  double worst = 0;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 16, 97, 360, 1000, 1024, 1021}) {
    for (std::int64_t i = 0; i < n; ++i) {
      const long double angle =
          2 * std::numbers::pi_v<long double> * static_cast<long double>(i) / static_cast<long double>(n);
      const std::complex<double> root = unit_root(i, n);
      worst = std::max(worst, std::abs(root.real() - static_cast<double>(std::cos(angle))));
      worst = std::max(worst, std::abs(root.imag() - static_cast<double>(std::sin(angle))));
    }
  }
  EXPECT_LE(worst, 2 * std::numeric_limits<double>::epsilon());
}

TEST(UnitRoot, KeepsItsPrecisionForHugeDenominators) {
  const std::int64_t n = (std::int64_t{1} << 61) - 1;
  const std::complex<double> root = unit_root(1, n);
  EXPECT_DOUBLE_EQ(root.imag(), 2 * std::numbers::pi / static_cast<double>(n));
  const std::complex<double> quarter = unit_root(std::int64_t{1} << 59, std::int64_t{1} << 61);
  EXPECT_EQ(quarter, std::complex<double>(0, 1));
}

TEST(Phase, ReducesProductsExactly) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) {
    const auto n = static_cast<std::int64_t>(random() >> 3) + 1;
    const auto f = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    const auto t = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    const auto product = static_cast<std::int64_t>(static_cast<__int128>(f) * t % n);
    EXPECT_EQ(multiply_mod(f, t, n), product);
    EXPECT_EQ(phase(f, t, n), unit_root(product, n));
  }
}

TEST(FloorMod, IsNeverNegative) {
  EXPECT_EQ(floor_mod(-1, 5), 4);
  EXPECT_EQ(floor_mod(-5, 5), 0);
  EXPECT_EQ(floor_mod(7, 5), 2);
}

}  // namespace
}  // namespace sfft::detail::index_test
