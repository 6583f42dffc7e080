// SPDX-License-Identifier: Apache-2.0
// Tests batches, strides, threads and normalisations of dense plans on the CPU, and their choice of an
// engine.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "sfft/dense.hpp"
#include "sfft/error.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/strided.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::dense_batch_test {
namespace {

using dense::Engine;
using Normalization = dense::Options::Normalization;
using dense::Options;
using dense::Plan;
using Planning = dense::Options::Planning;
using test::as_samples;
using test::code_of;
using test::ComplexSignal;
using test::expected_spectra;
using test::fft_bound;
using test::random_signal;
using test::relative_l2;

std::vector<Engine> engines() {
  return dense::availability(Engine::fftw) ? std::vector{Engine::built_in, Engine::fftw}
                                           : std::vector{Engine::built_in};
}

std::vector<Shape> shapes() {
  return {Shape(1), Shape(12), Shape(17), Shape({6, 10}), Shape({1, 9}), Shape({7, 1}), Shape({3, 4, 5})};
}

template <class Real>
class DenseBatchTest : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(DenseBatchTest, Reals);

/// Transforms a batch of `T` forward and back with the plan's options; the layout's gaps must keep their
/// values.
template <class Real, class T>
void check(const Shape& shape, bool real, const Options& options, const dense::Options::Strides& layout) {
  const auto points = static_cast<std::size_t>(shape.points() * options.batch);
  ComplexSignal drawn = random_signal(points, 11);
  if (std::is_integral_v<T>) {
    for (auto& value : drawn) value = 100.0 + 10.0 * value;
  }
  const auto packed = as_samples<T>(drawn);
  const auto signals = test::spread(packed, shape, layout, options.batch, T(-77));
  const Plan<Real> plan(shape, real ? Domain::real : Domain::complex, options);
  EXPECT_EQ(plan.signal_points(), points);
  std::vector<std::complex<Real>> spectra(plan.spectrum_points());
  plan.forward(signals.data(), element_type_of<T>::value, spectra);
  const double bound = fft_bound<Real>(static_cast<double>(shape.points()));
  EXPECT_LE(relative_l2(spectra, expected_spectra(packed, shape, real)), bound);
  if constexpr (std::is_same_v<T, Real> || std::is_same_v<T, std::complex<Real>>) {
    if (real != std::is_same_v<T, Real>) return;
    std::vector<T> back(signals.size(), T(-77));
    plan.inverse(spectra, std::span(back));
    EXPECT_LE(relative_l2(test::collect(back, shape, layout, options.batch), packed), 2 * bound);
    for (std::size_t i = 0; i < back.size(); ++i) {
      if (signals[i] == T(-77)) {
        EXPECT_EQ(back[i], T(-77)) << "a gap was written at " << i;
      }
    }
  }
}

TYPED_TEST(DenseBatchTest, BatchesEqualSums) {
  for (const Engine engine : engines()) {
    for (const Shape& shape : shapes()) {
      for (const int threads : {1, 3, 0}) {
        SCOPED_TRACE(shape.to_string() + " " + to_string(engine));
        const Options options{.engine = engine, .threads = threads, .batch = 5};
        const dense::Options::Strides contiguous = test::strided_cases(shape, 1)[1].strides;  // one channel
        dense::Options::Strides layout = contiguous;
        layout.batch = shape.points();
        check<TypeParam, TypeParam>(shape, true, options, layout);
        check<TypeParam, std::complex<TypeParam>>(shape, false, options, layout);
        check<TypeParam, TypeParam>(shape, false, options, layout);
      }
    }
  }
}

/// Draws shapes small enough for signals to be grouped, with and without gaps between signals. Batches
/// contain whole groups and a remainder.
TYPED_TEST(DenseBatchTest, DrawnBatchesEqualSums) {
  std::mt19937_64 random(14);
  const auto drawn = [&](std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(to - from + 1));
  };
  for (int i = 0; i < 120; ++i) {
    const std::int64_t a = drawn(1, 6), b = drawn(1, 7), c = drawn(1, 12), n = drawn(1, 140);
    const Shape shape = i % 3 == 0 ? Shape(n) : i % 3 == 1 ? Shape({a * b, c}) : Shape({a, b, c});
    const Options options{.engine = Engine::built_in,
                          .threads = static_cast<int>(drawn(1, 3)),
                          .batch = i % 2 == 0 ? drawn(2, 20) : drawn(20, 70)};
    dense::Options::Strides layout = test::strided_cases(shape, 1)[1].strides;  // one channel
    layout.batch = shape.points() + (i % 4 == 0 ? drawn(1, 3) : 0);
    Options apart = options;
    if (layout.batch != shape.points()) apart.signal_strides = layout;
    SCOPED_TRACE(shape.to_string() + " x " + std::to_string(options.batch));
    check<TypeParam, TypeParam>(shape, true, apart, layout);
    check<TypeParam, std::uint8_t>(shape, true, apart, layout);
    check<TypeParam, std::complex<TypeParam>>(shape, false, apart, layout);
    check<TypeParam, TypeParam>(shape, false, apart, layout);
  }
}

