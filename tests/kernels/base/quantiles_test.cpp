// SPDX-License-Identifier: Apache-2.0
// Tests medians and quantiles against a sorted copy.
#include "kernels/base/math/quantiles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sfft::detail::quantiles_test {
namespace {

TEST(Quantiles, AreThoseOfASortedCopy) {
  std::mt19937 random(7);
  for (std::size_t count = 1; count < 30; ++count) {
    std::vector<double> values(count);
    for (double& value : values) value = static_cast<double>(random() % 20);  // some are equal
    std::vector<double> sorted = values;
    std::ranges::sort(sorted);
    EXPECT_EQ(median(values), sorted[count / 2]) << count;
    EXPECT_EQ(quantile(values, 0), sorted.front()) << count;
    EXPECT_EQ(quantile(values, 1), sorted.back()) << count;
    const auto nearest = static_cast<std::size_t>(std::lround(0.9 * static_cast<double>(count - 1)));
    EXPECT_EQ(quantile(values, 0.9), sorted[nearest]) << count;
    EXPECT_EQ(median_in_place(values), sorted[count / 2]) << count;
  }
}

TEST(Quantiles, NoValues) {
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_EQ(median({}, 0), 0);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

}  // namespace
}  // namespace sfft::detail::quantiles_test
