// SPDX-License-Identifier: Apache-2.0
// Tests groups of rows that are transformed together, alone and within the built-in engine's grids, against
// direct sums in double.
#include "kernels/dense/cpu/row_group.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sfft/dense.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::detail::row_group_test {
namespace {

using test::as_samples;
using test::ComplexSignal;
using test::expected_spectra;
using test::random_signal;
using test::relative_l2;

template <class Real>
class RowGroupTest : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(RowGroupTest, Precisions);

/// Transforms whole rows (also an odd number of real rows) of several element types, forward and back.
template <class Real, class Sample>
void check_rows(std::int64_t n, std::int64_t rows) {
  using Complex = std::complex<Real>;
  constexpr bool kReal = !is_complex(element_type_of<Sample>::value);
  using Result = std::conditional_t<kReal, Real, Complex>;
  SCOPED_TRACE(testing::Message() << rows << " rows of " << n);
  ComplexSignal drawn = random_signal(static_cast<std::size_t>(n * rows), static_cast<unsigned>(n + rows));
  for (auto& value : drawn) value = 100.0 + 10.0 * value;  // fits into bytes
  const auto signal = as_samples<Sample>(drawn);
  const ComplexSignal expected = expected_spectra(signal, Shape(n), kReal);
  const double bound = test::fft_bound<Real>(static_cast<double>(n));

  const RowGroup<Real> group(n, rows, kReal);
  ASSERT_EQ(static_cast<std::size_t>(group.spectrum_points() * rows), expected.size());
  std::vector<std::byte> memory(group.workspace_reals() * sizeof(Real) + 64);
  void* start = memory.data();
  std::size_t room = memory.size();
  auto* const workspace = static_cast<std::byte*>(std::align(64, 1, start, room));
  std::vector<Complex> spectra(expected.size());
  group.forward(signal.data(), element_type_of<Sample>::value, spectra.data(), workspace);
  EXPECT_LE(relative_l2(spectra, expected), bound);

  const std::vector<Complex> exact(expected.begin(), expected.end());
  std::vector<Result> again(signal.size());
  group.inverse(exact.data(), again.data(), static_cast<Real>(1.0 / static_cast<double>(n)), workspace);
  EXPECT_LE(relative_l2(again, signal), 2 * bound);
}

TYPED_TEST(RowGroupTest, RowsEqualDirectSums) {
  for (const std::int64_t n : {2, 3, 4, 5, 8, 9, 13, 15, 16, 31, 40, 61, 64}) {
    for (const std::int64_t rows : {1, 2, 3, 5, 7, 8, 16, 17, 33, 64}) {
      check_rows<TypeParam, std::complex<TypeParam>>(n, rows);
      check_rows<TypeParam, TypeParam>(n, rows);
      check_rows<TypeParam, std::uint8_t>(n, rows);
    }
  }
}

/// Draws extents: grids in one piece, and grids in blocks of rows that do not divide them and leave a
/// remainder.
TYPED_TEST(RowGroupTest, DrawnGridsEqualDirectSums) {
  std::mt19937_64 random(51);
  const auto drawn = [&](std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(to - from + 1));
  };
  std::vector<Shape> shapes{Shape({300, 30}), Shape({1, 40, 6}), Shape({500, 6, 2}), Shape({2500, 8})};
  for (int i = 0; i < 40; ++i) {
    const std::int64_t a = drawn(1, 24), b = drawn(1, 24), c = drawn(2, 24);
    shapes.push_back(i % 3 == 0 ? Shape({4 * a, c}) : Shape({a, b, c}));
  }
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.to_string());
    const auto points = static_cast<double>(shape.points());
    const double bound = test::fft_bound<TypeParam>(points);
    const auto check = [&]<class Sample>(const std::vector<Sample>& signal, bool real) {
      const ComplexSignal expected = expected_spectra(signal, shape, real);
      const dense::Plan<TypeParam> plan(shape, real ? Domain::real : Domain::complex,
                                        {.engine = dense::Engine::built_in});
      std::vector<std::complex<TypeParam>> spectrum(plan.spectrum_points());
      plan.forward(signal.data(), element_type_of<Sample>::value, spectrum);
      EXPECT_LE(relative_l2(spectrum, expected), bound);
      std::vector<Sample> again(signal.size());
      plan.inverse(std::span<const std::complex<TypeParam>>(spectrum), std::span<Sample>(again));
      EXPECT_LE(relative_l2(again, signal), 2 * bound);
    };
    const ComplexSignal signal = random_signal(static_cast<std::size_t>(shape.points()), 52);
    check(as_samples<TypeParam>(signal), true);
    check(as_samples<std::complex<TypeParam>>(signal), false);
  }
}

}  // namespace
}  // namespace sfft::detail::row_group_test