TYPED_TEST(DenseBatchTest, ASignalThatIsNotFiniteSpoilsNoOther) {
  for (const Shape& shape : {Shape(24), Shape(25), Shape({3, 4}), Shape({4, 5}), Shape({3, 2, 5})}) {
    SCOPED_TRACE(shape.to_string());
    constexpr std::size_t kBatch = 19, kBad = 7;
    const auto points = static_cast<std::size_t>(shape.points());
    auto signals = as_samples<TypeParam>(random_signal(points * kBatch, 15));
    signals[kBad * points] = std::numeric_limits<TypeParam>::quiet_NaN();
    for (const bool real : {false, true}) {
      const Plan<TypeParam> plan(shape, real ? Domain::real : Domain::complex,
                                 {.engine = Engine::built_in, .batch = kBatch});
      std::vector<std::complex<TypeParam>> spectra(plan.spectrum_points());
      plan.forward(signals.data(), element_type_of<TypeParam>::value, spectra);
      const std::size_t each = spectra.size() / kBatch;
      for (std::size_t i = 0; i < spectra.size(); ++i)
        EXPECT_EQ(std::isfinite(spectra[i].real()), i / each != kBad) << "value " << i;
    }
  }
}

TYPED_TEST(DenseBatchTest, StridesOfEveryKind) {
  for (const Engine engine : engines()) {
    for (const Shape& shape : shapes()) {
      for (const auto& [name, strides] : test::strided_cases(shape, 3)) {
        SCOPED_TRACE(shape.to_string() + " " + name);
        const Options options{.engine = engine, .threads = 2, .batch = 3, .signal_strides = strides};
        check<TypeParam, TypeParam>(shape, true, options, strides);
        check<TypeParam, std::complex<TypeParam>>(shape, false, options, strides);
        check<TypeParam, std::complex<double>>(shape, false, options, strides);
      }
    }
  }
}

TYPED_TEST(DenseBatchTest, NormalizationsMultiplyBothWays) {
  const Shape shape({6, 10});
  const auto signals = as_samples<TypeParam>(random_signal(120, 12));
  const ComplexSignal sums = expected_spectra(signals, shape, true);
  const double root = std::sqrt(60.0);
  const struct {
    Normalization kind;
    double forward, round_trip;
  } cases[] = {{Normalization::none, 1, 60},
               {Normalization::inverse_by_n, 1, 1},
               {Normalization::forward_by_n, 1.0 / 60, 1},
               {Normalization::unitary, 1 / root, 1}};
  for (const auto& [kind, forward, round_trip] : cases) {
    const Plan<TypeParam> plan(shape, Domain::real, {.normalization = kind, .batch = 2});
    std::vector<std::complex<TypeParam>> spectra(plan.spectrum_points());
    std::vector<TypeParam> back(120), expected;
    plan.forward(signals.data(), element_type_of<TypeParam>::value, spectra);
    ComplexSignal scaled = sums;
    for (auto& value : scaled) value *= forward;
    EXPECT_LE(relative_l2(spectra, scaled), 2 * fft_bound<TypeParam>(60));
    plan.inverse(spectra, std::span(back));
    for (const TypeParam value : signals) expected.push_back(static_cast<TypeParam>(round_trip) * value);
    EXPECT_LE(relative_l2(back, expected), 3 * fft_bound<TypeParam>(60));
  }
}

TYPED_TEST(DenseBatchTest, InPlaceAndGivenWorkspace) {
  for (const auto& [shape, batch] : {std::pair(Shape({9, 14}), 4), std::pair(Shape({3, 5}), 37)}) {
    const auto points = static_cast<double>(shape.points());
    const auto count = static_cast<std::size_t>(shape.points() * batch);
    const auto signals = as_samples<std::complex<TypeParam>>(random_signal(count, 13));
    for (const Engine engine : engines()) {
      const Plan<TypeParam> plan(shape, Domain::complex, {.engine = engine, .threads = 2, .batch = batch});
      std::vector<std::byte> memory(plan.workspace_bytes() + 64);
      const std::size_t skip = 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
      const std::span workspace(memory.data() + skip, plan.workspace_bytes());
      auto values = signals;
      plan.forward(values.data(), element_type_of<std::complex<TypeParam>>::value, values, workspace);
      EXPECT_LE(relative_l2(values, expected_spectra(signals, shape, false)), fft_bound<TypeParam>(points));
      const sfft::Workspace made = plan.make_workspace();
      EXPECT_EQ(made.host().size(), plan.workspace_bytes());
      EXPECT_EQ(made.device_bytes(), 0u);
      plan.inverse(values, std::span(values), made.host());
      EXPECT_LE(relative_l2(values, signals), 2 * fft_bound<TypeParam>(points));
    }
  }
}

