// SPDX-License-Identifier: Apache-2.0
// Tests the stages of discovery one by one: kernels, small systems, sampling patterns, and rounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "bench/known_signals.hpp"
#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/cpu/small_fft/fft_cache.hpp"
#include "kernels/cpu/stages/bucket_power.hpp"
#include "kernels/cpu/stages/locate.hpp"
#include "sfft/discover.hpp"
#include "template/discovery/fit.hpp"
#include "template/discovery/pattern.hpp"
#include "template/discovery/sampler.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::detail::discovery_stages_test {
namespace {

using Complex = std::complex<double>;

Complex reference_root(double turns) {
  const long double angle = 2 * std::numbers::pi_v<long double> * (turns - std::floor(turns));
  return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
}

TEST(DiscoveryKernels, RootsOfTurns) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> turns(-3, 3);
  for (int i = 0; i < 2000; ++i) {
    const double t = turns(random);
    EXPECT_LE(std::abs(root_of_turns(t) - reference_root(t)), 2e-15);
  }
  for (int eighth = -16; eighth <= 16; ++eighth)
    EXPECT_LE(std::abs(root_of_turns(eighth / 8.0) - reference_root(eighth / 8.0)), 3e-16);
}

TEST(DiscoveryKernels, RootsOfProducts) {
  std::mt19937_64 random(2);
  for (const std::int64_t n : {1, 7, 1024, 1048573, 1 << 22}) {
    constexpr std::int64_t kDelays = 3;
    std::vector<double> f, re(37 * kDelays), im(37 * kDelays);
    for (int i = 0; i < 37; ++i) f.push_back(static_cast<double>(random() % static_cast<std::uint64_t>(n)));
    const auto delay = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    const auto step = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    cpu::locate_kernels<float>().roots(f.data(), 37, static_cast<double>(delay), static_cast<double>(step),
                                       static_cast<double>(n), kDelays, re.data(), im.data());
    for (std::size_t i = 0; i < re.size(); ++i) {
      const auto j = static_cast<std::int64_t>(i) % kDelays;
      const auto product = static_cast<std::int64_t>(f[i / kDelays]) * ((delay + j * step) % n) % n;
      const Complex expected = reference_root(static_cast<double>(product) / static_cast<double>(n));
      EXPECT_LE(std::abs(Complex(re[i], im[i]) - expected), 4e-15);
    }
  }
}

template <class Real>
void power_is_a_sum() {
  std::mt19937 random(3);
  std::normal_distribution<Real> normal;
  for (const std::int64_t lanes : {1, 3, 4, 8, 16}) {
    for (const std::int64_t buckets : {1, 15, 16, 50}) {
      std::vector<Real> re, im, power(static_cast<std::size_t>(buckets), Real(1));
      for (std::int64_t i = 0; i < buckets * lanes; ++i) {
        re.push_back(normal(random));
        im.push_back(normal(random));
      }
      cpu::bucket_power_kernels<Real>().add_power(re.data(), im.data(), buckets, lanes, power.data());
      for (std::int64_t b = 0; b < buckets; ++b) {
        double sum = 1;
        for (std::int64_t l = 0; l < lanes; ++l) {
          const auto at = static_cast<std::size_t>(b * lanes + l);
          sum += double(re[at]) * re[at] + double(im[at]) * im[at];
        }
        EXPECT_NEAR(power[static_cast<std::size_t>(b)] / sum, 1, 1e-5);
      }
    }
  }
}

TEST(DiscoveryKernels, PowerIsASum) {
  power_is_a_sum<float>();
  power_is_a_sum<double>();
}

