// SPDX-License-Identifier: Apache-2.0
// Tests discovery against signals whose spectrum is known by construction.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>

#include "bench/known_signals.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::discover_test {
namespace {

using test::code_of;
using test::SparseSignal;

constexpr double kSingle = 1e-6;
constexpr double kDouble = 1e-12;

std::vector<std::int64_t> support_of(const Template& tmpl) {
  return {tmpl.support().begin(), tmpl.support().end()};
}

/// Adds independent noise of total power `power` per sample, real and imaginary parts together.
std::vector<std::complex<float>> with_noise(const SparseSignal& signal, double power, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal(0, std::sqrt(power / 2));
  std::vector<std::complex<float>> x;
  for (const std::complex<double>& sample : signal.samples()) {
    const double re = sample.real() + normal(generator);
    x.emplace_back(static_cast<float>(re), static_cast<float>(sample.imag() + normal(generator)));
  }
  return x;
}

void expect_found(const Discovery& discovery, const SparseSignal& signal, double bound) {
  EXPECT_TRUE(discovery.verified) << discovery.reason;
  EXPECT_FALSE(discovery.support_learned_densely) << discovery.reason;
  EXPECT_EQ(*discovery.spectrum.support, signal.support);
  EXPECT_LE(test::relative_l2(discovery.spectrum.values, signal.values), bound);
}

TEST(Discover, FindsExactlySparseSignalsOfAnyShape) {
  const std::vector<Shape> shapes = {Shape{16384},      Shape{65536},    Shape{65521},    Shape{19683},
                                     Shape{50000},      Shape{128, 256}, Shape{211, 193}, Shape{32, 48, 40},
                                     Shape{29, 31, 37}, Shape{2 * 16381}};
  for (const Shape& shape : shapes) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      const SparseSignal signal = SparseSignal::random(shape, false, 12, seed);
      const DiscoverOptions options{.k = 12, .dense_fallback = false, .seed = seed};
      SCOPED_TRACE(shape.to_string());
      expect_found(discover(SignalView(signal.as<std::complex<float>>(), shape), options), signal, kSingle);
      expect_found(discover(SignalView(signal.samples(), shape), options), signal, kDouble);
    }
  }
}

TEST(Discover, RealSignalsGiveOneOfEachPair) {
  int unverified = 0;
  for (const Shape& shape : {Shape{32768}, Shape{32749}, Shape{128, 256}, Shape{32, 32, 48}}) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      SparseSignal signal = SparseSignal::random(shape, true, 8, seed);
      // learn() keeps the half in which the last coordinate is at most half its extent.
      const Template kept = learn(SignalView(signal.as<double>(), shape), {.keep = Largest{8}});
      const DiscoverOptions options{.k = 8, .dense_fallback = false, .seed = seed};
      SCOPED_TRACE(shape.to_string());
      const Discovery single = discover(SignalView(signal.as<float>(), shape), options);
      EXPECT_TRUE(single.verified) << single.reason;
      ASSERT_EQ(*single.spectrum.support, support_of(kept));
      std::vector<std::complex<double>> expected;
      for (const std::int64_t f : *single.spectrum.support) {
        const auto at = std::find(signal.support.begin(), signal.support.end(), f);
        const auto mirrored =
            std::find(signal.support.begin(), signal.support.end(), test::negated(shape, f));
        ASSERT_TRUE(at != signal.support.end() || mirrored != signal.support.end());
        const bool own = at != signal.support.end();
        const auto i = static_cast<std::size_t>((own ? at : mirrored) - signal.support.begin());
        expected.push_back(own ? signal.values[i] : std::conj(signal.values[i]));
      }
      EXPECT_LE(test::relative_l2(single.spectrum.values, expected), kSingle);
      // A short signal of a prime size can afford only two rounds of windows, which do not suffice for one
      // draw in forty. The result says so, and missing coefficients are within the bound.
      const Discovery twice = discover(SignalView(signal.as<double>(), shape), options);
      if (twice.verified || shape != Shape{32749}) {
        EXPECT_LE(test::relative_l2(twice.spectrum.values, expected), kDouble);
      } else {
        ++unverified;
        for (const auto& value : expected) EXPECT_LE(std::abs(value), twice.missed_bound);
      }
    }
  }
  EXPECT_LE(unverified, 1);
}

TEST(Discover, ReadsFewSamples) {
  const SparseSignal signal = SparseSignal::random(Shape{1 << 20}, false, 50, 4);
  const Discovery discovery = discover(SignalView::line(signal.as<std::complex<float>>()), {.k = 50});
  expect_found(discovery, signal, kSingle);
  EXPECT_LE(discovery.samples, (1 << 20) / 64);
  EXPECT_EQ(discovery.spectrum.path, Path::comb);
}

