// SPDX-License-Identifier: Apache-2.0
// Compares cosine, sine and Hartley transforms with sums by definition in long double.
#include "sfft/dense_trigonometric.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::trigonometric_test {
namespace {

using dense::Options;
using dense::TrigonometricPlan;
using Kind = Options::Trigonometric;
using Normalization = Options::Normalization;
using test::code_of;

constexpr Kind kKinds[] = {Kind::dct1, Kind::dct2, Kind::dct3, Kind::dct4,   Kind::dst1,
                           Kind::dst2, Kind::dst3, Kind::dst4, Kind::hartley};

/// The weights of x[j] in y[k], from the definitions in sfft/dense_options.hpp.
class Weights {
 public:
  Weights(Kind kind, std::int64_t n) : kind_(kind), n_(n) {
    switch (kind) {
      case Kind::dct1:
        turn_ = 4 * (n - 1);
        break;
      case Kind::dst1:
        turn_ = 4 * (n + 1);
        break;
      default:
        turn_ = 8 * n;
    }
    for (std::int64_t i = 0; i < turn_; ++i)
      cosines_.push_back(std::cos(2 * std::numbers::pi_v<long double> * static_cast<long double>(i) /
                                  static_cast<long double>(turn_)));
  }
  long double at(std::int64_t j, std::int64_t k) const {
    const long double sign = k % 2 == 0 ? 1 : -1;
    switch (kind_) {
      case Kind::dct1:
        return j == 0 ? 1 : j == n_ - 1 ? sign : 2 * cosine(2 * j * k);
      case Kind::dct2:
        return 2 * cosine(2 * (2 * j + 1) * k);
      case Kind::dct3:
        return j == 0 ? 1 : 2 * cosine(2 * j * (2 * k + 1));
      case Kind::dct4:
        return 2 * cosine((2 * j + 1) * (2 * k + 1));
      case Kind::dst1:
        return 2 * sine(2 * (j + 1) * (k + 1));
      case Kind::dst2:
        return 2 * sine(2 * (2 * j + 1) * (k + 1));
      case Kind::dst3:
        return j == n_ - 1 ? sign : 2 * sine(2 * (j + 1) * (2 * k + 1));
      case Kind::dst4:
        return 2 * sine((2 * j + 1) * (2 * k + 1));
      case Kind::hartley:
        return cosine(8 * j * k) + sine(8 * j * k);
    }
    return 0;
  }

 private:
  /// Of 2π·i/turn_, a multiple of a quarter turn.
  long double cosine(std::int64_t i) const { return cosines_[static_cast<std::size_t>(i % turn_)]; }
  long double sine(std::int64_t i) const { return cosine(i % turn_ + turn_ * 3 / 4); }

  Kind kind_;
  std::int64_t n_, turn_ = 4;
  std::vector<long double> cosines_;
};

/// What SciPy's norm="ortho" multiplies the weight by, without the root of the length.
long double orthogonal_weight(Kind kind, std::int64_t n, std::int64_t j, std::int64_t k) {
  constexpr long double kRoot = std::numbers::sqrt2_v<long double>;
  const auto end = [n](std::int64_t i) { return i == 0 || i == n - 1; };
  long double factor = 1;
  if ((kind == Kind::dct1 && end(j)) || (kind == Kind::dct3 && j == 0) || (kind == Kind::dst3 && j == n - 1))
    factor *= kRoot;
  if ((kind == Kind::dct1 && end(k)) || (kind == Kind::dct2 && k == 0) || (kind == Kind::dst2 && k == n - 1))
    factor /= kRoot;
  return factor;
}

std::int64_t logical(Kind kind, std::int64_t n) {
  if (kind == Kind::hartley) return n;
  return kind == Kind::dct1 ? 2 * (n - 1) : kind == Kind::dst1 ? 2 * (n + 1) : 2 * n;
}

/// One signal, transformed along each dimension in turn.
std::vector<long double> direct(const Shape& shape, const std::array<Kind, 3>& kinds,
                                std::vector<long double> x, bool orthogonal) {
  std::int64_t inner = 1;
  for (int d = shape.rank() - 1; d >= 0; inner *= shape[d--]) {
    const Kind kind = kinds[static_cast<std::size_t>(d)];
    const std::int64_t n = shape[d];
    const Weights by_definition(kind, n);
    std::vector<long double> weights;
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t j = 0; j < n; ++j)
        weights.push_back(by_definition.at(j, k) * (orthogonal ? orthogonal_weight(kind, n, j, k) : 1));
    std::vector<long double> y(x.size(), 0);
    for (std::int64_t at = 0; at < shape.points(); ++at) {
      const std::int64_t k = at / inner % n, line = at - k * inner;
      for (std::int64_t j = 0; j < n; ++j)
        y[static_cast<std::size_t>(at)] +=
            weights[static_cast<std::size_t>(k * n + j)] * x[static_cast<std::size_t>(line + j * inner)];
    }
    x = std::move(y);
  }
  return x;
}