TEST(DiscoveryKernels, CorrelateFindsTheCandidate) {
  std::mt19937_64 random(4);
  for (const std::int64_t count : {1, 5, 8, 1000, 8192}) {
    const auto g = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
    cpu::CandidateLine line;
    double y_re[8], y_im[8];
    for (int j = 0; j < 8; ++j) {
      const auto delay = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
      const Complex base = reference_root(0.1 * j);
      const Complex step = reference_root(static_cast<double>(delay) / static_cast<double>(count));
      const Complex y =
          2.0 * base * reference_root(static_cast<double>(delay * g % count) / static_cast<double>(count));
      line.base_re[j] = base.real();
      line.base_im[j] = base.imag();
      line.step_re[j] = step.real();
      line.step_im[j] = step.imag();
      y_re[j] = y.real();
      y_im[j] = y.imag();
    }
    double power = 0;
    EXPECT_EQ(cpu::locate_kernels<double>().correlate(y_re, y_im, line, count, power), g);
    EXPECT_NEAR(power, 16.0 * 16.0, 1e-6);
  }
}

TEST(DiscoveryFit, PronyFindsUpToThreeFrequencies) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 300; ++trial) {
    const int order = 1 + trial % 3;
    std::vector<double> turns;
    // Phases are at least a twentieth of a turn apart, because closer ones are ill-conditioned.
    while (static_cast<int>(turns.size()) < order) {
      const double u = uniform(random);
      const bool apart = std::all_of(turns.begin(), turns.end(), [&](double v) {
        const double d = std::abs(u - v);
        return std::min(d, 1 - d) > 0.05;
      });
      if (apart) turns.push_back(u);
    }
    DiscoveryVector y{};
    for (int i = 0; i < order; ++i) {
      const Complex amplitude = (0.5 + uniform(random)) * reference_root(uniform(random));
      for (int j = 0; j < 8; ++j) y[j] += amplitude * reference_root(turns[static_cast<std::size_t>(i)] * j);
    }
    std::vector<double> found(static_cast<std::size_t>(order));
    ASSERT_TRUE(prony(y, 8, order, found.data()));
    std::sort(turns.begin(), turns.end());
    std::sort(found.begin(), found.end());
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const double d = std::abs(found[i] - turns[i]);
      EXPECT_LE(std::min(d, 1 - d), 1e-7) << order;
    }
  }
}

TEST(DiscoveryFit, LeastSquaresLeavesOnlyWhatIsOutside) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int members = 1; members <= kDiscoveryMembers; ++members) {
    DiscoveryVector roots[kDiscoveryMembers];
    DiscoveryVector y{};
    std::vector<Complex> values;
    for (int i = 0; i < members; ++i) {
      values.push_back((1 + uniform(random)) * reference_root(uniform(random)));
      for (int j = 0; j < 12; ++j) {
        roots[i][j] = reference_root(uniform(random));
        y[j] += values.back() * roots[i][j];
      }
    }
    const DiscoveryFit fit = fit_bucket(members, 12, roots, y);
    ASSERT_TRUE(fit.ok);
    for (int i = 0; i < members; ++i)
      EXPECT_LE(std::abs(fit.values[i] - values[static_cast<std::size_t>(i)]), 1e-10);
    EXPECT_LE(fit.residual, 1e-20);
  }
  DiscoveryVector same[2] = {{1, 1, 1}, {1, 1, 1}};
  const DiscoveryVector y{1, 2, 3};
  EXPECT_FALSE(fit_bucket(2, 3, same, y).ok);
}

TEST(DiscoveryPattern, GridsDivideTheShape) {
  DiscoveryRandom random(7);
  for (const Shape& shape : {Shape{1 << 20}, Shape{50000}, Shape{96, 210}, Shape{24, 30, 28}}) {
    const CombGrids grids(shape);
    std::optional<CombGrid> previous;
    for (const std::int64_t target : {32, 200, 1000}) {
      const auto grid = grids.near(target, previous ? &*previous : nullptr, random);
      ASSERT_TRUE(grid) << shape.to_string();
      for (int d = 0; d < shape.rank(); ++d) {
        const auto at = static_cast<std::size_t>(d);
        EXPECT_EQ(grid->buckets[at] * grid->strides[at], shape[d]);
      }
      EXPECT_LE(grid->count, shape.points() / 8);
      const int rank = shape.rank();
      for (const DelayPattern& pattern : {ladder_of_delays(grid->strides, rank, 8, random),
                                          random_delays(grid->strides, rank, 8, random)}) {
        EXPECT_EQ(pattern.delays.size(), 8u);
        for (const GridPoint& delay : pattern.delays) {
          for (std::size_t d = 0; d < 3; ++d) {
            EXPECT_GE(delay[d], 0);
            EXPECT_LT(delay[d], grid->strides[d]);
          }
        }
      }
      previous = grid;
    }
  }
  EXPECT_FALSE(CombGrids(Shape{1048573}).near(64, nullptr, random));
}

