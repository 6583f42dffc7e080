// SPDX-License-Identifier: Apache-2.0
// Tests long lines of odd lengths, and of lengths with large primes, against direct sums in double at drawn
// frequencies.
#include <gtest/gtest.h>

#include <random>

#include "sfft/dense.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::long_chirp_test {
namespace {

using test::as_samples;
using test::ComplexSignal;
using test::random_signal;
using test::relative_l2;

template <class Real>
class LongChirpTest : public testing::Test {
 public:
  using Complex = std::complex<Real>;

  /// Frequencies of the lower half, including its first and last.
  static std::vector<std::int64_t> drawn_frequencies(std::int64_t n) {
    std::mt19937_64 generator(static_cast<std::uint64_t>(n));
    std::vector<std::int64_t> frequencies{0, 1, n / 2};
    for (int i = 0; i < 12; ++i)
      frequencies.push_back(static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(n / 2 + 1)));
    return frequencies;
  }

  template <class Sample>
  static void check(const std::vector<Sample>& signal, int threads) {
    const auto n = static_cast<std::int64_t>(signal.size());
    constexpr bool kReal = !is_complex(element_type_of<Sample>::value);
    SCOPED_TRACE(testing::Message() << n << (kReal ? " real" : " complex") << ", " << threads << " threads");
    const dense::Plan<Real> plan(Shape(n), kReal ? Domain::real : Domain::complex,
                                 {.engine = dense::Engine::built_in, .threads = threads});
    std::vector<Complex> spectrum(plan.spectrum_points()), picked;
    plan.forward(signal.data(), element_type_of<Sample>::value, spectrum);
    std::vector<std::int64_t> frequencies = drawn_frequencies(n);
    if (!kReal) frequencies.push_back(n - 1);
    for (const std::int64_t f : frequencies) picked.push_back(spectrum[static_cast<std::size_t>(f)]);
    // The error is spread evenly over the outputs; a few of them may have four times as much.
    const double bound = 4 * test::fft_bound<Real>(static_cast<double>(n));
    EXPECT_LE(relative_l2(picked, test::direct_coefficients(ComplexSignal(signal.begin(), signal.end()),
                                                            frequencies)),
              bound);
    std::vector<std::conditional_t<kReal, Real, Complex>> again(signal.size());
    plan.inverse(std::span<const Complex>(spectrum), std::span(again));
    EXPECT_LE(relative_l2(again, signal), bound / 2);
    if constexpr (!kReal) {
      plan.inverse(std::span<const Complex>(spectrum), std::span(spectrum));
      EXPECT_EQ(spectrum, again) << "in place";
      plan.forward(spectrum.data(), element_type_of<Complex>::value, std::span(spectrum));
      plan.forward(again.data(), element_type_of<Complex>::value, std::span(again));
      EXPECT_EQ(spectrum, again) << "in place";
    }
  }
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(LongChirpTest, Precisions);

TYPED_TEST(LongChirpTest, LinesEqualSumsAtDrawnFrequencies) {
  for (const std::int64_t n : {65537, 2 * 32771, 99991, 131071, 3 * 49999}) {
    const ComplexSignal drawn = random_signal(static_cast<std::size_t>(n), static_cast<unsigned>(n));
    this->check(as_samples<std::complex<TypeParam>>(drawn), 1);
    this->check(as_samples<TypeParam>(drawn), 1);
  }
  const ComplexSignal drawn = random_signal(65539, 5);
  this->check(as_samples<std::complex<TypeParam>>(drawn), 3);
  this->check(as_samples<TypeParam>(drawn), 3);
}

/// Two passes over lines with primes from 17 to 61, and over real lines of odd length.
TYPED_TEST(LongChirpTest, MediumPrimesAndOddLengths) {
  for (const std::int64_t n : {17 << 14, 61 << 13, 43 * 47 * 200, 31 * 31 * 31 * 31, 1594323, 1953125}) {
    const ComplexSignal drawn = random_signal(static_cast<std::size_t>(n), static_cast<unsigned>(n));
    for (const int threads : {1, 2}) {
      this->check(as_samples<std::complex<TypeParam>>(drawn), threads);
      this->check(as_samples<TypeParam>(drawn), threads);
    }
  }
}

TYPED_TEST(LongChirpTest, EveryElementTypeAndNumberOfThreads) {
  constexpr std::int64_t kPoints = 70001;
  std::mt19937 generator(8);
  std::vector<std::uint8_t> bytes(kPoints);
  for (auto& value : bytes) value = static_cast<std::uint8_t>(generator() % 256);
  std::vector<std::complex<TypeParam>> expected;
  for (const int threads : {1, 2, 5}) {
    const dense::Plan<TypeParam> plan(Shape(kPoints), Domain::complex,
                                      {.engine = dense::Engine::built_in, .threads = threads});
    const auto check = [&](const auto& signal) {
      using T = std::remove_cvref_t<decltype(signal[0])>;
      std::vector<std::complex<TypeParam>> spectrum(plan.spectrum_points());
      plan.forward(signal.data(), element_type_of<T>::value, spectrum);
      if (expected.empty()) expected = spectrum;
      EXPECT_EQ(spectrum, expected);
    };
    check(bytes);
    check(std::vector<std::uint16_t>(bytes.begin(), bytes.end()));
    check(std::vector<float>(bytes.begin(), bytes.end()));
    check(std::vector<double>(bytes.begin(), bytes.end()));
    check(std::vector<std::complex<float>>(bytes.begin(), bytes.end()));
    check(std::vector<std::complex<double>>(bytes.begin(), bytes.end()));
  }
}

}  // namespace
}  // namespace sfft::long_chirp_test
