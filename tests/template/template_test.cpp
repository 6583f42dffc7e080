// SPDX-License-Identifier: Apache-2.0
// Tests learning and templates on the CPU: supports found by each criterion, ties, means, and refusals.
#include "sfft/template.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft_build_config.hpp"
#include "template/data/template_data.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::template_test {
namespace {

using test::code_of;
using test::SparseSignal;

std::vector<std::int64_t> support_of(const Template& tmpl) {
  return {tmpl.support().begin(), tmpl.support().end()};
}

/// By the definition: of f and −f, the one with the smaller last coordinate, then the smaller linear index.
TEST(Indices, ArePeriodicAndOneOfEachPairRepresentsIt) {
  for (const Shape& shape : {Shape{1}, Shape{8}, Shape{9}, Shape{4, 6}, Shape{5, 7}, Shape{3, 4, 5}}) {
    const std::int64_t last = shape[shape.rank() - 1];
    for (std::int64_t i = 0; i < shape.points(); ++i) {
      auto f = detail::coordinates(shape, i), minus = f;
      EXPECT_EQ(detail::linear_index(shape, f), i);
      for (int d = 0; d < shape.rank(); ++d) {
        const auto axis = static_cast<std::size_t>(d);
        minus[axis] = -f[axis];
        f[axis] += (d - 2) * shape[d];
      }
      EXPECT_EQ(detail::linear_index(shape, f), i);
      const std::int64_t opposite = detail::linear_index(shape, minus);
      const auto rank = [last](std::int64_t index) { return std::pair(index % last, index); };
      const std::int64_t expected = rank(i) < rank(opposite) ? i : opposite;
      EXPECT_EQ(detail::pair_representative(shape, i), expected) << shape.to_string() << " " << i;
    }
  }
}

TEST(Learn, FindsTheSupportOfSparseSignals) {
  const Shape shapes[] = {Shape{64},    Shape{63},    Shape{101},     Shape{12, 16},
                          Shape{9, 15}, Shape{16, 9}, Shape{4, 5, 6}, Shape{3, 3, 8}};
  for (const Shape& shape : shapes) {
    for (const bool real : {false, true}) {
      for (unsigned seed = 1; seed <= 5; ++seed) {
        const SparseSignal signal = SparseSignal::random(shape, real, 6, seed);
        const auto samples = signal.samples();
        std::vector<double> re;
        for (const auto& value : samples) re.push_back(value.real());
        const Template tmpl = real ? learn(SignalView(re, shape), {.keep = Largest{6}})
                                   : learn(SignalView(samples, shape), {.keep = Largest{6}});
        ASSERT_EQ(tmpl.k(), 6) << shape.to_string();
        EXPECT_EQ(tmpl.domain() == Domain::real, real);
        // A real signal's template may contain either frequency of a conjugate pair.
        for (std::size_t i = 0; i < 6; ++i) {
          const std::int64_t f = tmpl.support()[i];
          const std::int64_t other = test::negated(shape, f);
          auto at = std::find(signal.support.begin(), signal.support.end(), f);
          const bool mirrored = at == signal.support.end();
          if (mirrored && real) at = std::find(signal.support.begin(), signal.support.end(), other);
          ASSERT_NE(at, signal.support.end()) << shape.to_string() << " seed " << seed;
          std::complex<double> truth = signal.values[static_cast<std::size_t>(at - signal.support.begin())];
          if (mirrored) truth = std::conj(truth);
          EXPECT_LE(std::abs(tmpl.values()[i] - truth), 1e-10 * std::abs(truth));
        }
        EXPECT_NEAR(tmpl.energy_captured(), 1, 1e-12);
      }
    }
  }
}

TEST(Learn, TiesGoToSmallerIndices) {
  std::vector<double> impulse(16, 0.0);
  impulse[0] = 1;  // |X| = 1 everywhere
  EXPECT_EQ(support_of(learn(SignalView::line(impulse), {.keep = Largest{3}})),
            (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(support_of(learn(SignalView::line(impulse), {.keep = Largest{9}})),
            (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Learn, EnergyKeepsTheFewestAndTheMean) {
  const Shape shape{64};
  SparseSignal signal = SparseSignal::with_support(shape, false, {0, 3, 9, 20}, 1);
  signal.values = {{1000, 0}, {10, 0}, {0, 5}, {1, 0}};  // without the mean: 100, 25, 1
  const auto x = signal.samples();
  EXPECT_EQ(support_of(learn(SignalView::line(x), {.keep = Energy{0.7}})), (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(support_of(learn(SignalView::line(x), {.keep = Energy{0.9}})),
            (std::vector<std::int64_t>{0, 3, 9}));
  EXPECT_NEAR(learn(SignalView::line(x), {.keep = Energy{0.7}}).energy_captured(), 100.0 / 126, 1e-12);
}

TEST(Learn, EnergyOfAFlatSpectrumTakesThousands) {
  const Shape shape{150, 120};
  std::mt19937 random(5);
  std::normal_distribution<double> noise;
  std::vector<std::complex<double>> x(static_cast<std::size_t>(shape.points()));
  for (auto& sample : x) sample = {noise(random), noise(random)};
  const Template all = learn(SignalView(x, shape), {.keep = Largest{shape.points()}});
  std::vector<double> power(all.power().begin() + 1, all.power().end());  // without the mean
  std::sort(power.begin(), power.end(), std::greater<>());
  const double total = std::accumulate(power.begin(), power.end(), 0.0);
  for (const double share : {0.3, 0.9, 0.99}) {
    double held = 0;
    std::int64_t expected = 1;  // the mean
    for (std::size_t i = 0; held < share * total; ++i, ++expected) held += power[i];
    EXPECT_EQ(learn(SignalView(x, shape), {.keep = Energy{share}}).k(), expected) << share;
  }
}

TEST(Learn, ThresholdFindsTonesInNoise) {
  const Shape shape{4096};
  const SparseSignal signal = SparseSignal::random(shape, false, 10, 4);
  auto x = signal.samples();
  std::mt19937 random(9);
  std::normal_distribution<double> noise(0, 0.5);
  for (auto& sample : x) sample += std::complex<double>(noise(random), noise(random));
  std::vector<std::int64_t> expected{0};  // the mean is always kept
  expected.insert(expected.end(), signal.support.begin(), signal.support.end());
  EXPECT_EQ(support_of(learn(SignalView::line(x), {.keep = AboveNoise{8}})), expected);
}

TEST(Learn, SeveralFramesAverageTheirPower) {
  const Shape shape{128};
  SparseSignal first = SparseSignal::with_support(shape, false, {5, 50}, 1);
  SparseSignal second = first;
  first.values = {{100, 0}, {1, 0}};
  second.values = {{1, 0}, {80, 0}};
  const auto a = first.samples();
  const auto b = second.samples();
  const std::vector<SignalView> frames{SignalView::line(a), SignalView::line(b)};
  const Template tmpl = learn(frames, {.keep = Largest{2}});
  EXPECT_EQ(support_of(tmpl), (std::vector<std::int64_t>{5, 50}));
  EXPECT_NEAR(tmpl.power()[0], (100.0 * 100 + 1) / 2, 1e-6);
  EXPECT_NEAR(std::abs(tmpl.values()[1]), 1, 1e-9) << "values come from the first frame";
}

TEST(Learn, RefusesBadInput) {
  std::vector<double> x(32, 1.0);
  EXPECT_EQ(code_of([&] { learn(SignalView::line(x), {}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { learn(SignalView::line(x), {.keep = Largest{-1}}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { learn(SignalView::line(x), {.keep = Largest{18}}); }), ErrorCode::invalid_argument)
      << "17 distinct frequencies";
  EXPECT_EQ(learn(SignalView::line(x), {.keep = Largest{17}}).k(), 17);
  EXPECT_EQ(code_of([&] { learn(SignalView::line(x), {.keep = Energy{-0.5}}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { learn(SignalView::line(x), {.keep = Energy{1.5}}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { learn(SignalView::line(x), {.keep = Energy{std::nan("")}}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { learn(SignalView::line(x), {.keep = AboveNoise{-2}}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { learn(SignalView::line(x), {.keep = Largest{1}, .threads = -1}); }),
            ErrorCode::invalid_argument);
  const std::vector<double> zero(32, 0.0);
  EXPECT_EQ(code_of([&] { learn(SignalView::line(zero), {.keep = Energy{0.5}}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(learn(SignalView::line(zero), {.keep = Largest{3}}).k(), 3);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    x[7] = bad;
    EXPECT_EQ(code_of([&] { learn(SignalView::line(x), {.keep = Largest{2}}); }),
              ErrorCode::invalid_argument);
  }
  EXPECT_EQ(code_of([&] { learn(std::span<const SignalView>(), {.keep = Largest{2}}); }),
            ErrorCode::invalid_argument);
  const std::vector<double> shorter(16, 1.0);
  const std::vector<SignalView> frames{SignalView::line(zero), SignalView::line(shorter)};
  EXPECT_EQ(code_of([&] { learn(frames, {.keep = Largest{2}}); }), ErrorCode::shape_mismatch);
}

TEST(Learn, RefusesPowersThatOverflow) {
  std::vector<double> x(32, 0.0);
  x[3] = 1e200;
  EXPECT_EQ(code_of([&] { learn(SignalView::line(x), {.keep = Largest{2}}); }), ErrorCode::invalid_argument);
}

TEST(Learn, SaysThatABuildHasNoGpuBackend) {
  if (SFFT_HAVE_CUDA) GTEST_SKIP() << "this build has one";
  const std::vector<double> x(32, 1.0);
  EXPECT_EQ(code_of([&] { learn(SignalView::line(x), {.keep = Largest{2}, .device = Device::gpu(99)}); }),
            ErrorCode::backend_unavailable);
}

TEST(Template, FromSupportChecksIt) {
  const Shape shape{8, 8};
  const auto make = [&](bool real, std::vector<std::int64_t> support) {
    return code_of([&] { Template::from_support(shape, real ? Domain::real : Domain::complex, support); });
  };
  EXPECT_EQ(make(false, {}), ErrorCode::invalid_support);
  EXPECT_EQ(make(false, {1, 1}), ErrorCode::invalid_support);
  EXPECT_EQ(make(false, {-1}), ErrorCode::invalid_support);
  EXPECT_EQ(make(false, {64}), ErrorCode::invalid_support);
  EXPECT_EQ(make(true, {9, test::negated(shape, 9)}), ErrorCode::invalid_support);
  EXPECT_EQ(make(false, {9, test::negated(shape, 9)}), std::nullopt);
  const std::vector<std::int64_t> unordered{40, 3, 12};
  EXPECT_EQ(support_of(Template::from_support(shape, Domain::complex, unordered)),
            (std::vector<std::int64_t>{3, 12, 40}));
}

}  // namespace
}  // namespace sfft::template_test