template <class Real>
std::vector<Real> random_signals(std::size_t count, std::mt19937& random) {
  std::vector<Real> x(count);
  std::normal_distribution<double> normal;
  for (Real& value : x) value = static_cast<Real>(normal(random));
  return x;
}

/// Compares each signal of a batch, and the way back.
template <class Real>
void expect_sums(const Shape& shape, const std::array<Kind, 3>& kinds, const Options& options,
                 std::mt19937& random) {
  const TrigonometricPlan<Real> plan(shape, kinds, options);
  const auto points = static_cast<std::size_t>(shape.points());
  const std::vector<Real> x = random_signals<Real>(plan.signal_points(), random);
  std::vector<Real> y(x.size()), back(x.size());
  const std::vector<Real> before = x;
  plan.forward(x, y);
  EXPECT_EQ(x, before);
  long double all = 1;
  double depth = 0;
  std::string what = shape.to_string();
  for (int d = 0; d < shape.rank(); ++d) {
    all *= static_cast<long double>(logical(kinds[static_cast<std::size_t>(d)], shape[d]));
    depth += static_cast<double>(shape[d] + 1);
    what += " kind " + std::to_string(static_cast<int>(kinds[static_cast<std::size_t>(d)]));
  }
  const bool orthogonal = options.normalization == Normalization::unitary;
  const long double factor = orthogonal                                             ? 1 / std::sqrt(all)
                             : options.normalization == Normalization::forward_by_n ? 1 / all
                                                                                    : 1;
  const double bound = 2 * test::fft_bound<Real>(4 * depth);
  for (std::size_t b = 0; b < static_cast<std::size_t>(options.batch); ++b) {
    std::vector<long double> expected = direct(shape, kinds,
                                               {x.begin() + static_cast<std::ptrdiff_t>(b * points),
                                                x.begin() + static_cast<std::ptrdiff_t>((b + 1) * points)},
                                               orthogonal);
    for (long double& value : expected) value *= factor;
    const std::vector<Real> got(y.begin() + static_cast<std::ptrdiff_t>(b * points),
                                y.begin() + static_cast<std::ptrdiff_t>((b + 1) * points));
    EXPECT_LE(test::relative_l2(got, expected), bound) << what << " signal " << b;
  }
  plan.inverse(y, back);
  std::vector<long double> expected(x.begin(), x.end());
  if (options.normalization == Normalization::none)
    for (long double& value : expected) value *= all;
  EXPECT_LE(test::relative_l2(back, expected), 2 * bound) << what << " inverse";
  std::vector<Real> place = x;
  plan.forward(place, place);
  EXPECT_EQ(place, y) << what << " in place";
  Options threads = options;
  threads.threads = 3;
  std::vector<Real> shared(x.size());
  TrigonometricPlan<Real>(shape, kinds, threads).forward(x, shared);
  EXPECT_EQ(shared, y) << what << " threads";
}

template <class Real>
class Trigonometric : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Trigonometric, Reals);

TYPED_TEST(Trigonometric, EveryLength) {
  std::mt19937 random(1);
  for (const Kind kind : kKinds) {
    for (std::int64_t n = kind == Kind::dct1 ? 2 : 1; n <= 130; ++n)
      expect_sums<TypeParam>(Shape(n), {kind, kind, kind}, {.batch = 1 + n % 3}, random);
  }
}

TYPED_TEST(Trigonometric, DrawnShapes) {
  std::mt19937 random(2);
  const auto extent = [&](std::int64_t max) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(max));
  };
  for (int draw = 0; draw < 90; ++draw) {
    const int rank = 1 + draw % 3;
    std::array<std::int64_t, 3> extents{extent(rank == 1   ? 900
                                               : rank == 2 ? 80
                                                           : 24),
                                        extent(rank == 2 ? 80 : 24), extent(24)};
    std::array<Kind, 3> kinds;
    for (std::size_t d = 0; d < 3; ++d) {
      kinds[d] = kKinds[random() % 9];
      if (kinds[d] == Kind::dct1) extents[d] = std::max<std::int64_t>(2, extents[d]);
    }
    constexpr Normalization kAll[] = {Normalization::none, Normalization::inverse_by_n,
                                      Normalization::forward_by_n, Normalization::unitary};
    expect_sums<TypeParam>(
        Shape(std::span<const std::int64_t>(extents).first(static_cast<std::size_t>(rank))), kinds,
        {.normalization = kAll[random() % 4], .batch = extent(5)}, random);
  }
}

TYPED_TEST(Trigonometric, WideShapes) {
  // Blocks of pairs, their rest and an odd line, along both dimensions.
  std::mt19937 random(3);
  for (const auto& [rows, columns] : {std::pair{37, 211}, {129, 65}, {64, 257}, {3, 400}, {400, 3}})
    for (const Kind kind : {Kind::dct2, Kind::dst3, Kind::dct4, Kind::dst1})
      expect_sums<TypeParam>(Shape{rows, columns}, {kind, kind, kind}, {.batch = 2}, random);
}

