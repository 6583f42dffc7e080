// SPDX-License-Identifier: Apache-2.0
// Tests the promises of a verified discovery on signals made to fool it. The reference is a dense transform
// in double precision, or the construction of the signal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <random>

#include "bench/known_signals.hpp"
#include "sfft/sfft.hpp"
#include "template/discovery/discovery_driver.hpp"
#include "template/discovery/round.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::discover_trust_test {
namespace {

using test::SparseSignal;
using Complex = std::complex<double>;

std::vector<Complex> dense_spectrum(const std::vector<Complex>& x, const Shape& shape) {
  std::vector<Complex> spectrum(x.size());
  dense::Plan<double>(shape, Domain::complex).forward(SignalView(x, shape), spectrum);
  return spectrum;
}

/// Checks the claims of a discovery of a real or complex signal against the whole spectrum.
void expect_true(const Discovery& found, const std::vector<Complex>& truth, const Shape& shape, bool real,
                 double epsilon) {
  double energy = 0;
  for (const Complex& value : truth) energy += std::norm(value);
  const double rounding = 4 * epsilon * std::sqrt(energy);
  std::vector<char> held(truth.size(), 0);
  for (std::size_t i = 0; i < found.spectrum.values.size(); ++i) {
    const std::int64_t f = (*found.spectrum.support)[i];
    held[static_cast<std::size_t>(f)] = 1;
    if (real) held[static_cast<std::size_t>(test::negated(shape, f))] = 1;
    EXPECT_LE(std::abs(found.spectrum.values[i] - truth[static_cast<std::size_t>(f)]),
              6 * found.spectrum.standard_error[i] + rounding);
  }
  for (std::size_t f = 0; f < truth.size(); ++f) {
    if (held[f]) continue;
    ASSERT_LE(std::abs(truth[f]), 1.01 * found.missed_bound + rounding) << "missed " << f;
  }
}

/// Discovers the real samples in single precision, with and without a dense transform as a fallback, and with
/// and without the whole signal's energy. Returns how often discovery itself answered.
int expect_no_silent_error(const std::vector<float>& x, const Shape& shape, std::int64_t k,
                           std::uint64_t seed) {
  const std::vector<Complex> truth = dense_spectrum({x.begin(), x.end()}, shape);
  int answered = 0;
  for (const DiscoverOptions::Check check :
       {DiscoverOptions::Check::automatic, DiscoverOptions::Check::scattered}) {
    for (const bool fallback : {true, false}) {
      const Discovery found =
          discover(SignalView(x, shape), {.k = k, .dense_fallback = fallback, .seed = seed, .check = check});
      if (!found.verified) continue;
      answered += found.support_learned_densely ? 0 : 1;
      expect_true(found, truth, shape, true, std::numeric_limits<float>::epsilon());
    }
  }
  return answered;
}

TEST(DiscoverTrust, ASquareWaveWhosePeriodDividesTheSize) {
  constexpr std::size_t kPoints = 16384;
  for (std::size_t offset = 0; offset < 64; ++offset) {
    SCOPED_TRACE(offset);
    std::vector<float> x(kPoints);
    for (std::size_t t = 0; t < kPoints; ++t) x[t] = (t + offset) % 128 < 64 ? 1.0f : -1.0f;
    expect_no_silent_error(x, Shape{kPoints}, 20, offset + 1);
    const Discovery found = transform(SignalView::line(x), Largest{8});
    const Spectrum<double>& spectrum = found.spectrum;
    // Both the fundamental and its mirror image must be found; transform() once returned one wrong
    // coefficient instead.
    const auto fundamental = std::find(spectrum.support->begin(), spectrum.support->end(), kPoints / 128);
    ASSERT_NE(fundamental, spectrum.support->end());
    EXPECT_LE(found.missed_bound,
              std::abs(spectrum.values[static_cast<std::size_t>(fundamental - spectrum.support->begin())]));
  }
}

TEST(DiscoverTrust, ATonePlusPulsesOfTwoInSixtyFour) {
  constexpr std::size_t kPoints = 16384;
  for (std::size_t offset = 0; offset < 64; ++offset) {
    SCOPED_TRACE(offset);
    std::vector<float> x(kPoints);
    for (std::size_t t = 0; t < kPoints; ++t) {
      const double turns = static_cast<double>(1234 * t % kPoints) / static_cast<double>(kPoints);
      x[t] = static_cast<float>(std::cos(2 * std::numbers::pi * turns) + ((t + offset) % 64 < 2 ? 1.0 : 0.0));
    }
    expect_no_silent_error(x, Shape{kPoints}, 34, offset + 1);
  }
}

TEST(DiscoverTrust, FiveRequestedOfSeventeenEqualTones) {
  const Shape shape{1 << 14};
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SparseSignal signal = SparseSignal::random(shape, false, 17, seed);
    for (Complex& value : signal.values) value *= static_cast<double>(shape.points()) / std::abs(value);
    std::vector<Complex> x = signal.samples();
    if (seed % 2 == 0) {
      std::mt19937 generator(seed);
      std::normal_distribution<double> normal(0, 0.2);
      for (Complex& sample : x) sample += Complex(normal(generator), normal(generator));
    }
    const std::vector<std::complex<float>> single(x.begin(), x.end());
    for (const Path path : {Path::automatic, Path::flat_window}) {
      SCOPED_TRACE(seed);
      const Discovery found =
          discover(SignalView::line(single), {.k = 5, .dense_fallback = false, .seed = seed, .path = path});
      if (!found.verified) continue;
      EXPECT_EQ(found.spectrum.values.size(), 5u);
      EXPECT_TRUE(found.tie_at_k);
      EXPECT_GE(found.missed_bound, 0.99 * static_cast<double>(shape.points()));
    }
  }
}

