// SPDX-License-Identifier: Apache-2.0
// Tests every length from 1 to 4096 on every engine of the CPU: the whole spectrum or some of its frequencies
// against direct sums in double, the energy, and the inverse transform.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/roots_of_one.hpp"
#include "sfft/dense.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace dense_lengths_test {
namespace {

using sfft::Shape;
using sfft::SignalView;
using sfft::dense::Engine;
using sfft::dense::Plan;
using sfft::test::fft_bound;
using sfft::test::random_signal;
using sfft::test::relative_l2;
using Complex = std::complex<double>;

constexpr std::int64_t kLongest = 4096;
constexpr std::int64_t kWhole = 256;  // up to this length all frequencies are compared
constexpr int kSome = 8;              // number of frequencies compared for longer transforms

/// A signal and its spectrum by direct sums.
struct Case {
  explicit Case(std::int64_t length, bool real) : n(length) {
    signal = random_signal(static_cast<std::size_t>(n), static_cast<unsigned>(2 * n) + (real ? 1 : 0));
    if (real) {
      for (Complex& value : signal) value = value.real();
    }
    for (const Complex& value : signal) energy += std::norm(std::complex<long double>(value));
    const std::int64_t count = real ? n / 2 + 1 : n;
    if (n <= kWhole) {
      values = sfft::test::direct_dft(signal, std::vector<std::int64_t>{n});
      values.resize(static_cast<std::size_t>(count));
      for (std::int64_t f = 0; f < count; ++f) frequencies.push_back(f);
      return;
    }
    std::mt19937_64 generator(static_cast<std::uint64_t>(n));
    std::uniform_int_distribution<std::int64_t> any(0, count - 1);
    frequencies = {0, count - 1};
    while (frequencies.size() < kSome) frequencies.push_back(any(generator));
    add_values();
  }

  /// Sums in long double, because plain sums in double have larger errors than a fast transform.
  void add_values() {
    using Long = long double;
    const std::vector<std::complex<Long>> roots = sfft::test::roots_of_one<Long>(n);
    for (const std::int64_t f : frequencies) {
      Long re = 0, im = 0;
      std::int64_t turn = 0;
      for (const Complex& value : signal) {
        const std::complex<Long> root = std::conj(roots[static_cast<std::size_t>(turn)]);
        re += value.real() * root.real() - value.imag() * root.imag();
        im += value.real() * root.imag() + value.imag() * root.real();
        turn += f;
        if (turn >= n) turn -= n;
      }
      values.emplace_back(static_cast<double>(re), static_cast<double>(im));
    }
  }

  std::int64_t n;
  std::vector<Complex> signal;
  long double energy = 0;
  std::vector<std::int64_t> frequencies;
  std::vector<Complex> values;
};

/// Root mean square error at the case's frequencies over the root mean square of the whole spectrum.
template <class Real>
double spectrum_error(const Case& expected, const std::vector<std::complex<Real>>& spectrum) {
  double error = 0;
  for (std::size_t i = 0; i < expected.frequencies.size(); ++i) {
    error +=
        std::norm(Complex(spectrum[static_cast<std::size_t>(expected.frequencies[i])]) - expected.values[i]);
  }
  const auto mean = error / static_cast<double>(expected.frequencies.size());
  return std::sqrt(mean / static_cast<double>(expected.energy));
}

/// Relative difference of Σ|X|² and N Σ|x|²; in a half spectrum each pair of conjugates counts twice.
template <class Real>
double energy_error(const Case& expected, const std::vector<std::complex<Real>>& spectrum, bool real) {
  long double sum = 0;
  for (std::size_t f = 0; f < spectrum.size(); ++f) {
    const bool alone = !real || f == 0 || 2 * f == static_cast<std::size_t>(expected.n);
    sum += (alone ? 1 : 2) * std::norm(std::complex<long double>(spectrum[f]));
  }
  return static_cast<double>(std::abs(sum / (static_cast<long double>(expected.n) * expected.energy) - 1));
}

/// The errors that exceed their bounds, as text; empty when there are none.
template <class Value, class Real>
std::string problem_of(const Case& expected, Engine engine, bool real) {
  const Plan<Real> plan(Shape(expected.n), real ? sfft::Domain::real : sfft::Domain::complex,
                        {.engine = engine});
  std::vector<Value> signal, back(expected.signal.size());
  for (const Complex& value : expected.signal) {
    if constexpr (std::is_same_v<Value, Real>) {
      signal.push_back(static_cast<Real>(value.real()));
    } else {
      signal.emplace_back(value);
    }
  }
  std::vector<std::complex<Real>> spectrum(plan.spectrum_points());
  plan.forward(SignalView(signal, plan.shape()), spectrum);
  plan.inverse(spectrum, std::span(back));

  const double bound = fft_bound<Real>(static_cast<double>(expected.n));
  const double forward = spectrum_error(expected, spectrum), energy = energy_error(expected, spectrum, real);
  const double round_trip = relative_l2(back, signal);
  if (forward <= bound && energy <= 2 * bound && round_trip <= 2 * bound) return "";
  std::ostringstream text;
  text << plan.engine_name() << ", " << expected.n << (real ? " real" : " complex") << ": spectrum "
       << forward << ", energy " << energy << ", round trip " << round_trip << "; the bound is " << bound;
  return text.str();
}

/// Compares both precisions with the same reference, whose sums take longer than the transforms.
void expect_right(std::int64_t n, bool real) {
  const Case expected(n, real);
  for (const Engine engine : {Engine::built_in, Engine::fftw}) {
    if (!availability(engine)) continue;
    if (real) {
      EXPECT_EQ((problem_of<float, float>(expected, engine, true)), "");
      EXPECT_EQ((problem_of<double, double>(expected, engine, true)), "");
    } else {
      EXPECT_EQ((problem_of<std::complex<float>, float>(expected, engine, false)), "");
      EXPECT_EQ((problem_of<std::complex<double>, double>(expected, engine, false)), "");
    }
  }
}

TEST(DenseLengths, Complex) {
  for (std::int64_t n = 1; n <= kLongest; ++n) expect_right(n, false);
}

TEST(DenseLengths, Real) {
  for (std::int64_t n = 1; n <= kLongest; ++n) expect_right(n, true);
}

}  // namespace
}  // namespace dense_lengths_test