TYPED_TEST(Trigonometric, LongLines) {
  // A direct sum at drawn frequencies.
  std::mt19937 random(4);
  for (const std::int64_t n : {1 << 15, 40009, 30000}) {
    const std::vector<TypeParam> x = random_signals<TypeParam>(static_cast<std::size_t>(n), random);
    long double energy = 0;
    for (const TypeParam value : x)
      energy += static_cast<long double>(value) * static_cast<long double>(value);
    for (const Kind kind : kKinds) {
      const Weights weights(kind, n);
      std::vector<TypeParam> y(x.size());
      TrigonometricPlan<TypeParam>(Shape(n), kind).forward(x, y);
      for (int draw = 0; draw < 3; ++draw) {
        const auto k = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
        long double sum = 0;
        for (std::int64_t j = 0; j < n; ++j)
          sum += weights.at(j, k) * static_cast<long double>(x[static_cast<std::size_t>(j)]);
        EXPECT_LE(
            std::abs(static_cast<double>(y[static_cast<std::size_t>(k)] - sum)),
            8 * test::fft_bound<TypeParam>(static_cast<double>(n)) * std::sqrt(static_cast<double>(energy)))
            << n << " kind " << static_cast<int>(kind) << " at " << k;
      }
    }
  }
}

TYPED_TEST(Trigonometric, SignalsOfABatchAreSeparate) {
  // Neither large values nor values that are not finite reach other signals.
  std::mt19937 random(5);
  for (const Shape& shape : {Shape(24), Shape{5, 70}, Shape{70, 5}, Shape{3, 4, 40}}) {
    const TrigonometricPlan<TypeParam> one(shape, Kind::dct2), plan(shape, Kind::dct2, {.batch = 7});
    std::vector<TypeParam> x = random_signals<TypeParam>(plan.signal_points(), random);
    const auto points = static_cast<std::ptrdiff_t>(shape.points());
    std::vector<TypeParam> y(x.size()), clean(x.size());
    plan.forward(x, clean);
    x[static_cast<std::size_t>(2 * points + 1)] = std::numeric_limits<TypeParam>::quiet_NaN();
    x[static_cast<std::size_t>(5 * points)] = TypeParam(1e30);
    plan.forward(x, y);
    for (std::ptrdiff_t i = 0; i < 7 * points; ++i) {
      if (i / points == 2 || i / points == 5) continue;
      ASSERT_EQ(y[static_cast<std::size_t>(i)], clean[static_cast<std::size_t>(i)]) << shape.to_string();
    }
    EXPECT_TRUE(std::isnan(y[static_cast<std::size_t>(2 * points)]));
  }
}

TEST(TrigonometricPlan, RefusesWhatItCannotDo) {
  const auto plan = [](const Shape& shape, Kind kind, const Options& options) {
    return code_of([&] { TrigonometricPlan<float>(shape, kind, options); });
  };
  EXPECT_EQ(plan(Shape{4, 1}, Kind::dct1, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan(Shape(1), Kind::dct1, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan(Shape(8), static_cast<Kind>(9), {}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan(Shape(8), Kind::dct2, {.batch = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan(Shape(8), Kind::dct2, {.signal_strides = {.dims = {2, 0, 0}, .batch = 16}}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(plan(Shape(8), Kind::dct2, {.engine = dense::Engine::cufft}), ErrorCode::backend_unavailable);
  EXPECT_EQ(plan(Shape(8), Kind::dct2, {.device = Device::gpu()}), ErrorCode::backend_unavailable);
  const TrigonometricPlan<float> eight(Shape(8), Kind::dct2);
  std::vector<float> x(16), y(16);
  const auto call = [&](std::span<const float> from, std::span<float> to) {
    return code_of([&] { eight.forward(from, to); });
  };
  EXPECT_EQ(call(std::span(x).first(8), std::span(y).first(8)), std::nullopt);
  EXPECT_EQ(call(std::span(x).first(7), std::span(y).first(8)), ErrorCode::shape_mismatch);
  EXPECT_EQ(call(std::span(x).first(8), std::span(y).first(9)), ErrorCode::shape_mismatch);
  EXPECT_EQ(call(std::span(x).first(8), std::span(x).subspan(4, 8)), ErrorCode::invalid_argument);
  EXPECT_EQ(call(std::span(x).first(8), {}), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] { eight.inverse(std::span(x).first(8), std::span(y).first(7)); }),
            ErrorCode::shape_mismatch);
  std::vector<std::byte> small(8);
  EXPECT_EQ(code_of([&] { eight.forward(std::span(x).first(8), std::span(y).first(8), small); }),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sfft::trigonometric_test
