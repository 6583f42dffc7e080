// SPDX-License-Identifier: Apache-2.0
// Tests every engine of the dense plan against direct sums, and calls of one plan against each other.
#include "sfft/dense.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "sfft/error.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace dense_test {
namespace {

using sfft::ErrorCode;
using sfft::Shape;
using sfft::SignalView;
using sfft::dense::Engine;
using Normalization = sfft::dense::Options::Normalization;
using sfft::dense::Options;
using sfft::dense::Plan;
using Planning = sfft::dense::Options::Planning;
using sfft::test::direct_dft;
using sfft::test::fft_bound;
using sfft::test::random_signal;
using sfft::test::relative_l2;
using Signal = std::vector<std::complex<double>>;

std::vector<Engine> engines() {
  std::vector<Engine> all{Engine::built_in};
  if (availability(Engine::fftw)) all.push_back(Engine::fftw);
  return all;
}

std::vector<Shape> shapes() {
  return {Shape(1),         Shape(2),          Shape(3),          Shape(16),         Shape(17),
          Shape(63),        Shape(64),         Shape(1000),       Shape(1021),       Shape({1, 1}),
          Shape({1, 12}),   Shape({12, 1}),    Shape({24, 27}),   Shape({31, 33}),   Shape({67, 40}),
          Shape({5, 134}),  Shape({108, 54}),  Shape({3, 300}),   Shape({300, 3}),   Shape({2, 3, 5}),
          Shape({1, 1, 1}), Shape({9, 7, 11}), Shape({16, 8, 4}), Shape({1, 71, 6}), Shape({13, 1, 10}),
          Shape({128, 3}),  Shape({3, 128}),   Shape({40, 2}),    Shape({41, 5}),    Shape({33, 6}),
          Shape({50, 7}),   Shape({37, 8}),    Shape({35, 13}),   Shape({32, 32}),   Shape({5, 6, 4})};
}

template <class Real>
std::vector<std::complex<Real>> as_complex(const Signal& x) {
  return {x.begin(), x.end()};
}

template <class T>
std::vector<T> real_parts(const Signal& x) {
  std::vector<T> parts;
  for (const auto& value : x) parts.push_back(static_cast<T>(value.real()));
  return parts;
}

/// Takes the half spectrum of a real signal from the whole one.
Signal half(const Signal& spectrum, const Shape& shape) {
  const std::int64_t row = shape[shape.rank() - 1];
  Signal kept;
  for (std::int64_t first = 0; first < shape.points(); first += row) {
    for (std::int64_t k = 0; k <= row / 2; ++k) kept.push_back(spectrum[static_cast<std::size_t>(first + k)]);
  }
  return kept;
}

std::size_t size(const Shape& shape) {
  return static_cast<std::size_t>(shape.points());
}

template <class Action>
ErrorCode code_of(const Action& action) {
  try {
    action();
  } catch (const sfft::Error& error) {
    EXPECT_GT(std::strlen(error.what()), 10u);
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::device;
}

template <class Real>
class DenseTest : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(DenseTest, Reals);

TYPED_TEST(DenseTest, ComplexForwardEqualsTheSumAndInverseReturns) {
  for (const Shape& shape : shapes()) {
    const Signal x = random_signal(size(shape), 1);
    const Signal expected = direct_dft(x, shape.extents());
    const auto signal = as_complex<TypeParam>(x);
    for (const Engine engine : engines()) {
      const Plan<TypeParam> plan(shape, sfft::Domain::complex, {.engine = engine});
      EXPECT_EQ(plan.engine(), engine);
      std::vector<std::complex<TypeParam>> spectrum(plan.spectrum_points()), back(size(shape));
      plan.forward(SignalView(signal, shape), spectrum);
      const double bound = fft_bound<TypeParam>(static_cast<double>(shape.points()));
      EXPECT_LE(relative_l2(spectrum, expected), bound) << shape.to_string() << " " << plan.engine_name();
      EXPECT_EQ(signal, as_complex<TypeParam>(x)) << "the input was changed";
      const auto kept = spectrum;
      plan.inverse(spectrum, std::span(back));
      EXPECT_EQ(spectrum, kept) << "the input was changed";
      EXPECT_LE(relative_l2(back, signal), 2 * bound) << shape.to_string() << " " << plan.engine_name();
      plan.inverse(spectrum, std::span(spectrum));
      EXPECT_LE(relative_l2(spectrum, signal), 2 * bound) << "in place " << shape.to_string();
      plan.forward(SignalView(spectrum, shape), spectrum);
      EXPECT_LE(relative_l2(spectrum, expected), 3 * bound) << "in place " << shape.to_string();
    }
  }
}

TYPED_TEST(DenseTest, RealForwardIsHalfTheComplexSpectrumAndInverseReturns) {
  for (const Shape& shape : shapes()) {
    const std::vector<TypeParam> signal = real_parts<TypeParam>(random_signal(size(shape), 2));
    const Signal expected = half(direct_dft(Signal(signal.begin(), signal.end()), shape.extents()), shape);
    for (const Engine engine : engines()) {
      const Plan<TypeParam> plan(shape, sfft::Domain::real, {.engine = engine});
      ASSERT_EQ(plan.spectrum_points(), expected.size());
      std::vector<std::complex<TypeParam>> spectrum(plan.spectrum_points());
      std::vector<TypeParam> back(size(shape));
      plan.forward(SignalView(signal, shape), spectrum);
      const double bound = fft_bound<TypeParam>(static_cast<double>(shape.points()));
      EXPECT_LE(relative_l2(spectrum, expected), bound) << shape.to_string() << " " << plan.engine_name();
      const auto kept = spectrum;
      plan.inverse(spectrum, std::span(back));
      EXPECT_EQ(spectrum, kept) << "the input was changed";
      EXPECT_LE(relative_l2(back, signal), 2 * bound) << shape.to_string() << " " << plan.engine_name();
    }
  }
}

TYPED_TEST(DenseTest, EveryElementType) {
  const Shape shape({6, 35});
  std::vector<std::uint8_t> u8(size(shape));
  std::vector<std::uint16_t> u16(size(shape));
  for (std::size_t i = 0; i < u8.size(); ++i) {
    u8[i] = static_cast<std::uint8_t>(i * 37);
    u16[i] = static_cast<std::uint16_t>(i * 4001);
  }
  const Signal noise = random_signal(size(shape), 3);
  const auto check = [&](const auto& samples, const Signal& values) {
    using T = typename std::remove_cvref_t<decltype(samples)>::value_type;
    const bool is_complex = sfft::is_complex(sfft::element_type_of<T>::value);
    const Signal expected = direct_dft(values, shape.extents());
    for (const Engine engine : engines()) {
      for (const bool real : {false, true}) {
        if (real && is_complex) continue;
        const Plan<TypeParam> plan(shape, real ? sfft::Domain::real : sfft::Domain::complex,
                                   {.engine = engine});
        std::vector<std::complex<TypeParam>> spectrum(plan.spectrum_points());
        plan.forward(SignalView(samples, shape), spectrum);
        EXPECT_LE(relative_l2(spectrum, real ? half(expected, shape) : expected), fft_bound<TypeParam>(210))
            << to_string(sfft::element_type_of<T>::value) << " " << plan.engine_name();
      }
    }
  };
  check(u8, Signal(u8.begin(), u8.end()));
  check(u16, Signal(u16.begin(), u16.end()));
  check(real_parts<float>(noise), [&] {
    const auto parts = real_parts<float>(noise);
    return Signal(parts.begin(), parts.end());
  }());
  check(real_parts<double>(noise), [&] {
    const auto parts = real_parts<double>(noise);
    return Signal(parts.begin(), parts.end());
  }());
  check(as_complex<float>(noise), noise);
  check(noise, noise);
}

TYPED_TEST(DenseTest, EnginesAgreeOnLargeSizes) {
  if (!availability(Engine::fftw)) GTEST_SKIP() << "this build has no FFTW";
  for (const Shape& shape : {Shape(65536), Shape(65537), Shape(99999), Shape({768, 432}), Shape({257, 509}),
                             Shape({31, 64, 45})}) {
    const double bound = 2 * fft_bound<TypeParam>(static_cast<double>(shape.points()));
    const auto signal = as_complex<TypeParam>(random_signal(size(shape), 4));
    for (const bool real : {false, true}) {
      const Plan<TypeParam> own(shape, real ? sfft::Domain::real : sfft::Domain::complex,
                                {.engine = Engine::built_in}),
          fftw(shape, real ? sfft::Domain::real : sfft::Domain::complex, {.engine = Engine::fftw});
      std::vector<std::complex<TypeParam>> a(own.spectrum_points()), b(own.spectrum_points());
      if (real) {
        const auto samples = real_parts<TypeParam>(Signal(signal.begin(), signal.end()));
        own.forward(SignalView(samples, shape), a);
        fftw.forward(SignalView(samples, shape), b);
      } else {
        own.forward(SignalView(signal, shape), a);
        fftw.forward(SignalView(signal, shape), b);
      }
      EXPECT_LE(relative_l2(a, b), bound) << shape.to_string();
    }
  }
}

TYPED_TEST(DenseTest, UnalignedArraysAndGivenWorkspace) {
  const Shape shape({12, 20});
  const Signal x = random_signal(size(shape) + 1, 5);
  const auto samples = as_complex<TypeParam>(x);
  const auto parts = real_parts<TypeParam>(x);
  const Signal expected = direct_dft(Signal(x.begin() + 1, x.end()), shape.extents());
  for (const Engine engine : engines()) {
    const Plan<TypeParam> plan(shape, sfft::Domain::complex, {.engine = engine}),
        real_plan(shape, sfft::Domain::real, {.engine = engine});
    const std::size_t bytes = std::max(plan.workspace_bytes(), real_plan.workspace_bytes());
    std::vector<std::byte> memory(bytes + 64);
    const std::size_t skip = 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
    const std::span<std::byte> workspace(memory.data() + skip, bytes);
    std::vector<std::complex<TypeParam>> spectrum(size(shape) + 1);
    plan.forward(SignalView(std::span(samples).subspan(1), shape), std::span(spectrum).subspan(1), workspace);
    EXPECT_LE(relative_l2(Signal(spectrum.begin() + 1, spectrum.end()), expected), fft_bound<TypeParam>(240));

    std::vector<std::complex<TypeParam>> half_spectrum(real_plan.spectrum_points() + 1);
    std::vector<TypeParam> back(size(shape) + 1);
    real_plan.forward(SignalView(std::span(parts).subspan(1), shape), std::span(half_spectrum).subspan(1),
                      workspace);
    real_plan.inverse(std::span(half_spectrum).subspan(1), std::span(back).subspan(1), workspace);
    back[0] = parts[0];
    EXPECT_LE(relative_l2(back, parts), 2 * fft_bound<TypeParam>(240));
  }
}

TYPED_TEST(DenseTest, NormalizationNoneLeavesN) {
  const Shape shape({6, 10});
  for (const Engine engine : engines()) {
    const Plan<TypeParam> plan(shape, sfft::Domain::real,
                               {.engine = engine, .normalization = Normalization::none});
    const std::vector<TypeParam> ones(60, TypeParam(1));
    std::vector<std::complex<TypeParam>> spectrum(plan.spectrum_points());
    std::vector<TypeParam> back(60);
    plan.forward(SignalView(ones, shape), spectrum);
    plan.inverse(spectrum, std::span(back));
    EXPECT_LE(relative_l2(back, std::vector<TypeParam>(60, TypeParam(60))), 2 * fft_bound<TypeParam>(60));
  }
}

TYPED_TEST(DenseTest, OnePlanForManyThreads) {
  const Shape shape({40, 54});
  const auto signal = as_complex<TypeParam>(random_signal(size(shape), 6));
  for (const Engine engine : engines()) {
    const Plan<TypeParam> plan(shape, sfft::Domain::complex,
                               {.engine = engine, .planning = Planning::measure, .threads = 0});
    std::vector<std::vector<std::complex<TypeParam>>> back(4, signal);
    std::vector<std::thread> threads;
    for (auto& mine : back) {
      threads.emplace_back([&plan, &shape, &mine] {
        for (int repeat = 0; repeat < 8; ++repeat) {
          plan.forward(SignalView(mine, shape), mine);
          plan.inverse(mine, std::span(mine));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& mine : back) EXPECT_LE(relative_l2(mine, signal), 16 * fft_bound<TypeParam>(2160));
  }
}

TYPED_TEST(DenseTest, BadInputIsAnErrorThatSaysWhy) {
  const Shape shape({4, 6});
  std::vector<std::complex<TypeParam>> complex_values(24), short_values(23), half_values(16);
  std::vector<TypeParam> real_values(24), few(20);
  for (const Engine engine : engines()) {
    const Plan<TypeParam> plan(shape, sfft::Domain::complex, {.engine = engine}),
        real_plan(shape, sfft::Domain::real, {.engine = engine});
    const auto forward = [&](const Plan<TypeParam>& p, const SignalView& signal, auto& spectrum) {
      return code_of([&] { p.forward(signal, spectrum); });
    };
    EXPECT_EQ(forward(plan, SignalView(real_values, Shape({6, 4})), complex_values),
              ErrorCode::shape_mismatch);
    EXPECT_EQ(forward(plan, SignalView(real_values, Shape(24)), complex_values), ErrorCode::shape_mismatch);
    EXPECT_EQ(forward(plan, SignalView(real_values, shape), short_values), ErrorCode::shape_mismatch);
    EXPECT_EQ(forward(real_plan, SignalView(real_values, shape), complex_values), ErrorCode::shape_mismatch);
    EXPECT_EQ(forward(real_plan, SignalView(complex_values, shape), half_values), ErrorCode::type_mismatch);
    EXPECT_EQ(code_of([&] { plan.inverse(complex_values, std::span(real_values)); }),
              ErrorCode::type_mismatch);
    EXPECT_EQ(code_of([&] { real_plan.inverse(half_values, std::span(complex_values)); }),
              ErrorCode::type_mismatch);
    EXPECT_EQ(code_of([&] { real_plan.inverse(half_values, std::span(few)); }), ErrorCode::shape_mismatch);
    EXPECT_EQ(code_of([&] { plan.inverse(short_values, std::span(complex_values)); }),
              ErrorCode::shape_mismatch);
    const std::span<std::complex<TypeParam>> null(static_cast<std::complex<TypeParam>*>(nullptr), 24);
    EXPECT_EQ(code_of([&] { plan.forward(SignalView(real_values, shape), null); }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { plan.inverse(null, std::span(complex_values)); }), ErrorCode::invalid_argument);
    std::vector<std::byte> small(1);
    EXPECT_EQ(code_of([&] { plan.forward(SignalView(real_values, shape), complex_values, small); }),
              ErrorCode::invalid_argument);
    for (const int type : {12, 13, 100, 255}) {
      const auto* p = real_values.data();
      EXPECT_EQ(code_of([&] { plan.forward(p, static_cast<sfft::ElementType>(type), complex_values); }),
                ErrorCode::invalid_argument);
      EXPECT_EQ(code_of([&] { real_plan.forward(p, static_cast<sfft::ElementType>(type), half_values); }),
                ErrorCode::invalid_argument);
    }
    // A real signal in the spectrum's memory.
    const auto* inside = reinterpret_cast<const TypeParam*>(complex_values.data());
    EXPECT_EQ(code_of([&] { plan.forward(SignalView(std::span(inside, 24), shape), complex_values); }),
              ErrorCode::invalid_argument);
  }
  EXPECT_EQ(code_of([&] { Plan<TypeParam>(shape, sfft::Domain::real, {.threads = -1}); }),
            ErrorCode::invalid_argument);
  if (!availability(Engine::fftw)) {
    EXPECT_EQ(code_of([&] { Plan<TypeParam>(shape, sfft::Domain::real, {.engine = Engine::fftw}); }),
              ErrorCode::backend_unavailable);
  }
}

TYPED_TEST(DenseTest, NamesItsEngine) {
  EXPECT_EQ(Plan<TypeParam>(Shape(8), sfft::Domain::real, {.engine = Engine::built_in})
                .engine_name()
                .find("built-in "),
            0u);
  EXPECT_EQ(Plan<TypeParam>(Shape(8), sfft::Domain::real).engine(), Engine::built_in);
  if (!availability(Engine::fftw)) return;
  const std::string name =
      Plan<TypeParam>(Shape(8), sfft::Domain::real, {.engine = Engine::fftw, .planning = Planning::measure})
          .engine_name();
  EXPECT_EQ(name.find("FFTW 3."), 0u) << name;
  EXPECT_NE(name.find(" (measure)"), std::string::npos) << name;
}

TYPED_TEST(DenseTest, NotANumberGoesThrough) {
  const Shape shape({6, 9});
  std::vector<TypeParam> signal(54, TypeParam(1));
  signal[20] = std::numeric_limits<TypeParam>::quiet_NaN();
  for (const Engine engine : engines()) {
    const Plan<TypeParam> plan(shape, sfft::Domain::real, {.engine = engine});
    std::vector<std::complex<TypeParam>> spectrum(plan.spectrum_points());
    plan.forward(SignalView(signal, shape), spectrum);
    for (const auto& value : spectrum) EXPECT_TRUE(std::isnan(value.real()) || std::isnan(value.imag()));
  }
}

}  // namespace
}  // namespace dense_test
