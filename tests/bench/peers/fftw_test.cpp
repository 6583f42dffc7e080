// SPDX-License-Identifier: Apache-2.0
// The built-in dense engine against FFTW in double precision, at sizes whose direct sum would take too long.
// This test links FFTW itself: the library does not contain it unless SFFT_WITH_FFTW asks for that.
#include <fftw3.h>
#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <type_traits>
#include <vector>

#include "sfft/dense.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft {
namespace {

using Spectrum = std::vector<std::complex<double>>;

/// FFTW's answer: a half spectrum for doubles, a whole one for complex numbers.
template <class Sample>
Spectrum fftw_spectrum(std::vector<Sample> signal, const Shape& shape, std::size_t bins) {
  const std::vector<int> extents(shape.extents().begin(), shape.extents().end());
  Spectrum spectrum(bins);
  auto* out = reinterpret_cast<fftw_complex*>(spectrum.data());
  fftw_plan plan = nullptr;
  if constexpr (std::is_same_v<Sample, double>) {
    plan = fftw_plan_dft_r2c(shape.rank(), extents.data(), signal.data(), out, FFTW_ESTIMATE);
  } else {
    auto* in = reinterpret_cast<fftw_complex*>(signal.data());
    plan = fftw_plan_dft(shape.rank(), extents.data(), in, out, FFTW_FORWARD, FFTW_ESTIMATE);
  }
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return spectrum;
}

template <class Sample>
std::vector<Sample> noise(const Shape& shape) {
  std::mt19937_64 random(static_cast<std::uint64_t>(shape.points()));
  // Single-precision values, so that both precisions transform the same signal.
  std::normal_distribution<float> normal;
  std::vector<Sample> samples(static_cast<std::size_t>(shape.points()));
  for (Sample& sample : samples) {
    if constexpr (std::is_same_v<Sample, double>) {
      sample = normal(random);
    } else {
      sample = {normal(random), normal(random)};
    }
  }
  return samples;
}

/// `Sample` is double or complex double; the engine gets the same numbers in its own precision.
template <class Real, class Sample>
void expect_equal(const Shape& shape) {
  constexpr bool real = std::is_same_v<Sample, double>;
  using Own = std::conditional_t<real, Real, std::complex<Real>>;
  const auto signal = noise<Sample>(shape);
  const std::vector<Own> own(signal.begin(), signal.end());
  const dense::Plan<Real> plan(shape, real ? Domain::real : Domain::complex,
                               {.engine = dense::Engine::built_in});
  std::vector<std::complex<Real>> spectrum(plan.spectrum_points());
  plan.forward(SignalView(own, shape), spectrum);
  const Spectrum expected = fftw_spectrum(signal, shape, spectrum.size());
  EXPECT_LE(test::relative_l2(spectrum, expected), test::fft_bound<Real>(static_cast<double>(shape.points())))
      << shape.to_string() << (real ? " real" : " complex");
}

template <class Real>
class BuiltInTest : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(BuiltInTest, Precisions);

TYPED_TEST(BuiltInTest, EqualsFftwOnLargeSizes) {
  for (const Shape& shape : {Shape{65536}, Shape{65537}, Shape{99999}, Shape{1 << 20}, Shape{768, 432},
                             Shape{257, 509}, Shape{1080, 1920}, Shape{31, 64, 45}, Shape{64, 64, 64}}) {
    expect_equal<TypeParam, double>(shape);
    expect_equal<TypeParam, std::complex<double>>(shape);
  }
}

TYPED_TEST(BuiltInTest, EqualsFftwOnDrawnSizes) {
  std::mt19937 random(20);
  for (int draw = 0; draw < 60; ++draw) {
    std::vector<std::int64_t> extents;
    const int rank = 1 + draw % 3;
    const int longest = rank == 1 ? 20000 : rank == 2 ? 200 : 40;
    for (int d = 0; d < rank; ++d) extents.push_back(std::uniform_int_distribution<>(1, longest)(random));
    const Shape shape(extents);
    expect_equal<TypeParam, double>(shape);
    expect_equal<TypeParam, std::complex<double>>(shape);
  }
}

}  // namespace
}  // namespace sfft
