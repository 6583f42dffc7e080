// SPDX-License-Identifier: Apache-2.0
// Tests properties of every Fourier transform on random shapes, supports and seeds.
#include <gtest/gtest.h>

#include <random>

#include "bench/known_signals.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::transform_property_test {
namespace {

using test::SparseSignal;

Shape random_shape(std::mt19937& random) {
  const auto side = [&](int max) {
    return static_cast<std::int64_t>(1 + random() % static_cast<unsigned>(max));
  };
  switch (random() % 4) {
    case 0:
      return Shape{side(3000)};
    case 1:
      return Shape{std::int64_t{1} << (5 + random() % 7)};
    case 2:
      return Shape{side(60), side(60)};
    default:
      return Shape{side(14), side(14), side(14)};
  }
}

struct Draw {
  SparseSignal signal;
  Plan<double> plan;
  std::vector<std::complex<double>> x;

  static Draw make(std::mt19937& random, unsigned seed) {
    const Shape shape = random_shape(random);
    const std::int64_t k =
        1 + static_cast<std::int64_t>(
                random() % static_cast<unsigned>(std::clamp<std::int64_t>(shape.points() / 3, 1, 30)));
    SparseSignal signal = SparseSignal::random(shape, false, k, seed);
    Plan<double> plan(Template::from_support(shape, Domain::complex, signal.support), {.seed = seed});
    auto x = signal.samples();
    return {std::move(signal), std::move(plan), std::move(x)};
  }
};

constexpr double kBound = 2e-12;

TEST(Property, RandomSignalsAreRecovered) {
  std::mt19937 random(1);
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const Draw draw = Draw::make(random, seed);
    const auto spectrum = draw.plan.execute(SignalView(draw.x, draw.signal.shape));
    EXPECT_LE(test::relative_l2(spectrum.values, draw.signal.values), kBound)
        << draw.signal.shape.to_string() << "\n"
        << draw.plan.explain();
  }
}

TEST(Property, Linearity) {
  std::mt19937 random(2);
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const Draw draw = Draw::make(random, seed);
    // Signals are arbitrary and need not fit the template.
    std::normal_distribution<double> normal;
    std::vector<std::complex<double>> y, sum;
    const std::complex<double> a(0.7, -1.3);
    for (const auto& sample : draw.x) {
      y.emplace_back(normal(random), normal(random));
      sum.push_back(a * sample + y.back());
    }
    const Shape& shape = draw.signal.shape;
    const auto of_x = draw.plan.execute(SignalView(draw.x, shape)).values;
    const auto of_y = draw.plan.execute(SignalView(y, shape)).values;
    auto expected = of_y;
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += a * of_x[i];
    EXPECT_LE(test::relative_l2(draw.plan.execute(SignalView(sum, shape)).values, expected), kBound);
  }
}

TEST(Property, AShiftInTimeIsAPhase) {
  std::mt19937 random(3);
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const Draw draw = Draw::make(random, seed);
    const Shape& shape = draw.signal.shape;
    const auto by = static_cast<std::int64_t>(random() % static_cast<unsigned>(shape.points()));
    const auto shift = test::split(shape, by);
    std::vector<std::complex<double>> moved(draw.x.size());
    for (std::int64_t t = 0; t < shape.points(); ++t) {
      const auto at = test::split(shape, t);
      std::int64_t from = 0;
      for (int d = 0; d < shape.rank(); ++d) {
        const auto i = static_cast<std::size_t>(d);
        from = from * shape[d] + (at[i] + shift[i]) % shape[d];
      }
      moved[static_cast<std::size_t>(t)] = draw.x[static_cast<std::size_t>(from)];
    }
    auto expected = draw.signal.values;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto f = test::split(shape, draw.signal.support[i]);
      double turns = 0;
      for (int d = 0; d < shape.rank(); ++d) {
        const auto at = static_cast<std::size_t>(d);
        turns += static_cast<double>(f[at] * shift[at] % shape[d]) / static_cast<double>(shape[d]);
      }
      expected[i] *= std::polar(1.0, 2 * std::numbers::pi * turns);
    }
    EXPECT_LE(test::relative_l2(draw.plan.execute(SignalView(moved, shape)).values, expected), kBound);
  }
}

