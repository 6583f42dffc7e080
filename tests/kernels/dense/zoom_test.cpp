// SPDX-License-Identifier: Apache-2.0
// Compares bands and zooms of selective plans with sums by definition in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "kernels/cpu/stages/matrix_product.hpp"
#include "kernels/dense/cpu/zoom_fft.hpp"
#include "sfft/dense_selective.hpp"
#include "tests/support/throws.hpp"

namespace sfft::zoom_test {
namespace {

using dense::Options;
using dense::SelectivePlan;
using detail::FrequencyRange;
using test::code_of;

/// Σ_t x[t] exp(−2πi (start + j·step) t/n) for exact start and step. Phases are reduced before they are
/// rounded: products of doubles and t are sums of two doubles.
template <class T>
std::complex<double> direct_sum(const T* x, std::int64_t n, double start, double step, std::int64_t j,
                                std::int64_t stride = 1) {
  const auto turns_of = [n](double f, std::int64_t k) {  // f·k/n modulo 1
    f = std::fmod(f, static_cast<double>(n));
    const auto factor = static_cast<double>(k);
    const double product = f * factor, low = std::fma(f, factor, -product);
    return (static_cast<long double>(std::fmod(product, static_cast<double>(n))) +
            static_cast<long double>(low)) /
           static_cast<long double>(n);
  };
  constexpr long double kTurn = 2 * std::numbers::pi_v<long double>;
  std::complex<long double> sum = 0;
  for (std::int64_t t = 0; t < n; ++t) {
    const long double angle = -kTurn * (turns_of(start, t) + turns_of(step, j * t));
    const std::complex<double> value(x[t * stride]);
    sum += std::complex<long double>(value.real(), value.imag()) *
           std::complex<long double>(std::cos(angle), std::sin(angle));
  }
  return {static_cast<double>(sum.real()), static_cast<double>(sum.imag())};
}

template <class T>
using RealOf =
    std::conditional_t<std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>, double, float>;

template <class T>
std::vector<T> random_samples(std::int64_t count, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<T> x(static_cast<std::size_t>(count));
  for (T& value : x) {
    if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(random() % 256);
    else if constexpr (is_complex(element_type_of<T>::value))
      value = T(static_cast<RealOf<T>>(normal(random)), static_cast<RealOf<T>>(normal(random)));
    else
      value = static_cast<T>(normal(random));
  }
  return x;
}

/// Errors relative to the root of the signal's energy, which is the RMS of its whole spectrum.
template <class T>
void expect_sums(const SelectivePlan<RealOf<T>>& plan, const FrequencyRange& range, std::mt19937& random) {
  using Real = RealOf<T>;
  constexpr double kTolerance = sizeof(Real) == 4 ? 1e-6 : 5e-14;
  const std::int64_t n = plan.shape().points(), batch = plan.options().batch;
  const auto strides = plan.options().signal_strides;
  const std::int64_t stride = std::max<std::int64_t>(1, strides.dims[0]),
                     between = strides.batch == 0 ? n : strides.batch;
  const std::vector<T> x = random_samples<T>(batch * n * stride + between, random);
  std::vector<std::complex<Real>> values(static_cast<std::size_t>(batch * range.count));
  plan.forward_at(x.data(), element_type_of<T>::value, values);
  for (std::int64_t b = 0; b < batch; ++b) {
    const T* const signal = x.data() + b * between;
    double energy = 0;
    for (std::int64_t t = 0; t < n; ++t) energy += std::norm(std::complex<double>(signal[t * stride]));
    for (int checked = 0; checked < 5; ++checked) {
      const std::int64_t j = checked == 0   ? 0
                             : checked == 1 ? range.count - 1
                                            : static_cast<std::int64_t>(random()) % range.count;
      const std::complex<double> sum = direct_sum(signal, n, range.start, range.step, j, stride),
                                 value(values[static_cast<std::size_t>(b * range.count + j)]);
      ASSERT_LE(std::abs(value - sum), kTolerance * std::sqrt(energy))
          << "n " << n << " start " << range.start << " step " << range.step << " count " << range.count
          << " j " << j << " signal " << b << ": " << plan.explain();
    }
  }
}

template <class T>
void expect_band(std::int64_t n, std::int64_t first, std::int64_t count, std::mt19937& random,
                 const Options& options = {}) {
  const auto plan =
      SelectivePlan<RealOf<T>>::band(Shape(n), domain_of(element_type_of<T>::value), first, count, options);
  expect_sums<T>(plan, {.start = static_cast<double>(first), .step = 1, .count = count}, random);
}
template <class T>
void expect_zoom(std::int64_t n, const FrequencyRange& range, std::mt19937& random,
                 const Options& options = {}) {
  const auto plan = SelectivePlan<RealOf<T>>::zoom(Shape(n), domain_of(element_type_of<T>::value),
                                                   range.start, range.step, range.count, options);
  expect_sums<T>(plan, range, random);
}

template <class T>
void expect_drawn(std::int64_t n, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform;
  const auto length = static_cast<double>(n);
  const auto draw = [&](double max) {
    return static_cast<std::int64_t>(std::exp(uniform(random) * std::log(max)));
  };
  for (int drawn = 0; drawn < 3; ++drawn) {
    const std::int64_t count = draw(length);
    const auto first = static_cast<std::int64_t>((3 * uniform(random) - 1.5) * length);
    expect_band<T>(n, first, count, random);
    expect_zoom<T>(n,
                   {.start = (uniform(random) - 0.5) * length,
                    .step = (uniform(random) - 0.5) * length / static_cast<double>(draw(4 * length)),
                    .count = draw(500)},
                   random);
  }
}

TEST(Zoom, DrawnRangesAreTheSums) {
  std::mt19937 random(5);
  for (const std::int64_t n :
       {1, 2, 3, 7, 16, 60, 97, 625, 1000, 1009, 2048, 4095, 6000, 10007, 16384, 30030}) {
    expect_drawn<float>(n, random);
    expect_drawn<double>(n, random);
    expect_drawn<std::complex<float>>(n, random);
    expect_drawn<std::complex<double>>(n, random);
  }
}

TEST(Zoom, BandsAtTheEdgesAndWholeSpectra) {
  std::mt19937 random(6);
  for (const std::int64_t n : {5, 1024, 1009, 3600}) {
    for (const std::int64_t first : {std::int64_t{0}, std::int64_t{-2}, n / 2 - 1, n - 2, -7 * n + 3}) {
      for (const std::int64_t count : {std::int64_t{1}, std::int64_t{5}, n}) {
        expect_band<double>(n, first, count, random);
        expect_band<std::complex<float>>(n, first, count, random);
      }
    }
  }
}

TEST(Zoom, RepeatedNegativeAndVeryLargeSteps) {
  std::mt19937 random(7);
  for (const std::int64_t n : {1000, 1009}) {
    const auto length = static_cast<double>(n);
    for (const double step : {0.0, -0.25, -1.0, 3.0, length, 1e9, length / 2, 1e-12}) {
      expect_zoom<double>(n, {.start = 0.125, .step = step, .count = 20}, random);
      expect_zoom<std::complex<double>>(n, {.start = -1e10, .step = step, .count = 3}, random);
    }
  }
}

TEST(Zoom, LongSignals) {
  std::mt19937 random(8);
  const std::int64_t n = 1 << 17;
  expect_band<float>(n, 1234, 100, random);
  expect_band<double>(n, -50, 100, random);
  expect_zoom<float>(100003, {.start = 45000.3, .step = -0.7, .count = 200}, random);
  expect_zoom<std::complex<double>>(n, {.start = 60000.01, .step = 0.3, .count = 200}, random);
  EXPECT_FALSE(SelectivePlan<float>::band(Shape(n), Domain::real, 1, 100).stores_spectrum());
}

TEST(Zoom, BatchesStridesAndCameraSamples) {
  std::mt19937 random(9);
  Options options{.batch = 3};
  expect_band<std::uint8_t>(3000, 100, 20, random, options);
  expect_zoom<std::uint16_t>(3000, {.start = 99.5, .step = 0.1, .count = 20}, random, options);
  options.signal_strides.batch = 3500;
  expect_band<float>(3000, 100, 20, random, options);
  options.signal_strides = {.dims = {3, 0, 0}, .batch = 1};
  expect_zoom<double>(3000, {.start = 99.5, .step = 0.1, .count = 20}, random, options);
  expect_band<std::complex<float>>(3000, 100, 20, random, options);
}

TEST(Zoom, FactorsOfNormalizationApply) {
  const std::vector<double> x(5000, 1.0);
  const Options options{.normalization = Options::Normalization::forward_by_n};
  std::vector<std::complex<double>> values(3);
  SelectivePlan<double>::band(Shape(5000), Domain::real, -1, 3, options)
      .forward_at(x.data(), ElementType::f64, values);
  EXPECT_NEAR(std::abs(values[1] - 1.0), 0, 1e-13);
  EXPECT_NEAR(std::abs(values[0]), 0, 1e-13);
}

TEST(Zoom, ThreadsDoNotChangeTheBits) {
  std::mt19937 random(10);
  const std::int64_t n = 300000;
  for (const std::int64_t batch : {1, 3}) {
    const std::vector<float> x = random_samples<float>(batch * n, random);
    std::vector<std::complex<float>> one(static_cast<std::size_t>(50 * batch)), four = one;
    SelectivePlan<float>::zoom(Shape(n), Domain::real, 7.5, 0.5, 50, {.batch = batch})
        .forward_at(x.data(), ElementType::f32, one);
    SelectivePlan<float>::zoom(Shape(n), Domain::real, 7.5, 0.5, 50, {.threads = 4, .batch = batch})
        .forward_at(x.data(), ElementType::f32, four);
    EXPECT_EQ(one, four);
  }
}

/// Energy outside the band must not alias into it.
TEST(Zoom, StrongTonesOutsideTheBandDoNotShow) {
  const std::int64_t n = 1 << 16;
  std::vector<std::complex<double>> x(static_cast<std::size_t>(n)), values(64);
  for (std::int64_t tone = 100; tone < n; tone += 509) {
    for (std::int64_t t = 0; t < n; ++t)
      x[static_cast<std::size_t>(t)] +=
          std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(tone * t % n) / static_cast<double>(n));
  }
  for (std::int64_t first = 110; first < 500; first += 60) {
    SelectivePlan<double>::band(Shape(n), Domain::complex, first, 64)
        .forward_at(x.data(), ElementType::c128, values);
    for (const auto& value : values) EXPECT_LE(std::abs(value), 3e-13 * static_cast<double>(n)) << first;
  }
}

TEST(Zoom, WhatMakesNoSenseIsRefused) {
  const auto band = [](const Shape& shape, std::int64_t first, std::int64_t count,
                       const Options& options = {}) {
    return code_of([&] { SelectivePlan<float>::band(shape, Domain::real, first, count, options); });
  };
  const auto zoom = [](const Shape& shape, double start, double step, std::int64_t count,
                       const Options& options = {}) {
    return code_of([&] { SelectivePlan<float>::zoom(shape, Domain::real, start, step, count, options); });
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                   kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(band(Shape(16), 0, 0), ErrorCode::invalid_argument);
  EXPECT_EQ(band(Shape(16), 0, -1), ErrorCode::invalid_argument);
  EXPECT_EQ(band(Shape(16), 0, 17), ErrorCode::invalid_argument);
  EXPECT_EQ(band(Shape({4, 4}), 0, 3), ErrorCode::invalid_argument);
  EXPECT_EQ(band(Shape(16), 0, 16), std::nullopt);
  EXPECT_EQ(band(Shape(16), std::numeric_limits<std::int64_t>::min(), 16), std::nullopt);
  EXPECT_EQ(zoom(Shape(16), 0, 1, 0), ErrorCode::invalid_argument);
  EXPECT_EQ(zoom(Shape(16), 0, 1, std::numeric_limits<std::int64_t>::max()), ErrorCode::invalid_argument);
  EXPECT_EQ(zoom(Shape(16), 0, 1, std::int64_t{1} << 40), ErrorCode::out_of_memory);
  EXPECT_EQ(zoom(Shape({4, 4}), 0, 1, 3), ErrorCode::invalid_argument);
  EXPECT_EQ(zoom(Shape(16), kNan, 1, 3), ErrorCode::invalid_argument);
  EXPECT_EQ(zoom(Shape(16), 0, kInfinite, 3), ErrorCode::invalid_argument);
  EXPECT_EQ(zoom(Shape(16), 0, 1, 40), std::nullopt);
  EXPECT_EQ(zoom(Shape(16), 0, 1, 3, {.device = Device::gpu()}), ErrorCode::backend_unavailable);
  EXPECT_EQ(zoom(Shape(16), 0, 1, 3, {.engine = dense::Engine::cufft}), ErrorCode::backend_unavailable);
  EXPECT_EQ(band(Shape(16), -1, 3, {.device = Device::gpu()}), ErrorCode::backend_unavailable);
  EXPECT_EQ(zoom(Shape(16), 0, 1, 3, {.batch = 0}), ErrorCode::invalid_argument);

  const auto plan = SelectivePlan<float>::zoom(Shape(16), Domain::real, 0.5, 1, 3);
  const std::vector<float> x(16);
  std::vector<std::complex<float>> values(3);
  EXPECT_EQ(code_of([&] { plan.forward_above(x.data(), ElementType::f32, 1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { plan.forward_at(x.data(), ElementType::f32, std::span(values).first(2)); }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] { plan.forward_at(x.data(), ElementType::c64, values); }), ErrorCode::type_mismatch);
  EXPECT_EQ(code_of([&] { plan.enqueue_at(x.data(), ElementType::f32, values.data(), {}, nullptr); }),
            ErrorCode::backend_unavailable);
}

template <class Real>
void expect_filtered() {
  std::mt19937 random(11);
  for (const std::int64_t length : {16, 48, 1040}) {
    for (const std::int64_t values : {1, 3, 4, 9}) {
      constexpr std::int64_t kStride = 7;
      const std::vector<Real> x = random_samples<Real>((values - 1) * kStride + length, random),
                              filters = random_samples<Real>(2 * length, random);
      std::vector<Real> to(static_cast<std::size_t>(2 * values));
      detail::cpu::matrix_kernels<Real>().decimate(x.data(), values, kStride, filters.data(), length,
                                                   to.data());
      for (std::int64_t m = 0; m < 2 * values; ++m) {
        double sum = 0;
        for (std::int64_t i = 0; i < length; ++i)
          sum += static_cast<double>(x[static_cast<std::size_t>(m / 2 * kStride + i)]) *
                 static_cast<double>(filters[static_cast<std::size_t>(m % 2 * length + i)]);
        EXPECT_NEAR(static_cast<double>(to[static_cast<std::size_t>(m)]), sum,
                    sizeof(Real) == 4 ? 1e-4 : 1e-12);
      }
    }
  }
}

TEST(Zoom, TwoFiltersAtStrides) {
  expect_filtered<float>();
  expect_filtered<double>();
}

}  // namespace
}  // namespace sfft::zoom_test
