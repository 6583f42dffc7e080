// SPDX-License-Identifier: Apache-2.0
// Tests learning by energy, by a threshold and from several frames against direct sums, and learning that
// tries discovery first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/template.hpp"
#include "sfft/template_access.hpp"
#include "tests/support/learned_truth.hpp"
#include "tests/support/throws.hpp"

namespace sfft::learn_choices_test {
namespace {

using test::check;
using test::code_of;
using test::drawn_samples;
using test::exact_spectrum;
using test::expect_same_bits;
using test::Frame;
using test::make_frame;
using test::represents;
using Spectrum = test::DenseSpectrum;

/// Powers of the frequencies that the half spectrum keeps, except f = 0, largest first.
std::vector<std::pair<double, std::int64_t>> ranked_powers(const Frame& frame, const Spectrum& exact) {
  std::vector<std::pair<double, std::int64_t>> ranked;
  for (std::int64_t flat = 1; flat < frame.shape.points(); ++flat) {
    if (represents(frame, flat)) ranked.emplace_back(std::norm(exact[static_cast<std::size_t>(flat)]), flat);
  }
  std::sort(ranked.rbegin(), ranked.rend());
  return ranked;
}

TEST(LearnProperty, OtherCriteriaAndSeveralFramesTellWhatDirectSumsTell) {
  unsigned seed = 300;
  for (const Shape& shape :
       {Shape{4096}, Shape{2500}, Shape{1009}, Shape{48, 50}, Shape{45, 63}, Shape{8, 9, 20}}) {
    for (const ElementType type : {ElementType::u8, ElementType::f32, ElementType::c64}) {
      const std::string what = shape.to_string() + " " + to_string(type);
      const Frame frame = make_frame(type, shape, drawn_samples(shape, ++seed));
      const Spectrum exact = exact_spectrum(frame);
      const auto ranked = ranked_powers(frame, exact);
      const auto weight = [&](std::int64_t flat) {
        return frame.real() && test::negated(shape, flat) != flat ? 2.0 : 1.0;
      };
      double total = 0;
      for (const auto& [power, flat] : ranked) total += weight(flat) * power;
      for (const double share : {0.5, 0.97}) {
        const Template tmpl = learn(frame.view(), {.keep = Energy{share}});
        check(frame, tmpl.k(), tmpl, exact, true);
        double held = 0;
        for (std::int64_t i = 0; i < tmpl.k() - 2; ++i)
          held +=
              weight(ranked[static_cast<std::size_t>(i)].second) * ranked[static_cast<std::size_t>(i)].first;
        EXPECT_LT(held, share * total * (1 + 1e-9)) << what << ": fewer do";
        EXPECT_GE(tmpl.energy_captured(), share * (1 - 1e-9)) << what;
      }
      const double median = ranked[ranked.size() / 2].first;
      const double floor = 9 * median / std::numbers::ln2;
      const Template tmpl = learn(frame.view(), {.keep = AboveNoise{3}});
      check(frame, tmpl.k(), tmpl, exact, true);
      const auto above = [&](double level) {
        return 1 + std::count_if(ranked.begin(), ranked.end(),
                                 [&](const auto& one) { return one.first > level; });
      };
      EXPECT_GE(tmpl.k(), above(1.01 * floor)) << what;
      EXPECT_LE(tmpl.k(), above(0.99 * floor)) << what;

      const Frame second = make_frame(type, shape, drawn_samples(shape, ++seed));
      const Spectrum other = exact_spectrum(second);
      const std::vector<SignalView> frames{frame.view(), second.view()};
      const Template mean = learn(frames, {.keep = Largest{9}});
      ASSERT_EQ(mean.k(), 9);
      double largest = 0, min = std::numeric_limits<double>::infinity();
      for (std::int64_t flat = 0; flat < shape.points(); ++flat) {
        if (!represents(frame, flat)) continue;
        const auto at = static_cast<std::size_t>(flat);
        const double power = (std::norm(exact[at]) + std::norm(other[at])) / 2;
        const auto found = std::find(mean.support().begin(), mean.support().end(), flat);
        if (found == mean.support().end()) {
          largest = std::max(largest, power);
          continue;
        }
        const auto i = static_cast<std::size_t>(found - mean.support().begin());
        min = std::min(min, power);
        EXPECT_NEAR(mean.power()[i] / power, 1, 1e-9) << what;
        EXPECT_LE(std::abs(mean.values()[i] - exact[at]), 1e-9 * std::sqrt(power)) << what;
      }
      EXPECT_GE(min, largest * (1 - 1e-9)) << what;
      EXPECT_TRUE(detail::data_of(mean)->change_measured);
    }
  }
}

TEST(LearnAutomatic, TakesDiscoveryForExactlySparseFrames) {
  int discovered = 0, all = 0;
  for (const Shape& shape : {Shape{1 << 16}, Shape{250000}, Shape{400, 420}}) {
    for (const ElementType type : {ElementType::c64, ElementType::f64, ElementType::c128}) {
      for (unsigned seed = 1; seed <= 3; ++seed) {
        const bool real = type == ElementType::f64;
        const auto signal = test::SparseSignal::random(shape, real, 6, seed);
        const Frame frame = make_frame(type, shape, signal.samples());
        const Template tmpl =
            learn(frame.view(), {.keep = Largest{6}, .method = LearnOptions::Method::automatic});
        const std::string what = shape.to_string() + " " + to_string(type);
        ++all;
        if (tmpl.learned_by() == LearnOptions::Method::discovery) ++discovered;
        ASSERT_EQ(tmpl.k(), 6) << what;
        for (std::size_t i = 0; i < 6; ++i) {
          const std::int64_t f = signal.support[i];
          const bool kept = represents(frame, f);
          const std::int64_t index = kept ? f : test::negated(shape, f);
          const auto at = std::find(tmpl.support().begin(), tmpl.support().end(), index);
          ASSERT_NE(at, tmpl.support().end()) << what;
          const std::complex<double> truth = kept ? signal.values[i] : std::conj(signal.values[i]);
          const std::complex<double> value =
              tmpl.values()[static_cast<std::size_t>(at - tmpl.support().begin())];
          EXPECT_LE(std::abs(value - truth), (type == ElementType::c64 ? 1e-5 : 1e-10) * std::abs(truth))
              << what;
        }
      }
    }
  }
  EXPECT_GE(10 * discovered, 8 * all) << "a search may take longer than it is worth, but seldom does";
}

TEST(LearnAutomatic, LearnsOtherFramesDenselyAndSaysWhy) {
  const Shape shape{1 << 17};
  const auto signal = test::SparseSignal::random(shape, false, 6, 9);
  const Spectrum sparse = signal.samples();
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  const auto expect_dense = [&](const Frame& frame, LearnOptions options, const char* what) {
    options.method = LearnOptions::Method::automatic;
    const Template tmpl = learn(frame.view(), options);
    EXPECT_EQ(tmpl.learned_by(), LearnOptions::Method::dense) << what;
    EXPECT_FALSE(tmpl.why_learned_so().empty()) << what;
    options.method = LearnOptions::Method::dense;
    expect_same_bits(tmpl, learn(frame.view(), options), what);
  };
  Spectrum noisy = sparse;
  for (auto& x : noisy) x += 1e-3 * std::complex<double>(normal(random), normal(random));
  expect_dense(make_frame(ElementType::c64, shape, noisy), {.keep = Largest{6}}, "a little noise");
  expect_dense(make_frame(ElementType::c64, shape, drawn_samples(shape, 5)), {.keep = Largest{6}}, "a step");
  Spectrum click = sparse;
  click[random() % click.size()] += 2.0;
  expect_dense(make_frame(ElementType::c64, shape, click), {.keep = Largest{6}}, "one sample off");
  // More frequencies than requested have about the same magnitude; finding the largest needs double
  // precision.
  auto equal = signal;
  for (auto& value : equal.values) value *= static_cast<double>(shape.points()) / std::abs(value);
  expect_dense(make_frame(ElementType::c64, shape, equal.samples()), {.keep = Largest{3}}, "ties");
  const Frame frame = make_frame(ElementType::c64, shape, sparse);
  expect_dense(frame, {.keep = Largest{6}, .reference = true}, "a reference");
  expect_dense(frame, {.keep = Largest{3000}}, "a large k");
  expect_dense(frame, {.keep = Energy{0.9}}, "energy");
  expect_dense(make_frame(ElementType::u8, shape, sparse), {.keep = Largest{6}}, "integers");
  const Template known = Template::from_support(shape, Domain::complex, signal.support);
  EXPECT_EQ(known.learned_by(), LearnOptions::Method::dense);
  EXPECT_TRUE(known.why_learned_so().empty());
}

TEST(LearnAutomatic, RefusesWhatDenseLearningRefuses) {
  const Shape shape{1 << 15};
  Spectrum samples = test::SparseSignal::random(shape, false, 3, 9).samples();
  samples[777] = std::nan("");
  const Frame frame = make_frame(ElementType::c64, shape, samples);
  const auto code = [&](const LearnOptions& options) {
    return code_of([&] { learn(frame.view(), options); });
  };
  EXPECT_EQ(code({.keep = Largest{3}, .method = LearnOptions::Method::automatic}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code({.keep = Largest{shape.points() + 1}, .method = LearnOptions::Method::automatic}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code({.method = LearnOptions::Method::automatic}), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sfft::learn_choices_test