TYPED_TEST(DenseBatchTest, OptionsThatMakeNoSense) {
  const Shape shape({4, 6});
  const auto planned = [&](const Options& options) {
    return code_of([&] { Plan<TypeParam>(shape, Domain::real, options); });
  };
  const auto with = [&](std::array<std::int64_t, 3> dims, std::int64_t pitch, std::int64_t batch = 2) {
    return planned({.batch = batch, .signal_strides = {dims, pitch}});
  };
  EXPECT_EQ(planned({.batch = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(planned({.batch = -3}), ErrorCode::invalid_argument);
  EXPECT_EQ(planned({.batch = std::numeric_limits<std::int64_t>::max()}), ErrorCode::size_overflow);
  EXPECT_EQ(with({6, 0, 0}, 24), ErrorCode::invalid_argument) << "a stride is missing";
  EXPECT_EQ(with({6, -1, 0}, 24), ErrorCode::invalid_argument) << "negative";
  EXPECT_EQ(with({6, 1, 0}, 0), ErrorCode::invalid_argument) << "no stride between signals";
  EXPECT_EQ(with({6, 1, 1}, 24), ErrorCode::invalid_argument) << "a dimension too many";
  EXPECT_EQ(with({5, 1, 0}, 24), ErrorCode::invalid_argument) << "rows overlap";
  EXPECT_EQ(with({6, 1, 0}, 23), ErrorCode::invalid_argument) << "signals overlap";
  EXPECT_EQ(with({std::int64_t{1} << 61, 1, 0}, 6), ErrorCode::size_overflow);
  EXPECT_EQ(with({6, 1, 0}, 0, 1), std::nullopt) << "a single signal needs no stride to the next";
  EXPECT_EQ(with({0, 0, 0}, 30), std::nullopt) << "contiguous signals apart";
}

TYPED_TEST(DenseBatchTest, CallsThatDoNotFitThePlan) {
  const Shape shape({4, 6});
  const Plan<TypeParam> plan(shape, Domain::complex, {.batch = 2}),
      strided(shape, Domain::complex, {.signal_strides = {{8, 1, 0}, 0}});
  std::vector<std::complex<TypeParam>> values(48), others(48), few(24);
  std::vector<std::byte> workspace(1 << 16);
  const auto type = element_type_of<std::complex<TypeParam>>::value;
  EXPECT_EQ(code_of([&] { plan.forward(SignalView(few, shape), values); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { strided.forward(SignalView(few, shape), few); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { plan.forward(nullptr, type, values); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { plan.forward(others.data(), type, few); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] { plan.inverse(values, std::span(few)); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] { plan.forward(values.data() + 1, type, values); }), ErrorCode::invalid_argument);
  const std::span<std::complex<TypeParam>> own(values.data(), 24), placed(values.data(), 30);
  EXPECT_EQ(code_of([&] { strided.forward(values.data(), type, own); }), ErrorCode::invalid_argument)
      << "strided signals in their own spectra";
  EXPECT_EQ(code_of([&] { strided.inverse(own, placed); }), ErrorCode::invalid_argument);
  EXPECT_EQ(plan.device_workspace_bytes(), 0u);
  EXPECT_EQ(code_of([&] { plan.enqueue_forward(others.data(), type, values.data(), {}, nullptr); }),
            ErrorCode::backend_unavailable);
  EXPECT_EQ(code_of([&] { plan.enqueue_inverse(others.data(), values.data(), workspace, nullptr); }),
            ErrorCode::backend_unavailable);
}

TYPED_TEST(DenseBatchTest, MeasuringTeachesWisdom) {
  dense::forget_wisdom();
  const Shape shape(360);
  const Plan<TypeParam> before(shape, Domain::complex);
  EXPECT_EQ(before.engine(), Engine::built_in);
  EXPECT_NE(before.reason().find("no wisdom"), std::string::npos) << before.reason();
  const Plan<TypeParam> measured(shape, Domain::complex, {.planning = Planning::measure, .batch = 3});
  EXPECT_EQ(measured.reason().find("measured: built_in"), 0u) << measured.reason();
  const Plan<TypeParam> after(shape, Domain::complex);
  EXPECT_EQ(after.engine(), measured.engine());
  EXPECT_EQ(after.reason().find("wisdom: "), 0u) << after.reason();
  EXPECT_EQ(Plan<TypeParam>(shape, Domain::real).reason().find("no wisdom"), 0u)
      << "real transforms are others";
  dense::forget_wisdom();
}

TEST(DenseEngines, GpuEnginesSayWhyNot) {
  for (const Engine engine : {Engine::cufft, Engine::vkfft, Engine::tuned}) {
    if (!dense::availability(engine)) {
      EXPECT_EQ(code_of([&] { Plan<float>(Shape(8), Domain::real, {.engine = engine}); }),
                ErrorCode::backend_unavailable);
    }
  }
  // Neither the engine nor the device outranks the other.
  EXPECT_EQ(code_of([] {
              Plan<float>(Shape(8), Domain::real, {.engine = Engine::built_in, .device = Device::gpu()});
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(
      code_of(
          [] { Plan<float>(Shape(8), Domain::real, {.engine = Engine::tuned, .device = Device::cpu()}); }),
      dense::availability(Engine::tuned) ? ErrorCode::invalid_argument : ErrorCode::backend_unavailable);
  EXPECT_EQ(Plan<float>(Shape(8), Domain::real, {.engine = Engine::built_in}).engine(), Engine::built_in);
}

}  // namespace
}  // namespace sfft::dense_batch_test