TEST(Discover, AnUnknownNumberOfFrequenciesIsFoundOut) {
  for (const std::int64_t k : {1, 7, 60, 400}) {
    const SparseSignal signal = SparseSignal::random(Shape{1 << 18}, false, k, 11);
    const Discovery discovery =
        discover(SignalView::line(signal.as<std::complex<float>>()), {.dense_fallback = false});
    SCOPED_TRACE(k);
    expect_found(discovery, signal, kSingle);
  }
}

TEST(Discover, FewerFrequenciesThanRequestedAreAll) {
  const SparseSignal signal = SparseSignal::random(Shape{1 << 16}, false, 9, 2);
  expect_found(discover(SignalView::line(signal.samples()), {.k = 30, .dense_fallback = false}), signal,
               kDouble);
}

TEST(Discover, OfMoreFrequenciesTheLargestAreKept) {
  SparseSignal signal = SparseSignal::random(Shape{1 << 16}, false, 30, 3);
  const std::vector<std::complex<double>> x = signal.samples();
  const Discovery discovery = discover(SignalView::line(x), {.k = 20, .dense_fallback = false});
  EXPECT_TRUE(discovery.verified) << discovery.reason;
  std::vector<double> sizes;
  for (const auto& value : signal.values) sizes.push_back(std::abs(value));
  std::sort(sizes.rbegin(), sizes.rend());
  ASSERT_EQ(discovery.spectrum.values.size(), 20u);
  double tail = 0;
  for (std::size_t i = 20; i < 30; ++i) tail += sizes[i] * sizes[i];
  for (const auto& value : discovery.spectrum.values) EXPECT_GE(std::abs(value), sizes[19] * (1 - 1e-9));
  EXPECT_NEAR(discovery.spectrum.quality.tail_energy / tail, 1, 1e-6);
}

TEST(Discover, NoisyValuesAreWithinTheirOwnErrorAndNothingIsMissed) {
  for (const Shape& shape : {Shape{1 << 16}, Shape{256, 512}, Shape{65537}}) {
    for (unsigned seed = 1; seed <= 6; ++seed) {
      const SparseSignal signal = SparseSignal::random(shape, false, 10, seed);
      const auto n = static_cast<double>(shape.points());
      double power = 0;
      for (const auto& value : signal.values) power += std::norm(value) / (n * n);
      const double noise = power / 100;
      const auto x = with_noise(signal, noise, seed);
      const Discovery discovery = discover(SignalView(x, shape), {.k = 10, .dense_fallback = false});
      SCOPED_TRACE(shape.to_string());
      EXPECT_TRUE(discovery.verified) << discovery.reason;
      ASSERT_EQ(*discovery.spectrum.support, signal.support);
      double error = 0;
      double predicted = 0;
      for (std::size_t i = 0; i < signal.values.size(); ++i) {
        error += std::norm(discovery.spectrum.values[i] - signal.values[i]);
        predicted += discovery.spectrum.standard_error[i] * discovery.spectrum.standard_error[i];
      }
      EXPECT_LE(error, 4 * predicted);
      EXPECT_GE(error, predicted / 8);
      EXPECT_NEAR(discovery.spectrum.quality.tail_energy / (noise * n * n), 1, 0.35);
      for (const auto& value : signal.values) EXPECT_GT(std::abs(value), discovery.missed_bound);
    }
  }
}

TEST(Discover, WhiteNoiseIsNotVerifiedAndTransformedDensely) {
  std::mt19937 generator(5);
  std::normal_distribution<float> normal;
  std::vector<std::complex<float>> x;
  for (int i = 0; i < (1 << 16); ++i) x.emplace_back(normal(generator), normal(generator));
  const Discovery marked = discover(SignalView::line(x), {.k = 50, .dense_fallback = false});
  EXPECT_FALSE(marked.verified);
  const Discovery discovery = discover(SignalView::line(x), {.k = 50});
  EXPECT_TRUE(discovery.verified);
  EXPECT_EQ(discovery.spectrum.path, Path::dense);
  EXPECT_TRUE(discovery.support_learned_densely);
  EXPECT_EQ(discovery.spectrum.values.size(), 50u);
  EXPECT_FALSE(transform(SignalView::line(x), Largest{50}, {.dense_fallback = false}).verified);
}

TEST(Discover, APhotographIsNotSparse) {
  const std::vector<std::uint8_t> frame = test::film_frame(240, 320, 0);
  const Discovery discovery = discover(SignalView(frame, Shape{240, 320}), {.k = 100});
  EXPECT_EQ(discovery.spectrum.path, Path::dense);
  const Template tmpl = learn(SignalView(frame, Shape{240, 320}), {.keep = Largest{100}});
  EXPECT_EQ(*discovery.spectrum.support, support_of(tmpl));
}

