// SPDX-License-Identifier: Apache-2.0
// Tests that the result of a transform does not depend on the number of threads, and that long lines in two
// passes equal direct sums.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "sfft/dense.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/strided.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::dense_threads_test {
namespace {

using dense::Engine;
using dense::Options;
using dense::Plan;
using test::as_samples;
using test::ComplexSignal;
using test::expected_spectra;
using test::fft_bound;
using test::random_signal;
using test::relative_l2;

/// Shapes large enough for several threads: planes, rows, single rows, prime sides, long lines of both
/// parities, and lengths that two passes cannot take.
std::vector<Shape> shapes() {
  return {Shape({128, 300}),   Shape({1, 70000}),    Shape({3, 20011}),   Shape({257, 131}),
          Shape({24, 40, 36}), Shape({2, 150, 127}), Shape({40, 1, 900}), Shape(1 << 16),
          Shape(98304),        Shape(99225),         Shape(65537)};
}

Options with(int threads) {
  return {.engine = Engine::built_in, .threads = threads};
}

template <class T>
std::vector<T> samples_of(const Shape& shape) {
  return as_samples<T>(random_signal(static_cast<std::size_t>(shape.points()), 31));
}

template <class Real, class T>
std::vector<std::complex<Real>> forward(const Plan<Real>& plan, const std::vector<T>& signal) {
  std::vector<std::complex<Real>> spectrum(plan.spectrum_points());
  plan.forward(signal.data(), element_type_of<T>::value, spectrum);
  return spectrum;
}

template <class Real>
class DenseThreadsTest : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(DenseThreadsTest, Reals);

template <class Real, class T>
void check_equal(const Shape& shape, bool real) {
  const auto signal = samples_of<T>(shape);
  const Plan<Real> alone(shape, real ? Domain::real : Domain::complex, with(1)),
      two(shape, real ? Domain::real : Domain::complex, with(2));
  // A single thread may transform a long line in one piece.
  const auto expected = forward(two, signal);
  const auto by_one = forward(alone, signal);
  if (shape[shape.rank() - 1] < shape.points()) {
    EXPECT_EQ(by_one, expected) << shape.to_string();
  } else {
    EXPECT_LE(relative_l2(by_one, expected), 2 * fft_bound<Real>(static_cast<double>(shape.points())));
  }
  using Back = std::vector<std::conditional_t<std::is_same_v<T, Real>, Real, std::complex<Real>>>;
  Back expected_back(signal.size()), back(signal.size());
  const bool returns = real == std::is_same_v<T, Real>;
  if (returns) two.inverse(expected, std::span(expected_back));
  for (const int threads : {3, 4, 5}) {
    SCOPED_TRACE(shape.to_string() + (real ? " real " : " complex ") + std::to_string(threads));
    const Plan<Real> plan(shape, real ? Domain::real : Domain::complex, with(threads));
    EXPECT_EQ(forward(plan, signal), expected);
    if (!returns) continue;
    plan.inverse(expected, std::span(back));
    EXPECT_EQ(back, expected_back);
  }
}

TYPED_TEST(DenseThreadsTest, AnyNumberOfThreadsGivesTheSameBits) {
  for (const Shape& shape : shapes()) {
    check_equal<TypeParam, std::complex<TypeParam>>(shape, false);
    check_equal<TypeParam, TypeParam>(shape, true);
  }
  check_equal<TypeParam, std::uint8_t>(Shape(1 << 16), false);
  check_equal<TypeParam, std::uint16_t>(Shape({128, 300}), true);
}

TYPED_TEST(DenseThreadsTest, LongLinesEqualSums) {
  for (const std::int64_t n : {std::int64_t{1} << 16, std::int64_t{98304}, std::int64_t{99225}}) {
    const Shape shape(n);
    SCOPED_TRACE(shape.to_string());
    const double bound = fft_bound<TypeParam>(static_cast<double>(n));
    // Full sums at a few frequencies are enough. The frequencies cover the columns and SIMD lanes of both
    // passes, and both ends.
    const auto signal = samples_of<std::complex<TypeParam>>(shape);
    const ComplexSignal wide(signal.begin(), signal.end());
    const auto complex = forward(Plan<TypeParam>(shape, Domain::complex, with(3)), signal);
    const auto reals = samples_of<TypeParam>(shape);
    const ComplexSignal wide_reals(reals.begin(), reals.end());
    const auto half = forward(Plan<TypeParam>(shape, Domain::real, with(3)), reals);
    std::vector<std::int64_t> frequencies, low;
    std::vector<std::complex<TypeParam>> got, half_got;
    for (std::int64_t f = 0; f < n; f += n / 97 + 1) {
      frequencies.push_back(f);
      got.push_back(complex[static_cast<std::size_t>(f)]);
      if (2 * f > n) continue;
      low.push_back(f);
      half_got.push_back(half[static_cast<std::size_t>(f)]);
    }
    const ComplexSignal sums = test::direct_coefficients(wide, frequencies),
                        half_sums = test::direct_coefficients(wide_reals, low);
    EXPECT_LE(relative_l2(got, sums), bound);
    EXPECT_LE(relative_l2(half_got, half_sums), bound);
    std::vector<std::complex<TypeParam>> back(signal.size());
    Plan<TypeParam>(shape, Domain::complex, with(2)).inverse(complex, std::span(back));
    EXPECT_LE(relative_l2(back, signal), 2 * bound);
    std::vector<TypeParam> real_back(reals.size());
    Plan<TypeParam>(shape, Domain::real, with(2)).inverse(half, std::span(real_back));
    EXPECT_LE(relative_l2(real_back, reals), 2 * bound);
  }
}

TYPED_TEST(DenseThreadsTest, InPlaceStridedAndScaled) {
  for (const Shape& shape : {Shape({128, 300}), Shape(1 << 16)}) {
    const auto signal = samples_of<std::complex<TypeParam>>(shape);
    Options options = with(4);
    options.normalization = dense::Options::Normalization::unitary;
    const Plan<TypeParam> plan(shape, Domain::complex, options);
    auto values = signal;
    plan.forward(values.data(), element_type_of<std::complex<TypeParam>>::value, values);
    plan.inverse(values, std::span(values));
    EXPECT_LE(relative_l2(values, signal), 2 * fft_bound<TypeParam>(static_cast<double>(shape.points())));
    for (const auto& [name, strides] : test::strided_cases(shape, 2)) {
      SCOPED_TRACE(name);
      options.batch = 2;
      options.signal_strides = strides;
      options.threads = 5;
      const auto two = as_samples<std::complex<TypeParam>>(
          random_signal(2 * static_cast<std::size_t>(shape.points()), 32));
      const auto spread = test::spread(two, shape, strides, 2, std::complex<TypeParam>(-7));
      const auto shared = forward(Plan<TypeParam>(shape, Domain::complex, options), spread);
      options.threads = 3;
      EXPECT_EQ(shared, forward(Plan<TypeParam>(shape, Domain::complex, options), spread));
    }
  }
}

TEST(DenseThreads, SeveralCallersOfOnePlan) {
  const Shape shape({256, 256});
  const Plan<float> plan(shape, Domain::complex, with(3));
  const auto signal = samples_of<std::complex<float>>(shape);
  const auto expected = forward(plan, signal);
  std::atomic<int> equal = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 4; ++i) equal += forward(plan, signal) == expected ? 1 : 0;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(equal, 12);
}

}  // namespace
}  // namespace sfft::dense_threads_test
