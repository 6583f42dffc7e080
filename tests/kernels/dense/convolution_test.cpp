// SPDX-License-Identifier: Apache-2.0
// Compares convolutions and correlations with sums by definition in double.
#include "sfft/dense_convolution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::convolution_test {
namespace {

using dense::ConvolutionPlan;
using dense::Options;
using Extent = Options::Extent;
using test::code_of;
using Index = std::array<std::int64_t, 3>;

template <class T>
constexpr bool kComplex = !std::is_arithmetic_v<T>;

template <class T>
std::vector<T> random_values(std::int64_t count, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<T> x(static_cast<std::size_t>(count));
  for (T& value : x) {
    if constexpr (kComplex<T>) {
      using Real = typename T::value_type;
      value = {static_cast<Real>(normal(random)), static_cast<Real>(normal(random))};
    } else {
      value = static_cast<T>(normal(random));
    }
  }
  return x;
}

/// An element of an array that is zero, or periodic, outside.
template <class T>
std::complex<double> element(const T* x, const Index& extents, Index at, bool periodic) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (periodic) at[d] = ((at[d] % extents[d]) + extents[d]) % extents[d];
    if (at[d] < 0 || at[d] >= extents[d]) return 0;
  }
  return std::complex<double>(x[(at[0] * extents[1] + at[1]) * extents[2] + at[2]]);
}

Index padded(const Shape& shape) {
  Index extents{1, 1, 1};
  for (int d = 0; d < shape.rank(); ++d) extents[static_cast<std::size_t>(3 - shape.rank() + d)] = shape[d];
  return extents;
}

/// numpy.convolve and scipy.signal.correlate by definition, one result.
template <class T>
std::complex<double> direct(const T* x, const Shape& shape, const std::vector<T>& kernel, const Shape& taps,
                            const Index& result, Extent extent, bool correlate) {
  const Index n = padded(shape), m = padded(taps);
  Index first{};  // the index of result 0 among those of `full`
  for (std::size_t d = 0; d < 3; ++d) {
    if (extent == Extent::same) first[d] = (m[d] - 1) / 2;
    if (extent == Extent::valid) first[d] = m[d] - 1;
    if (extent == Extent::circular && correlate) first[d] = m[d] - 1;
  }
  std::complex<double> sum = 0;
  Index k;
  for (k[0] = 0; k[0] < m[0]; ++k[0]) {
    for (k[1] = 0; k[1] < m[1]; ++k[1]) {
      for (k[2] = 0; k[2] < m[2]; ++k[2]) {
        Index at;
        for (std::size_t d = 0; d < 3; ++d)
          at[d] = result[d] + first[d] + (correlate ? k[d] - (m[d] - 1) : -k[d]);
        const std::complex<double> tap = element(kernel.data(), m, k, false);
        sum += (correlate ? std::conj(tap) : tap) * element(x, n, at, extent == Extent::circular);
      }
    }
  }
  return sum;
}

template <class T>
struct RealOf {
  using Type = T;
};
template <class Real>
struct RealOf<std::complex<Real>> {
  using Type = Real;
};

struct Case {
  Shape shape, taps;
  Extent extent = Extent::full;
  bool correlate = false;
  Options options{};
  int checked = 400;  ///< results that are drawn
};

template <class T>
void expect_sums(const Case& one, std::mt19937& random) {
  using Real = typename RealOf<T>::Type;
  const auto kernel = random_values<T>(one.taps.points(), random);
  const SignalView view(kernel, one.taps);
  const Domain domain = kComplex<T> ? Domain::complex : Domain::real;
  const auto make = [&](const Options& options) {
    return one.correlate ? ConvolutionPlan<Real>::correlation(one.shape, domain, view, one.extent, options)
                         : ConvolutionPlan<Real>(one.shape, domain, view, one.extent, options);
  };
  const ConvolutionPlan<Real> plan = make(one.options);
  const auto x = random_values<T>(static_cast<std::int64_t>(plan.signal_points()), random), before = x;
  std::vector<T> y(plan.result_points()), shared(y.size());
  plan.forward(x, y);
  EXPECT_EQ(x, before);
  Options threads = one.options;
  threads.threads = 3;
  make(threads).forward(x, shared);
  EXPECT_EQ(shared, y);
  Index results = padded(one.shape);
  const Index m = padded(one.taps);
  for (std::size_t d = 0; d < 3; ++d) {
    if (one.extent == Extent::full) results[d] += m[d] - 1;
    if (one.extent == Extent::valid) results[d] -= m[d] - 1;
  }
  const std::int64_t points = results[0] * results[1] * results[2];
  ASSERT_EQ(y.size(), static_cast<std::size_t>(one.options.batch * points));
  // The typical size of a result.
  const double scale = std::sqrt(static_cast<double>(one.taps.points())) * (kComplex<T> ? 2 : 1);
  const double bound =
      12 * test::fft_bound<Real>(static_cast<double>(one.shape.points() + one.taps.points()));
  for (int draw = 0; draw < one.checked; ++draw) {
    const auto all = static_cast<std::int64_t>(y.size());
    const std::int64_t at = all <= one.checked
                                ? draw % all
                                : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(all));
    const std::int64_t i = at % points;
    const Index result{i / (results[1] * results[2]), i / results[2] % results[1], i % results[2]};
    const auto expected = direct(x.data() + at / points * one.shape.points(), one.shape, kernel, one.taps,
                                 result, one.extent, one.correlate);
    EXPECT_LE(std::abs(std::complex<double>(y[static_cast<std::size_t>(at)]) - expected), bound * scale)
        << one.shape.to_string() << " with " << one.taps.to_string() << " extent "
        << static_cast<int>(one.extent) << (one.correlate ? " correlated" : "") << " at " << at << ": "
        << plan.reason();
  }
}

