// SPDX-License-Identifier: Apache-2.0
// Tests identities of the discrete Fourier transform for every GPU engine, and the scaling of results.
#include <cmath>
#include <numbers>

#include "sfft/dense.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"

namespace sfft::test::dense_identities_cuda_test {
namespace {

using dense::Engine;
using Normalization = dense::Options::Normalization;

template <class Real>
class DenseIdentitiesCuda : public GpuTest {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(DenseIdentitiesCuda, Reals);

std::vector<Shape> shapes() {
  return {Shape(1000),     Shape(1021),         Shape({96, 81}),
          Shape({37, 53}), Shape({12, 20, 30}), Shape({11, 13, 17})};
}

TYPED_TEST(DenseIdentitiesCuda, Linear) {
  using C = std::complex<TypeParam>;
  const C factor(TypeParam(0.5), TypeParam(-2));
  for (const Engine engine : gpu_engines()) {
    for (const Shape& shape : shapes()) {
      const auto plan = plan_if_possible<TypeParam>(shape, false, {.engine = engine});
      if (!plan) continue;
      const auto x = as_samples<C>(random_signal(plan->signal_points(), 31));
      const auto y = as_samples<C>(random_signal(plan->signal_points(), 32));
      std::vector<C> sum(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) sum[i] = x[i] + factor * y[i];
      const auto fx = forward_on_device(*plan, x), fy = forward_on_device(*plan, y);
      std::vector<std::complex<double>> expected(x.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        expected[i] =
            std::complex<double>(fx[i]) + std::complex<double>(factor) * std::complex<double>(fy[i]);
      EXPECT_LE(relative_l2(forward_on_device(*plan, sum), expected),
                3 * gpu_bound<TypeParam>(engine, static_cast<double>(shape.points())))
          << plan->engine_name() << " " << shape.to_string();
    }
  }
}

TYPED_TEST(DenseIdentitiesCuda, CircularShiftTurnsPhases) {
  using C = std::complex<TypeParam>;
  for (const Engine engine : gpu_engines()) {
    for (const Shape& shape : shapes()) {
      const auto plan = plan_if_possible<TypeParam>(shape, false, {.engine = engine});
      if (!plan) continue;
      const auto x = as_samples<C>(random_signal(plan->signal_points(), 33));
      const std::int64_t row = shape[shape.rank() - 1], by = row / 3;
      std::vector<C> shifted(x.size());
      for (std::int64_t i = 0; i < shape.points(); ++i)
        shifted[static_cast<std::size_t>(i - i % row + (i % row + by) % row)] =
            x[static_cast<std::size_t>(i)];
      auto expected = forward_on_device(*plan, x);
      for (std::int64_t i = 0; i < shape.points(); ++i) {
        const double turns = static_cast<double>(i % row * by % row) / static_cast<double>(row);
        expected[static_cast<std::size_t>(i)] *= C(std::polar(1.0, -2 * std::numbers::pi * turns));
      }
      EXPECT_LE(relative_l2(forward_on_device(*plan, shifted), expected),
                3 * gpu_bound<TypeParam>(engine, static_cast<double>(shape.points())))
          << plan->engine_name() << " " << shape.to_string();
    }
  }
}

/// The half spectrum equals half of the spectrum of the same samples as complex numbers; the omitted half
/// contains conjugates.
TYPED_TEST(DenseIdentitiesCuda, RealSymmetry) {
  using C = std::complex<TypeParam>;
  for (const Engine engine : gpu_engines()) {
    for (const Shape& shape : shapes()) {
      const auto half = plan_if_possible<TypeParam>(shape, true, {.engine = engine});
      const auto whole = plan_if_possible<TypeParam>(shape, false, {.engine = engine});
      if (!half || !whole) continue;
      const auto x = as_samples<TypeParam>(random_signal(whole->signal_points(), 34));
      const auto spectrum = forward_on_device(*whole, x);
      const double bound = 3 * gpu_bound<TypeParam>(engine, static_cast<double>(shape.points()));
      EXPECT_LE(
          relative_l2(forward_on_device(*half, x), half_spectrum({spectrum.begin(), spectrum.end()}, shape)),
          bound)
          << half->engine_name() << " " << shape.to_string();
      std::vector<C> mirrored(spectrum.size());
      for (std::int64_t i = 0; i < shape.points(); ++i) {
        std::int64_t rest = i, at = 0, stride = 1;
        for (int d = shape.rank() - 1; d >= 0; --d) {
          at += (shape[d] - rest % shape[d]) % shape[d] * stride;
          rest /= shape[d];
          stride *= shape[d];
        }
        mirrored[static_cast<std::size_t>(i)] = std::conj(spectrum[static_cast<std::size_t>(at)]);
      }
      EXPECT_LE(relative_l2(mirrored, spectrum), bound) << whole->engine_name() << " " << shape.to_string();
    }
  }
}

TYPED_TEST(DenseIdentitiesCuda, Normalizations) {
  const double n = 12 * 35;
  const struct {
    Normalization kind;
    double forward, round_trip;
  } cases[] = {{Normalization::none, 1, n},
               {Normalization::inverse_by_n, 1, 1},
               {Normalization::forward_by_n, 1 / n, 1},
               {Normalization::unitary, 1 / std::sqrt(n), 1}};
  const auto check = [&](auto sample) {
    using T = decltype(sample);
    const bool real = std::is_same_v<T, TypeParam>;
    const auto x = as_samples<T>(random_signal(static_cast<std::size_t>(2 * n), 35));
    const auto sums = expected_spectra(x, Shape({12, 35}), real);
    for (const Engine engine : gpu_engines()) {
      for (const auto& [kind, forward, round_trip] : cases) {
        const auto plan = plan_if_possible<TypeParam>(Shape({12, 35}), real,
                                                      {.engine = engine, .normalization = kind, .batch = 2});
        if (!plan) continue;
        auto scaled = sums;
        for (auto& value : scaled) value *= forward;
        const auto spectra = forward_on_device(*plan, x);
        EXPECT_LE(relative_l2(spectra, scaled), gpu_bound<TypeParam>(engine, n)) << plan->engine_name();
        auto expected = x;
        for (T& value : expected) value *= static_cast<TypeParam>(round_trip);
        EXPECT_LE(relative_l2(inverse_on_device(*plan, spectra, std::vector<T>(x.size())), expected),
                  2 * gpu_bound<TypeParam>(engine, n))
            << plan->engine_name();
      }
    }
  };
  check(TypeParam());
  check(std::complex<TypeParam>());
}

}  // namespace
}  // namespace sfft::test::dense_identities_cuda_test