TEST(DiscoverTrust, WhatKCutsOffIsBoundedAndATieIsNamed) {
  // The tie is found by discovery, and for a short signal by the dense transform.
  for (const std::int64_t points : {std::int64_t{1} << 16, std::int64_t{1024}}) {
    SparseSignal signal = SparseSignal::random(Shape{points}, false, 5, 3);
    const auto size = static_cast<double>(points);
    for (Complex& value : signal.values) value *= size / std::abs(value);
    const auto x = signal.as<std::complex<float>>();
    const Discovery tied = discover(SignalView::line(x), {.k = 4});
    EXPECT_EQ(tied.support_learned_densely, points == 1024);
    EXPECT_TRUE(tied.tie_at_k);
    EXPECT_NE(tied.reason.find("one size"), std::string::npos);
    EXPECT_NEAR(tied.missed_bound / size, 1, 1e-5);
    const Discovery whole = discover(SignalView::line(x), {.k = 5});
    EXPECT_FALSE(whole.tie_at_k);
    EXPECT_LE(whole.missed_bound, 1e-5 * size);
    // One coefficient is larger than the other four, so there is no tie, and the bound is that of the next.
    signal.values[2] *= 3;
    const auto y = signal.as<std::complex<float>>();
    const Discovery largest = discover(SignalView::line(y), {.k = 1});
    EXPECT_EQ(largest.spectrum.support->front(), signal.support[2]);
    EXPECT_FALSE(largest.tie_at_k);
    EXPECT_NEAR(largest.missed_bound / size, 1, 1e-5);
    EXPECT_NEAR(largest.spectrum.quality.tail_energy / (4 * size * size), 1, 1e-5);
  }
}

template <class Real>
void expect_scale_free(double scale, std::int64_t points, double tolerance) {
  SCOPED_TRACE(scale);
  const SparseSignal signal = SparseSignal::random(Shape{points}, false, 6, 9);
  std::vector<std::complex<Real>> x;
  for (const Complex& sample : signal.samples())
    x.emplace_back(static_cast<Real>(scale * sample.real()), static_cast<Real>(scale * sample.imag()));
  const Discovery found = discover(SignalView::line(x), {.k = 6});
  EXPECT_TRUE(found.verified) << found.reason;
  ASSERT_EQ(*found.spectrum.support, signal.support) << found.reason;
  // Divided step by step, because the inverse of a scale may overflow.
  std::vector<Complex> values;
  for (const Complex& value : found.spectrum.values) values.push_back(value / scale);
  EXPECT_LE(test::relative_l2(values, signal.values), tolerance);
  EXPECT_LT(found.spectrum.quality.relative_error, tolerance);
  EXPECT_LT(found.missed_bound / scale, tolerance * 1e3 * static_cast<double>(points));
}

