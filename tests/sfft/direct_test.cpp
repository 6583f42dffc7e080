// SPDX-License-Identifier: Apache-2.0
// Tests the direct path against a sum in extended precision: its error is within the reported one.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "bench/known_signals.hpp"
#include "sfft/sfft.hpp"

namespace sfft::direct_test {
namespace {

using Wide = std::complex<long double>;

/// exp(−2πi j/n), j < n.
std::vector<Wide> roots(std::int64_t n) {
  std::vector<Wide> w;
  for (std::int64_t j = 0; j < n; ++j) {
    const long double angle =
        -2 * std::numbers::pi_v<long double> * static_cast<long double>(j) / static_cast<long double>(n);
    w.emplace_back(std::cos(angle), std::sin(angle));
  }
  return w;
}

template <class T>
std::vector<Wide> exact(const std::vector<T>& x, const Shape& shape,
                        const std::vector<std::int64_t>& support) {
  std::vector<std::vector<Wide>> tables;
  for (const std::int64_t n : shape.extents()) tables.push_back(roots(n));
  std::vector<Wide> values;
  for (const std::int64_t flat : support) {
    const std::vector<std::int64_t> f = test::split(shape, flat);
    Wide sum = 0;
    for (std::int64_t t = 0; t < shape.points(); ++t) {
      const std::vector<std::int64_t> at = test::split(shape, t);
      Wide root = 1;
      for (std::size_t d = 0; d < tables.size(); ++d)
        root *= tables[d][static_cast<std::size_t>(f[d] * at[d] % shape[static_cast<int>(d)])];
      sum += Wide(x[static_cast<std::size_t>(t)]) * root;
    }
    values.push_back(sum);
  }
  return values;
}

template <class T>
std::vector<T> noise(std::int64_t points, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> whole(0, 255);
  std::vector<T> x;
  for (std::int64_t t = 0; t < points; ++t) {
    if constexpr (std::is_integral_v<T>) {
      x.push_back(static_cast<T>(whole(generator) * (sizeof(T) == 2 ? 257 : 1)));
    } else if constexpr (std::is_floating_point_v<T>) {
      x.push_back(static_cast<T>(normal(generator)));
    } else {
      x.emplace_back(static_cast<typename T::value_type>(normal(generator)),
                     static_cast<typename T::value_type>(normal(generator)));
    }
  }
  return x;
}

template <class Real, class T>
void check(const Shape& shape, std::int64_t k, unsigned seed) {
  const bool real = !is_complex(element_type_of<T>::value);
  const auto support = test::SparseSignal::random(shape, real, k, seed).support;
  const Plan<Real> plan(Template::from_support(shape, real ? Domain::real : Domain::complex, support),
                        {.path = Path::direct});
  const std::vector<T> x = noise<T>(shape.points(), seed + 1);
  const Spectrum<Real> spectrum = plan.execute(SignalView(x, shape));
  const std::vector<Wide> truth = exact(x, shape, support);
  long double error = 0, norm = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (support[i] == 0) continue;
    error += std::norm(Wide(spectrum.values[i]) - truth[i]);
    norm += std::norm(truth[i]);
  }
  const std::string what = shape.to_string() + ", k = " + std::to_string(support.size());
  EXPECT_LE(std::sqrt(error), spectrum.quality.error_l2) << what;
  if (norm > 0) {
    EXPECT_LE(std::sqrt(error / norm), spectrum.quality.relative_error) << what;
    // A large error must not hide a small one.
    EXPECT_LE(spectrum.quality.relative_error,
              (sizeof(Real) == 4 ? 100 : 10000) * std::numeric_limits<Real>::epsilon())
        << what;
  }
  EXPECT_TRUE(spectrum.quality.finite) << what;
}

template <class T>
class DirectTest : public testing::Test {};
using Types =
    testing::Types<std::uint8_t, std::uint16_t, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DirectTest, Types);

TYPED_TEST(DirectTest, ErrorIsWithinTheReportedOneUpToTheLimit) {
  constexpr std::int64_t kProducts = 1 << 16;  // the path's limit of N·k
  std::mt19937_64 generator(17);
  std::vector<Shape> shapes{Shape{1},      Shape{2},        Shape{7},         Shape{64},        Shape{1000},
                            Shape{4096},   Shape{21845},    Shape{32768},     Shape{65521},     Shape{65536},
                            Shape{37, 41}, Shape{256, 256}, Shape{9, 25, 16}, Shape{40, 40, 40}};
  for (int draw = 0; draw < 12; ++draw) {
    std::uniform_real_distribution<double> size(0, 16);
    shapes.emplace_back(static_cast<std::int64_t>(std::exp2(size(generator))));
  }
  for (unsigned seed = 0; const Shape& shape : shapes) {
    const std::int64_t max =
        std::max<std::int64_t>(1, std::min<std::int64_t>(kProducts / shape.points(), shape.points() / 2));
    std::uniform_int_distribution<std::int64_t> draw(1, max);
    const std::int64_t k = draw(generator);
    check<float, TypeParam>(shape, k, ++seed);
    check<double, TypeParam>(shape, k, ++seed);
  }
}

}  // namespace
}  // namespace sfft::direct_test