TEST(Discover, OneResidueClassModuloAPowerOfTwo) {
  std::mt19937_64 generator(8);
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::vector<std::int64_t> support;
    while (support.size() < 24) {
      const auto f = static_cast<std::int64_t>(5 + 4096 * (generator() % 256));
      if (std::find(support.begin(), support.end(), f) == support.end()) support.push_back(f);
    }
    const SparseSignal signal = SparseSignal::with_support(Shape{1 << 20}, false, support, seed);
    const auto x = signal.as<std::complex<float>>();
    const Discovery discovery =
        discover(SignalView::line(x), {.k = 24, .dense_fallback = false, .seed = seed});
    expect_found(discovery, signal, kSingle);
    EXPECT_EQ(discovery.spectrum.path, Path::flat_window);
  }
}

TEST(Discover, FrequenciesThatDifferInTheirHighestBitsOnly) {
  // On every grid of a power of two they share a bucket, and at delays of one parity they resemble other
  // frequencies.
  const std::vector<std::int64_t> tops[] = {{0, 128}, {0, 64}, {0, 128 * 256 + 128}, {0, 128 * 256, 128}};
  int verified = 0;
  for (unsigned seed = 1; seed <= 160; ++seed) {
    const Shape shape = seed % 8 < 4 ? Shape{256, 256} : Shape{1 << 16};
    std::mt19937_64 generator(seed);
    std::vector<std::int64_t> support;
    for (int i = 0; i < 8; ++i)
      support.push_back(static_cast<std::int64_t>(generator() % (1 << 14)) * 4 + i % 4);
    const std::int64_t base = support[0];
    for (const std::int64_t top : tops[seed % 4]) {
      if (top > 0) support.push_back((base + top) % (1 << 16));
    }
    std::sort(support.begin(), support.end());
    support.erase(std::unique(support.begin(), support.end()), support.end());
    const SparseSignal signal = SparseSignal::with_support(shape, false, support, seed);
    const auto x = signal.as<std::complex<float>>();
    const Discovery discovery = discover(
        SignalView(x, shape),
        {.k = static_cast<std::int64_t>(support.size()), .dense_fallback = false, .seed = seed * 7919});
    if (!discovery.verified) continue;
    ++verified;
    EXPECT_EQ(*discovery.spectrum.support, signal.support) << seed;
    EXPECT_LE(test::relative_l2(discovery.spectrum.values, signal.values), kSingle) << seed;
  }
  EXPECT_GE(verified, 150);
}

TEST(Discover, NeighboursAndGreatDifferencesInSize) {
  for (const Shape& shape : {Shape{1 << 17}, Shape{131071}}) {
    SparseSignal signal =
        SparseSignal::with_support(shape, false, {0, 1, 2, 3, 77, 78, 40000, 40001, 131070}, 6);
    expect_found(
        discover(SignalView::line(signal.as<std::complex<float>>()), {.k = 9, .dense_fallback = false}),
        signal, kSingle);
    signal.values[4] *= 1e6;
    const Discovery discovery =
        discover(SignalView::line(signal.samples()), {.k = 9, .dense_fallback = false});
    EXPECT_TRUE(discovery.verified) << discovery.reason;
    ASSERT_EQ(*discovery.spectrum.support, signal.support);
    for (std::size_t i = 0; i < signal.values.size(); ++i)
      EXPECT_LE(std::abs(discovery.spectrum.values[i] - signal.values[i]), 1e-6 * std::abs(signal.values[i]));
  }
}

TEST(Discover, SameSeedSameAnswer) {
  const SparseSignal signal = SparseSignal::random(Shape{1 << 16}, false, 20, 3);
  const auto x = with_noise(signal, 1, 7);
  const Discovery a = discover(SignalView::line(x), {.k = 20, .dense_fallback = false, .seed = 9});
  const Discovery b = discover(SignalView::line(x), {.k = 20, .dense_fallback = false, .seed = 9});
  EXPECT_EQ(*a.spectrum.support, *b.spectrum.support);
  EXPECT_EQ(a.spectrum.values, b.spectrum.values);
  EXPECT_EQ(a.samples, b.samples);
}

TEST(Discover, NanIsAnErrorOrNotVerified) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::complex<float>> x(1 << 16, {nan, nan});
  const Discovery marked = discover(SignalView::line(x), {.k = 5, .dense_fallback = false});
  EXPECT_FALSE(marked.verified);
  EXPECT_FALSE(marked.spectrum.quality.finite);
  EXPECT_EQ(code_of([&] { discover(SignalView::line(x), {.k = 5}); }), ErrorCode::invalid_argument);
}