TEST(DiscoverTrust, SamplesOfAnyFiniteSize) {
  for (const std::int64_t points : {std::int64_t{1} << 14, std::int64_t{16381}, std::int64_t{512}}) {
    for (const double scale : {1e-300, 1e-200, 1e-30, 1.0, 1e30, 1e200, 1e300})
      expect_scale_free<double>(scale, points, 1e-11);
    expect_scale_free<double>(1e-312, points, 1e-5);  // denormal numbers have few digits
    for (const double scale : {1e-37, 1e-20, 1e-10, 1e10, 1e25, 3e37})
      expect_scale_free<float>(scale, points, 2e-6);
    expect_scale_free<float>(1e-41, points, 2e-3);
  }
}

TEST(DiscoverTrust, AScaleThatTheFirstSamplesDoNotShow) {
  // Large samples follow silence. The largest sample decides, whenever it comes.
  std::vector<double> x(1 << 14, 1e-250);
  for (std::size_t t = 8000; t < 12000; ++t) x[t] = 1e250;
  const Discovery found = discover(SignalView::line(x), {.k = 3});
  EXPECT_TRUE(found.support_learned_densely);
  EXPECT_NEAR(found.spectrum.values[0].real() / (4000 * 1e250), 1, 1e-12);
}

TEST(DiscoverTrust, ACoefficientTooLargeForADoubleIsATypedError) {
  const std::vector<double> x(1 << 14, 1e308);
  EXPECT_EQ(test::code_of([&] { discover(SignalView::line(x), {.k = 3}); }), ErrorCode::invalid_argument);
}

TEST(DiscoverTrust, LearningTakesFramesWhosePowersAreNoNumbers) {
  const SparseSignal signal = SparseSignal::random(Shape{1024}, false, 6, 9);
  std::vector<Complex> x = signal.samples();
  for (Complex& sample : x) sample *= 1e-300;
  const Template tmpl = learn(SignalView::line(x), {.keep = Largest{6}});
  EXPECT_TRUE(std::equal(tmpl.support().begin(), tmpl.support().end(), signal.support.begin()));
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_LE(std::abs(tmpl.values()[i] / 1e-300 - signal.values[i]), 1e-9 * std::abs(signal.values[i]));
}

TEST(DiscoverTrust, AClickShowsWhereTheWholeSignalIsReadAndABurstWhereItIsLongEnough) {
  const SparseSignal signal = SparseSignal::random(Shape{1 << 14}, false, 10, 4);
  const auto clean = signal.as<std::complex<float>>();
  const Discovery whole = discover(SignalView::line(clean), {.k = 10, .dense_fallback = false});
  ASSERT_TRUE(whole.verified);
  EXPECT_TRUE(whole.energy_checked);
  EXPECT_GE(whole.check_samples, 512);
  EXPECT_GT(whole.samples, whole.check_samples);
  EXPECT_EQ(whole.shortest_burst, 1);
  const Discovery part =
      discover(SignalView::line(clean),
               {.k = 10, .dense_fallback = false, .check = DiscoverOptions::Check::scattered});
  EXPECT_FALSE(part.energy_checked);
  std::mt19937 generator(3);
  for (unsigned seed = 1; seed <= 100; ++seed) {
    auto click = clean;
    click[generator() % click.size()] += 3.0f;
    EXPECT_FALSE(
        discover(SignalView::line(click), {.k = 10, .dense_fallback = false, .seed = seed}).verified);
    auto burst = clean;
    const std::size_t start = generator() % burst.size();
    const DiscoverOptions scattered{
        .k = 10, .dense_fallback = false, .seed = seed, .check = DiscoverOptions::Check::scattered};
    const auto length = static_cast<std::size_t>(part.shortest_burst);
    EXPECT_GT(length, 16u);
    EXPECT_LT(length, burst.size() / 32);
    for (std::size_t i = 0; i < length; ++i) burst[(start + i) % burst.size()] += 0.01f;
    EXPECT_FALSE(discover(SignalView::line(burst), scattered).verified) << seed;
  }
}

TEST(DiscoverTrust, FlippedSignsKeepTheEnergyAndShow) {
  const SparseSignal signal = SparseSignal::random(Shape{1 << 13}, true, 12, 4);
  const auto clean = signal.as<float>();
  ASSERT_TRUE(discover(SignalView::line(clean), {.k = 12, .dense_fallback = false}).verified);
  std::mt19937 generator(3);
  for (unsigned seed = 1; seed <= 100; ++seed) {
    auto flipped = clean;
    for (unsigned i = 0; i < 1 + seed % 3; ++i) {
      const std::size_t at = generator() % flipped.size();
      flipped[at] = -flipped[at];
    }
    EXPECT_FALSE(
        discover(SignalView::line(flipped), {.k = 12, .dense_fallback = false, .seed = seed}).verified);
  }
}

