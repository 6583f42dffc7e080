// SPDX-License-Identifier: Apache-2.0
// Tests identities that hold for all values: linearity, the shift theorem, and the symmetry of real signals.
// Shapes are random, with one to three dimensions whose sides are odd, prime, powers of two or 1.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "sfft/dense.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace dense_identities_test {
namespace {

using sfft::Shape;
using sfft::SignalView;
using sfft::dense::Engine;
using sfft::dense::Plan;
using sfft::test::fft_bound;
using sfft::test::random_signal;
using sfft::test::relative_l2;
using Complex = std::complex<double>;
using Position = std::array<std::int64_t, 3>;

constexpr std::int64_t kMaxPoints = 20000;
constexpr int kShapesPerRank = 16;

std::vector<Shape> random_shapes() {
  constexpr std::array<std::int64_t, 20> kSides{1,  2,  3,  5,  7,  9,  13, 15,  16,  17,
                                                25, 31, 37, 53, 64, 97, 99, 127, 211, 1009};
  std::mt19937 generator(7);
  std::uniform_int_distribution<std::size_t> any(0, kSides.size() - 1);
  std::vector<Shape> shapes;
  for (std::size_t rank = 1; rank <= 3; ++rank) {
    for (int found = 0; found < kShapesPerRank;) {
      std::vector<std::int64_t> extents(rank);
      for (auto& extent : extents) extent = kSides[any(generator)];
      const Shape shape{std::span<const std::int64_t>(extents)};
      if (shape.points() > kMaxPoints) continue;
      shapes.push_back(shape);
      ++found;
    }
  }
  return shapes;
}

/// The position of element i of a row-major grid. index_of() is the inverse, with every coordinate taken
/// modulo its side.
Position position_of(const Shape& shape, std::int64_t i) {
  Position at{};
  for (int d = shape.rank(); d-- > 0; i /= shape[d]) at[static_cast<std::size_t>(d)] = i % shape[d];
  return at;
}
std::size_t index_of(const Shape& shape, const Position& at) {
  std::int64_t i = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t side = shape[d];
    i = i * side + ((at[static_cast<std::size_t>(d)] % side) + side) % side;
  }
  return static_cast<std::size_t>(i);
}

template <class Real>
using Values = std::vector<std::complex<Real>>;

template <class Real>
Values<Real> random_values(const Shape& shape, unsigned seed) {
  const auto x = random_signal(static_cast<std::size_t>(shape.points()), seed);
  return {x.begin(), x.end()};
}

template <class Real>
Values<Real> forward(const Plan<Real>& plan, const SignalView& signal) {
  Values<Real> spectrum(plan.spectrum_points());
  plan.forward(signal, spectrum);
  return spectrum;
}

template <class Real>
class DenseIdentitiesTest : public testing::Test {
 protected:
  /// Runs `check` for every random shape on every engine of the CPU.
  template <class Check>
  static void for_all(const Check& check) {
    for (const Shape& shape : random_shapes()) {
      for (const Engine engine : {Engine::built_in, Engine::fftw}) {
        if (!availability(engine)) continue;
        SCOPED_TRACE(shape.to_string() + " " + to_string(engine));
        check(shape, engine, fft_bound<Real>(static_cast<double>(shape.points())));
      }
    }
  }
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(DenseIdentitiesTest, Reals);

TYPED_TEST(DenseIdentitiesTest, Linear) {
  this->for_all([](const Shape& shape, Engine engine, double bound) {
    const Plan<TypeParam> plan(shape, sfft::Domain::complex, {.engine = engine});
    const auto x = random_values<TypeParam>(shape, 1), y = random_values<TypeParam>(shape, 2);
    auto sum = x;  // exact: the samples are multiples of 2^-16
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = TypeParam(3) * x[i] - TypeParam(2) * y[i];
    const auto x_spectrum = forward(plan, SignalView(x, shape)),
               y_spectrum = forward(plan, SignalView(y, shape));
    std::vector<Complex> expected(x_spectrum.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = 3.0 * Complex(x_spectrum[i]) - 2.0 * Complex(y_spectrum[i]);
    // Three transforms contribute errors; sums of random signals hardly cancel.
    EXPECT_LE(relative_l2(forward(plan, SignalView(sum, shape)), expected), 3 * bound);
  });
}

TYPED_TEST(DenseIdentitiesTest, AShiftTurnsThePhases) {
  this->for_all([](const Shape& shape, Engine engine, double bound) {
    const Plan<TypeParam> plan(shape, sfft::Domain::complex, {.engine = engine});
    const auto x = random_values<TypeParam>(shape, 3);
    const Position shift{shape[0] / 3 + 1, 5, 2};
    auto shifted = x;
    std::vector<Complex> expected;
    const auto spectrum = forward(plan, SignalView(x, shape));
    for (std::int64_t i = 0; i < shape.points(); ++i) {
      Position at = position_of(shape, i);
      double turns = 0;
      for (std::size_t d = 0; d < static_cast<std::size_t>(shape.rank()); ++d) {
        const std::int64_t side = shape[static_cast<int>(d)];
        turns += static_cast<double>(at[d] * shift[d] % side) / static_cast<double>(side);
        at[d] += shift[d];
      }
      shifted[index_of(shape, at)] = x[static_cast<std::size_t>(i)];
      expected.push_back(Complex(spectrum[static_cast<std::size_t>(i)]) *
                         std::polar(1.0, -2 * std::numbers::pi * turns));
    }
    // Two transforms and the phases contribute errors.
    EXPECT_LE(relative_l2(forward(plan, SignalView(shifted, shape)), expected), 3 * bound);
  });
}

TYPED_TEST(DenseIdentitiesTest, RealSignalsHaveConjugateHalves) {
  this->for_all([](const Shape& shape, Engine engine, double bound) {
    std::vector<TypeParam> x;
    for (const auto& value : random_values<TypeParam>(shape, 4)) x.push_back(value.real());
    const Plan<TypeParam> whole_plan(shape, sfft::Domain::complex, {.engine = engine}),
        half_plan(shape, sfft::Domain::real, {.engine = engine});
    const auto whole = forward(whole_plan, SignalView(x, shape)),
               half = forward(half_plan, SignalView(x, shape));

    Values<TypeParam> mirrored, kept;
    const std::int64_t row = shape[shape.rank() - 1];
    for (std::int64_t i = 0; i < shape.points(); ++i) {
      Position at = position_of(shape, i);
      for (auto& coordinate : at) coordinate = -coordinate;
      mirrored.push_back(std::conj(whole[index_of(shape, at)]));
      if (i % row <= row / 2) kept.push_back(whole[static_cast<std::size_t>(i)]);
    }
    EXPECT_LE(relative_l2(mirrored, whole), 2 * bound);
    EXPECT_LE(relative_l2(half, kept), 2 * bound);
    std::vector<TypeParam> back(x.size());
    half_plan.inverse(half, std::span(back));
    EXPECT_LE(relative_l2(back, x), 2 * bound);
  });
}

}  // namespace
}  // namespace dense_identities_test
