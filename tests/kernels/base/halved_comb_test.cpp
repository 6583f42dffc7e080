// SPDX-License-Identifier: Apache-2.0
// Compares halved combs with direct sums over the whole comb's samples.
#include "kernels/base/tables/halved_comb.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

namespace sfft::detail::halved_comb_test {
namespace {

using Complex = std::complex<double>;

/// Σ_m x[m∘L + τ_j] exp(−2πi Σ_d b_d m_d / B_d), by its definition.
std::vector<Complex> spectrum(const CombData& data, std::size_t j, const std::vector<double>& frame) {
  const auto at = [](std::int64_t flat, const std::array<std::int64_t, 3>& grid) {
    return std::array<std::int64_t, 3>{flat / (grid[1] * grid[2]), flat / grid[2] % grid[1], flat % grid[2]};
  };
  std::vector<Complex> out;
  for (std::int64_t b = 0; b < data.bucket_count(); ++b) {
    Complex sum = 0;
    for (std::int64_t m = 0; m < data.bucket_count(); ++m) {
      std::int64_t flat = 0;
      double turns = 0;
      for (int d = 0; d < data.shape.rank(); ++d) {
        const auto e = static_cast<std::size_t>(d);
        const std::int64_t own = at(m, data.buckets)[e];
        flat = flat * data.shape[d] + own * data.stride(d) + data.delays[j][e];
        turns += static_cast<double>(own * at(b, data.buckets)[e]) / static_cast<double>(data.buckets[e]);
      }
      sum += frame[static_cast<std::size_t>(flat)] * std::polar(1.0, -2 * std::numbers::pi * turns);
    }
    out.push_back(sum);
  }
  return out;
}

void check(const Shape& shape, const std::array<std::int64_t, 3>& buckets, int d) {
  std::mt19937 random(static_cast<unsigned>(shape.points() + d));
  std::normal_distribution<double> normal;
  const auto number = [&] { return normal(random); };
  CombData data;
  data.shape = shape;
  data.real = true;
  data.buckets = buckets;
  for (int j = 0; j < 4; ++j) {
    std::array<std::int64_t, 3> delay{};
    for (int e = 0; e < shape.rank(); ++e)
      delay[static_cast<std::size_t>(e)] = static_cast<std::int64_t>(random()) % data.stride(e);
    data.delays.push_back(delay);
  }
  for (int i = 0; i < 9; ++i) {
    data.bucket.push_back(static_cast<std::int64_t>(random()) % data.bucket_count());
    for (int j = 0; j < 4; ++j) data.weights.emplace_back(number(), number());
  }
  for (std::int64_t b = 0; b < data.bucket_count(); ++b)
    data.bucket_weight.push_back(random() % 3 == 0 ? 0 : std::abs(number()));
  std::vector<double> frame(static_cast<std::size_t>(shape.points()));
  for (double& sample : frame) sample = number();

  const HalvedComb half = halved(data, d);
  ASSERT_EQ(half.data.samples(), data.samples());
  std::vector<std::vector<Complex>> whole, parts;
  for (std::size_t j = 0; j < 4; ++j) whole.push_back(spectrum(data, j, frame));
  for (std::size_t j = 0; j < 8; ++j) parts.push_back(spectrum(half.data, j, frame));
  const double bound = 1e-12 * std::sqrt(static_cast<double>(data.bucket_count()));
  for (std::size_t i = 0; i < data.bucket.size(); ++i) {
    Complex expected = 0, got = 0;
    for (std::size_t j = 0; j < 4; ++j)
      expected += data.weights[4 * i + j] * whole[j][static_cast<std::size_t>(data.bucket[i])];
    for (std::size_t j = 0; j < 8; ++j)
      got += half.data.weights[8 * i + j] * parts[j][static_cast<std::size_t>(half.data.bucket[i])];
    EXPECT_LE(std::abs(got - expected), 20 * bound);
  }
  double expected = 0, got = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t b = 0; b < data.bucket_weight.size(); ++b)
      expected += data.bucket_weight[b] * std::norm(whole[j][b]);
    for (const TailTerm& term : half.tail) {
      // The pair of values as a kernel holds it.
      const auto lane = [&](std::int64_t b) {
        return parts[2 * j][static_cast<std::size_t>(b)] +
               Complex(0, 1) * parts[2 * j + 1][static_cast<std::size_t>(b)];
      };
      const Complex z = lane(term.at), mirror = std::conj(lane(term.mirror));
      got += term.weight * std::norm((z + mirror) / 2.0 + term.root * (z - mirror) / Complex(0, 2));
    }
  }
  EXPECT_NEAR(got, expected, 1e-12 * expected);
}

TEST(HalvedComb, EqualsTheWhole) {
  check(Shape{48}, {16, 1, 1}, 0);
  check(Shape{30}, {2, 1, 1}, 0);
  check({24, 36}, {8, 12, 1}, 0);
  check({24, 36}, {8, 12, 1}, 1);
  check({15, 28}, {5, 14, 1}, 1);
  check({8, 12, 10}, {4, 6, 2}, 0);
  check({8, 12, 10}, {4, 6, 2}, 1);
  check({8, 12, 10}, {4, 6, 2}, 2);
}

}  // namespace
}  // namespace sfft::detail::halved_comb_test