TEST(DiscoveryPattern, SpreadRunsCanBeUndone) {
  DiscoveryRandom random(8);
  for (const std::int64_t n : {1 << 14, 50000, 3 * 4096}) {
    const Shape shape{n};
    const auto grid = CombGrids(shape).near(64, nullptr, random);
    ASSERT_TRUE(grid);
    for (int i = 0; i < 20; ++i) {
      const DelayPattern pattern = run_of_delays(*grid, true, random);
      EXPECT_EQ(pattern.step % grid->strides[0] * pattern.inverse % grid->strides[0], 1);
      EXPECT_LT(pattern.delays.back()[0], grid->strides[0]);
    }
  }
}

/// Compares the buckets of a comb with the DFT of the samples that it should have read.
TEST(DiscoverySampler, CombsOfRealAndComplexSignals) {
  const Shape shape{12, 20};
  const test::SparseSignal signal = test::SparseSignal::random(shape, false, 9, 3);
  const auto z = signal.as<std::complex<double>>();
  std::vector<double> x;
  for (const auto& sample : z) x.push_back(sample.real());
  const GridPoint buckets{4, 5, 1};
  const std::vector<GridPoint> delays = {{0, 0, 0}, {2, 1, 0}, {1, 3, 0}};
  for (const bool real : {false, true}) {
    HostSamples samples(real ? static_cast<const void*>(x.data()) : z.data(),
                        real ? ElementType::f64 : ElementType::c128);
    DiscoverySampler<double> sampler(samples, shape);
    const BucketValues<double> values = sampler.comb(buckets, delays);
    EXPECT_EQ(sampler.samples(), 60);
    for (std::size_t j = 0; j < delays.size(); ++j) {
      std::vector<Complex> comb;
      for (std::int64_t m0 = 0; m0 < 4; ++m0) {
        for (std::int64_t m1 = 0; m1 < 5; ++m1) {
          const auto at = static_cast<std::size_t>((3 * m0 + delays[j][0]) * 20 + 4 * m1 + delays[j][1]);
          comb.push_back(real ? Complex(x[at]) : z[at]);
        }
      }
      const auto expected = test::direct_dft_axis(test::direct_dft_axis(comb, 4, 5, 1), 1, 4, 5);
      std::vector<Complex> got;
      for (std::int64_t b = 0; b < 20; ++b) got.push_back(values.at(b, static_cast<std::int64_t>(j)));
      EXPECT_LE(test::relative_l2(got, expected), 1e-13);
    }
  }
}

TEST(Discovery, ThreadsShareOnlyPlans) {
  const test::SparseSignal signal = test::SparseSignal::random(Shape{1 << 16}, false, 20, 5);
  const auto x = signal.as<std::complex<float>>();
  const Discovery expected = discover(SignalView::line(x), {.k = 20});
  std::vector<std::thread> threads;
  std::vector<int> equal(4, 0);
  for (std::size_t t = 0; t < equal.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const Discovery found = discover(SignalView::line(x), {.k = 20});
        equal[t] += *found.spectrum.support == *expected.spectrum.support &&
                            found.spectrum.values == expected.spectrum.values
                        ? 1
                        : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::accumulate(equal.begin(), equal.end(), 0), 200);
}

}  // namespace
}  // namespace sfft::detail::discovery_stages_test