TEST(Property, RealSignalsEqualTheirComplexTwins) {
  std::mt19937 random(4);
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const Shape shape = random_shape(random);
    const std::int64_t k =
        1 + static_cast<std::int64_t>(
                random() % static_cast<unsigned>(std::clamp<std::int64_t>(shape.points() / 8, 1, 20)));
    const SparseSignal signal = SparseSignal::random(shape, true, k, seed);
    const auto x = signal.as<double>();
    // The complex path computes both halves of the spectrum, which are conjugate pairs and equal the real
    // path's values.
    std::vector<std::int64_t> both = signal.support;
    for (const std::int64_t f : signal.support) {
      if (test::negated(shape, f) != f) both.push_back(test::negated(shape, f));
    }
    const std::vector<std::complex<double>> z(x.begin(), x.end());
    const Template full = Template::from_support(shape, Domain::complex, both);
    const auto complex_values = Plan<double>(full).execute(SignalView(z, shape)).values;
    const auto real_values = Plan<double>(Template::from_support(shape, Domain::real, signal.support))
                                 .execute(SignalView(x, shape))
                                 .values;
    EXPECT_LE(test::relative_l2(real_values, signal.values), kBound) << shape.to_string();
    std::vector<std::complex<double>> picked, mirrored;
    double energy = 0;
    for (std::size_t i = 0; i < both.size(); ++i) energy += std::norm(complex_values[i]);
    for (const std::int64_t f : signal.support) {
      const auto find = [&](std::int64_t g) {
        return complex_values[static_cast<std::size_t>(
            std::lower_bound(full.support().begin(), full.support().end(), g) - full.support().begin())];
      };
      picked.push_back(find(f));
      mirrored.push_back(std::conj(find(test::negated(shape, f))));
    }
    EXPECT_LE(test::relative_l2(picked, real_values), kBound);
    EXPECT_LE(test::relative_l2(mirrored, picked), kBound);
    // Parseval: all the energy lies on the support.
    double samples = 0;
    for (const double value : x) samples += value * value;
    EXPECT_NEAR(energy / (samples * static_cast<double>(shape.points())), 1, 1e-9);
  }
}

TEST(Property, AnyInputIsAnswerOrError) {
  // Random options on random templates give a defined result or a typed error.
  std::mt19937 random(6);
  int answered = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const Shape shape = random_shape(random);
    const std::int64_t k = 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(shape.points()));
    const bool real = random() % 2 == 0;
    const SparseSignal signal = SparseSignal::random(shape, real, std::min<std::int64_t>(k, 60), seed);
    PlanOptions options;
    options.path = static_cast<Path>(random() % 5);
    const double share = random() % 3 == 0 ? 0.01 * static_cast<double>(random() % 101) : 0;
    if (share > 0) options.max_samples = share;
    options.accuracy = random() % 3 == 0 ? 0.1 : 0;
    options.threads = 1 + static_cast<int>(random() % 2);
    std::vector<float> x(static_cast<std::size_t>(shape.points()));
    std::normal_distribution<float> normal;
    for (float& sample : x) sample = random() % 50 == 0 ? 1e30F : normal(random);
    const std::vector<std::complex<float>> z(x.begin(), x.end());
    try {
      const Template tmpl =
          random() % 2 == 0
              ? Template::from_support(shape, real ? Domain::real : Domain::complex, signal.support)
          : real ? learn(SignalView(x, shape), {.keep = Largest{1}, .reference = true})
                 : learn(SignalView(z, shape), {.keep = Largest{1}, .reference = true});
      const Plan<float> plan(tmpl, options);
      const auto spectrum = real ? plan.execute(SignalView(x, shape)) : plan.execute(SignalView(z, shape));
      EXPECT_EQ(spectrum.values.size(), static_cast<std::size_t>(tmpl.k()));
      ++answered;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::not_sparse) << error.what();
    }
  }
  EXPECT_GE(answered, 200);
}

}  // namespace
}  // namespace sfft::transform_property_test