/// Changes a few samples as sensors and memories do.
void change(std::vector<float>& x, int kind, std::size_t start, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    float& own = x[(start + i * (kind < 2 ? 1 : 97)) % x.size()];
    if (kind % 2 == 0) {
      own = -own;
    } else {
      own = x[(start + x.size() - 1) % x.size()];
    }
  }
}

TEST(DiscoverTrust, ChangedSamplesUnderNoiseShowOrAreCovered) {
  int verified = 0;
  for (const Shape& shape : {Shape{49152}, Shape{8192}, Shape{96, 100}}) {
    const SparseSignal signal = SparseSignal::random(shape, true, 6, 4);
    std::vector<float> clean = signal.as<float>();
    double energy = 0;
    for (const float value : clean) energy += value * value;
    const double rms = std::sqrt(energy / static_cast<double>(clean.size()));
    std::mt19937 generator(3);
    for (unsigned draw = 0; draw < 60; ++draw) {
      auto x = clean;
      std::normal_distribution<double> noise(0, rms * std::pow(10, -(20.0 + draw % 5 * 15.0) / 20));
      for (float& value : x) value += static_cast<float>(noise(generator));
      const std::size_t count = draw % 6 == 0 ? 0 : std::size_t{1} << draw % 7;
      change(x, static_cast<int>(draw / 7 % 4), generator() % x.size(), count);
      const Discovery found = discover(SignalView(x, shape), {.k = 6, .dense_fallback = false, .seed = draw});
      if (count == 0) {
        EXPECT_TRUE(found.verified) << shape.to_string() << ": " << found.reason;
        EXPECT_EQ(found.shortest_burst, 1);
      }
      if (!found.verified) continue;
      ++verified;
      const std::vector<Complex> exact(x.begin(), x.end());
      expect_true(found, dense_spectrum(exact, shape), shape, true, std::numeric_limits<float>::epsilon());
    }
  }
  EXPECT_GE(verified, 30);
}

/// A reader that records which samples were read.
class Noting final : public detail::SampleReader {
 public:
  Noting(const std::vector<float>& x)
      : SampleReader(ElementType::f32), samples_(x.data(), ElementType::f32) {}
  void read(const detail::SampleSet& set, float* re, float* im) override {
    for (std::int64_t p0 = 0; p0 < set.counts[0]; ++p0) {
      for (std::int64_t p1 = 0; p1 < set.counts[1]; ++p1) {
        for (std::int64_t p2 = 0; p2 < set.counts[2]; ++p2) {
          for (std::int64_t stream = 0; stream < 2 * set.lanes; ++stream)
            positions.push_back(p0 * set.strides[0] + p1 * set.strides[1] + p2 * set.strides[2] +
                                set.offsets[stream]);
        }
      }
    }
    samples_.read(set, re, im);
  }
  void read(const detail::SampleSet& set, double* re, double* im) override { samples_.read(set, re, im); }

  std::vector<std::int64_t> positions;

 private:
  detail::HostSamples samples_;
};

TEST(DiscoverTrust, WhateverIsReadAndIsNotFiniteIsNoticed) {
  std::mt19937 generator(5);
  for (const Shape& shape : {Shape{1 << 17}, Shape{65521}, Shape{256, 288}}) {
    const SparseSignal signal = SparseSignal::random(shape, true, 8, 4);
    for (const double noise : {0.0, 1e-3}) {
      auto clean = signal.as<float>();
      double energy = 0;
      for (const float value : clean) energy += value * value;
      const double rms = std::sqrt(energy / static_cast<double>(clean.size()));
      std::normal_distribution<double> normal;
      for (float& value : clean) value += static_cast<float>(noise * rms * normal(generator));
      detail::DiscoveryRequest request;
      request.k = 16;
      request.accuracy = 1e-3;
      Noting reader(clean);
      const detail::DiscoveryResult undisturbed = detail::run_discovery<float>(reader, shape, request);
      EXPECT_TRUE(undisturbed.finite) << shape.to_string() << ": " << undisturbed.reason;
      for (int draw = 0; draw < 40; ++draw) {
        auto x = clean;
        const float bad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
        const auto at = reader.positions[generator() % reader.positions.size()];
        x[static_cast<std::size_t>(at)] = bad[draw % 2];
        detail::HostSamples samples(x.data(), ElementType::f32);
        const detail::DiscoveryResult found = detail::run_discovery<float>(samples, shape, request);
        EXPECT_FALSE(found.verified) << shape.to_string() << " sample " << at;
        EXPECT_FALSE(found.finite) << shape.to_string() << " sample " << at;
      }
    }
  }
}