TEST(Discover, ZeroSamplesAreNotVerified) {
  // A click is flat in frequency, and an algorithm that reads one sample in ten can miss it.
  std::vector<std::complex<float>> x(1 << 16);
  x[12345] = 1;
  EXPECT_FALSE(discover(SignalView::line(x), {.k = 5, .dense_fallback = false}).verified);
  EXPECT_EQ(discover(SignalView::line(x), {.k = 5}).spectrum.path, Path::dense);
}

TEST(Discover, TinySignalsAndFrequenciesEverywhere) {
  // k goes up to the number of all frequencies, with and without the dense transform as a fallback.
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 16, 17, 64, 1000, 1021}) {
    for (const std::int64_t k : {std::int64_t{1}, n / 4, n / 2, n}) {
      if (k == 0) continue;
      const SparseSignal signal = SparseSignal::random(Shape{n}, false, k, 3);
      const std::vector<std::complex<double>> x = signal.samples();
      SCOPED_TRACE(std::to_string(k) + " of " + std::to_string(n));
      for (const std::optional<std::int64_t> wanted : {std::optional(k), std::optional<std::int64_t>()}) {
        const Discovery marked = discover(SignalView::line(x), {.k = wanted, .dense_fallback = false});
        EXPECT_LE(marked.rounds, 24);
        if (!marked.verified) continue;
        EXPECT_EQ(*marked.spectrum.support, signal.support);
        EXPECT_LE(test::relative_l2(marked.spectrum.values, signal.values), 1e-10);
      }
      const Discovery answer = discover(SignalView::line(x), {.k = k});
      EXPECT_TRUE(answer.verified);
      EXPECT_EQ(*answer.spectrum.support, signal.support);
      EXPECT_LE(test::relative_l2(answer.spectrum.values, signal.values), 1e-10);
    }
  }
}

TEST(Discover, TransformGivesWhatDiscoveryFinds) {
  const SparseSignal signal = SparseSignal::random(Shape{288, 384}, true, 6, 5);
  const std::vector<float> x = signal.as<float>();
  const SignalView view(x, Shape{288, 384});
  const Discovery discovery = discover(view, {.k = 6});
  const Discovery found = transform(view, Largest{6});
  EXPECT_TRUE(found.verified);
  const Spectrum<double>& spectrum = found.spectrum;
  EXPECT_EQ(spectrum.path, Path::comb);
  EXPECT_EQ(*spectrum.support, *discovery.spectrum.support);
  EXPECT_EQ(spectrum.values, discovery.spectrum.values);
  EXPECT_GE(discovery.search_seconds, 0);
  EXPECT_EQ(code_of([&] { transform(view, {}); }), ErrorCode::invalid_argument);
}

TEST(Discover, BadOptionsAreTypedErrors) {
  const std::vector<std::complex<float>> x(4096);
  const auto code = [&](const DiscoverOptions& options) {
    return code_of([&] { discover(SignalView::line(x), options); });
  };
  EXPECT_EQ(code({.k = -1}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.k = 4097}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.k = 5, .accuracy = -1}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.k = 5, .noise_gain = 0.5}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.k = 5, .path = Path::direct}), ErrorCode::invalid_argument);
  const Discovery large = discover(SignalView::line(x), {.k = 1024});
  EXPECT_EQ(large.spectrum.path, Path::dense);
}

TEST(Discover, LearningByDiscoveryMakesATemplate) {
  const Shape shape{1 << 16};
  const SparseSignal signal = SparseSignal::random(shape, false, 20, 3);
  const auto x = with_noise(signal, 0.3, 1);
  const Template tmpl =
      learn(SignalView::line(x),
            {.keep = Largest{20}, .method = LearnOptions::Method::discovery, .dense_fallback = false});
  EXPECT_EQ(support_of(tmpl), signal.support);
  const Template dense = learn(SignalView::line(x), {.keep = Largest{20}});
  EXPECT_NEAR(tmpl.energy_captured(), dense.energy_captured(), 0.02);
  const Plan<float> plan(tmpl);
  const auto spectrum = plan.execute(SignalView::line(x));
  EXPECT_LE(test::relative_l2(spectrum.values, signal.values), 0.1);

  std::vector<std::complex<float>> noise = with_noise(SparseSignal{shape, false, {}, {}}, 1, 2);
  EXPECT_EQ(code_of([&] {
              learn(
                  SignalView::line(noise),
                  {.keep = Largest{20}, .method = LearnOptions::Method::discovery, .dense_fallback = false});
            }),
            ErrorCode::not_sparse);
  EXPECT_EQ(
      learn(SignalView::line(noise), {.keep = Largest{20}, .method = LearnOptions::Method::discovery}).k(),
      20);
  EXPECT_EQ(code_of([&] {
              learn(SignalView::line(x), {.keep = Energy{0.9}, .method = LearnOptions::Method::discovery});
            }),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sfft::discover_test
