// SPDX-License-Identifier: Apache-2.0
// Tests the scale of the prior that a frame's error estimate fits against draws of noise and of changes.
#include "template/planning/error_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sfft/template.hpp"
#include "sfft/template_access.hpp"

namespace sfft::error_table_test {
namespace {

constexpr std::int64_t kCount = 24, kTailValues = 40;

/// Rows that are mostly hidden by noise: shrunk estimates that respond as much to the tail as to the
/// coefficients.
detail::RowErrors noisy_rows() {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0.5, 2);
  detail::RowErrors rows;
  for (std::int64_t i = 0; i < kCount; ++i) {
    rows.gain.push_back(uniform(random));
    rows.bias.push_back(20 * uniform(random));
    rows.response.push_back(0.2 * uniform(random));
  }
  rows.tail_values = kTailValues;
  return rows;
}

/// Draws the sums of one frame in noise of unit scale, whose coefficients follow the prior times `scale`.
detail::ErrorSums draw(const detail::ErrorTable& table, const detail::RowErrors& rows, double scale,
                       std::mt19937& random) {
  std::exponential_distribution<double> power;  // |z|² of a complex Gaussian z of unit power
  detail::ErrorSums sums;
  for (std::int64_t i = 0; i < kTailValues; ++i) sums.scale += power(random) / kTailValues;
  for (std::size_t i = 0; i < kCount; ++i)
    sums.fit += table.fit[i] * power(random) * (table.gain[i] + scale * rows.response[i]);
  sums.norm = 1;
  return sums;
}

struct Case {
  detail::RowErrors rows = noisy_rows();
  detail::ErrorTable table;
  Case() {
    std::vector<std::int64_t> support;
    for (std::int64_t i = 1; i <= kCount; ++i) support.push_back(7 * i);
    const Template tmpl = Template::from_support(Shape{4096}, Domain::complex, support);
    table = detail::make_error_table(detail::SupportSet(*detail::data_of(tmpl)), rows);
  }
};

TEST(ErrorTable, KnowsHowFarTheFitOfThePriorScatters) {
  const Case c;
  std::mt19937 random(4);
  double sum = 0, squares = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const detail::ErrorSums sums = draw(c.table, c.rows, 0, random);
    const double off = sums.fit - sums.scale * c.table.model.fit_noise;
    sum += off;
    squares += off * off;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.05 * c.table.model.fit_scatter);
  EXPECT_NEAR(std::sqrt(squares / kDraws) / c.table.model.fit_scatter, 1, 0.05);
}

TEST(ErrorTable, ReportsDoNotCollapseWhereNoiseHidesThePrior) {
  // The true error consists of the tail and of the part that shrinking removes.
  const Case c;
  const double gain = c.table.model.gain_sum, bias = c.table.model.bias_sum;
  std::mt19937 random(5);
  for (const double scale : {0.0, 0.3, 1.0, 3.0, 30.0}) {
    const double truth = std::sqrt(gain + scale * bias);
    int beyond = 0;
    double worst = 0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) {
      const detail::ErrorSums sums = draw(c.table, c.rows, scale, random);
      const double reported = estimate_error(error_ratios(c.table.model, sums, 1e-7)).error_l2;
      beyond += truth > 2 * reported;
      worst = std::max(worst, truth / reported);
    }
    EXPECT_LE(beyond, 0.005 * kDraws) << scale;
    EXPECT_LT(worst, 5) << scale;
  }
}

}  // namespace
}  // namespace sfft::error_table_test