TEST(DiscoverTrust, TheReasonSaysWhatShareWasNotRead) {
  const SparseSignal signal = SparseSignal::random(Shape{1 << 17}, false, 10, 4);
  const auto x = signal.as<std::complex<float>>();
  const Discovery part = discover(SignalView::line(x), {.k = 10});
  ASSERT_TRUE(part.verified);
  const double share = 100 * (1 - static_cast<double>(part.samples) / static_cast<double>(x.size()));
  char text[64];
  std::snprintf(text, sizeof text, "at least %.1f %% of the samples were not read", share);
  EXPECT_NE(part.reason.find(text), std::string::npos) << part.reason;
  const Discovery whole =
      discover(SignalView::line(x), {.k = 10, .check = DiscoverOptions::Check::everything});
  ASSERT_TRUE(whole.verified);
  EXPECT_EQ(whole.reason.find("not read"), std::string::npos) << whole.reason;
}

TEST(DiscoverTrust, ConfidenceSaysHowManySamplesAreCompared) {
  const SparseSignal signal = SparseSignal::random(Shape{1 << 18}, false, 10, 4);
  const auto x = signal.as<std::complex<float>>();
  std::int64_t before = 0;
  for (const double confidence : {1e-3, 1e-9, 1e-15, std::numeric_limits<double>::denorm_min()}) {
    const Discovery found = discover(SignalView::line(x), {.k = 10, .confidence = confidence});
    EXPECT_TRUE(found.verified);
    EXPECT_FALSE(found.energy_checked);
    EXPECT_GT(found.check_samples, before);
    EXPECT_LE(found.shortest_burst, (1 << 18) / 40 + 1);
    before = found.check_samples;
  }
  for (const double confidence : {0.0, 1.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(test::code_of([&] { discover(SignalView::line(x), {.k = 10, .confidence = confidence}); }),
              ErrorCode::invalid_argument);
  }
}

/// Estimates the probability that no sum of 32 anchors and 32 offsets falls into a set of residues, by
/// drawing anchors. For given anchors the offsets are independent.
double miss_probability(const std::vector<char>& set, std::mt19937& generator) {
  constexpr int kDraws = 20000;
  const std::size_t size = set.size();
  double sum = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<char> hit(size, 0);
    for (int a = 0; a < 32; ++a) {
      const std::size_t anchor = generator() % size;
      for (std::size_t s = 0; s < size; ++s) {
        if (set[s]) hit[(s + size - anchor) % size] = 1;
      }
    }
    const auto covered = static_cast<double>(std::count(hit.begin(), hit.end(), 1));
    sum += std::pow(1 - covered / static_cast<double>(size), 32);
  }
  return sum / kDraws;
}

TEST(DiscoverTrust, SumsOfTwoSetsMissAsRarelyAsTheModelSays) {
  // 1024 positions, and sets of a fortieth of the signal: one residue of forty (pulses), one stretch, and
  // several.
  EXPECT_LE(detail::witness_samples(1e-9), 1024);
  EXPECT_LE(detail::witness_share(1e-9, 1024), 0.0256);
  std::mt19937 generator(6);
  std::vector<char> pulse(40, 0), stretch(400, 0), two(400, 0), scattered(400, 0);
  pulse[7] = 1;
  for (std::size_t i = 0; i < 10; ++i) stretch[i] = 1;
  for (std::size_t i = 0; i < 5; ++i) two[i] = two[200 + i] = 1;
  for (std::size_t i = 0; i < 10; ++i) scattered[(i * i * 37 + 11 * i) % 400] = 1;
  for (const auto& set : {pulse, stretch, two, scattered}) EXPECT_LE(miss_probability(set, generator), 1e-9);
}

}  // namespace
}  // namespace sfft::discover_trust_test