template <class T>
class Convolution : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Convolution, Types);

TYPED_TEST(Convolution, DrawnShapes) {
  std::mt19937 random(1);
  const auto extent = [&](std::int64_t max) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(max));
  };
  for (int draw = 0; draw < 120; ++draw) {
    const int rank = 1 + draw % 3;
    const std::int64_t most = rank == 1 ? 3000 : rank == 2 ? 90 : 20;
    Index n, m;
    const auto kind = static_cast<Extent>(random() % 4);
    for (std::size_t d = 0; d < 3; ++d) {
      n[d] = extent(most);
      m[d] = extent(random() % 3 == 0 ? most : 9);
      if (kind == Extent::valid || kind == Extent::circular) m[d] = std::min(m[d], n[d]);
    }
    const auto used = static_cast<std::size_t>(rank);
    expect_sums<TypeParam>({Shape(std::span<const std::int64_t>(n).first(used)),
                            Shape(std::span<const std::int64_t>(m).first(used)),
                            kind,
                            random() % 2 == 0,
                            {.batch = extent(3)}},
                           random);
  }
}

TYPED_TEST(Convolution, ManyBlocks) {
  std::mt19937 random(2);
  for (const Extent extent : {Extent::full, Extent::same, Extent::valid, Extent::circular}) {
    for (const bool correlate : {false, true}) {
      expect_sums<TypeParam>({Shape(100'003), Shape(257), extent, correlate}, random);
      expect_sums<TypeParam>({Shape{700, 501}, Shape{7, 12}, extent, correlate}, random);
    }
  }
}

TEST(ConvolutionPlan, TakesKernelsOfOtherTypes) {
  const std::vector<std::uint8_t> taps{1, 2, 3};
  const std::vector<float> x{1, 0, 0, 10};
  std::vector<float> y(6);
  ConvolutionPlan<float>(Shape(4), Domain::real, SignalView::line(taps)).forward(x, y);
  const std::vector<float> expected{1, 2, 3, 10, 20, 30};
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-5);
  // A region of a larger array.
  const std::vector<double> grid{1, 2, 9, 3, 4, 9};
  std::vector<float> sums(9);
  ConvolutionPlan<float>(Shape{2, 2}, Domain::real, SignalView::rows(grid.data(), {2, 2}, 3))
      .forward(x, sums);
  const std::vector<float> of_region{1, 2, 0, 3, 14, 20, 0, 30, 40};
  for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(sums[i], of_region[i], 1e-4);
}

TEST(ConvolutionPlan, RefusesWhatItCannotDo) {
  const std::vector<float> taps(9, 1);
  const std::vector<std::complex<float>> complex_taps(9, 1);
  const auto plan = [&](const Shape& shape, const SignalView& kernel, Extent extent, const Options& options) {
    return code_of([&] { ConvolutionPlan<float>(shape, Domain::real, kernel, extent, options); });
  };
  const SignalView nine = SignalView::line(taps);
  EXPECT_EQ(plan(Shape{5, 5}, nine, Extent::full, {}), ErrorCode::shape_mismatch);
  EXPECT_EQ(plan(Shape(5), nine, Extent::valid, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan(Shape(5), nine, Extent::circular, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan(Shape(5), nine, static_cast<Extent>(4), {}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan(Shape(5), SignalView::line(complex_taps), Extent::full, {}), ErrorCode::type_mismatch);
  EXPECT_EQ(plan(Shape(5), nine, Extent::full, {.device = Device::gpu()}), ErrorCode::backend_unavailable);
  EXPECT_EQ(plan(Shape(5), nine, Extent::full, {.signal_strides = {.dims = {2, 0, 0}, .batch = 10}}),
            ErrorCode::invalid_argument);
  const ConvolutionPlan<float> full(Shape(5), Domain::real, nine);
  std::vector<float> x(13), y(13);
  std::vector<std::complex<float>> z(13);
  const auto call = [&](std::span<const float> from, std::span<float> to) {
    return code_of([&] { full.forward(from, to); });
  };
  EXPECT_EQ(call(std::span(x).first(5), y), std::nullopt);
  EXPECT_EQ(call(x, y), ErrorCode::shape_mismatch);
  EXPECT_EQ(call(std::span(x).first(5), std::span(y).first(5)), ErrorCode::shape_mismatch);
  EXPECT_EQ(call(std::span(x).first(5), x), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { full.forward(std::span<const std::complex<float>>(z).first(5), z); }),
            ErrorCode::type_mismatch);
}

}  // namespace
}  // namespace sfft::convolution_test
