// SPDX-License-Identifier: Apache-2.0
// Tests learning from a dense transform over drawn shapes, element types and spectra. Supports, values,
// energies and envelopes equal those of direct sums, whatever the number of threads and the scale.
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

namespace sfft::learn_property_test {
namespace {

using test::check;
using test::code_of;
using test::distinct;
using test::drawn_samples;
using test::exact_spectrum;
using test::expect_same_bits;
using test::Frame;
using test::kTypes;
using test::make_frame;
using test::represents;
using Spectrum = test::DenseSpectrum;

/// Long lines with good divisors of every residue modulo the eight SIMD lanes, short lines, primes, and
/// grids.
std::vector<Shape> shapes() {
  return {Shape{1},         Shape{2},         Shape{3},        Shape{16},      Shape{101},     Shape{1024},
          Shape{2048},      Shape{2187},      Shape{2401},     Shape{2500},    Shape{3003},    Shape{3600},
          Shape{4096},      Shape{4194},      Shape{4199},     Shape{6561},    Shape{8400},    Shape{4099},
          Shape{1, 7},      Shape{7, 1},      Shape{8, 1},     Shape{2, 2},    Shape{1, 2},    Shape{12, 16},
          Shape{9, 15},     Shape{96, 64},    Shape{431, 3},   Shape{3, 431},  Shape{65, 130}, Shape{40, 257},
          Shape{1, 1, 1},   Shape{6, 1, 1},   Shape{1, 1, 8},  Shape{1, 5, 1}, Shape{3, 3, 8}, Shape{5, 6, 7},
          Shape{16, 8, 17}, Shape{2, 29, 31}, Shape{7, 16, 30}};
}

TEST(LearnProperty, TellsWhatDirectSumsTell) {
  unsigned seed = 0;
  for (const Shape& shape : shapes()) {
    for (const ElementType type : kTypes) {
      const Frame frame = make_frame(type, shape, drawn_samples(shape, ++seed));
      const Spectrum exact = exact_spectrum(frame);
      const std::int64_t max = distinct(frame);
      for (const std::int64_t k : {std::int64_t{1}, max / 40, max / 3, max}) {
        if (k > 0) check(frame, k, learn(frame.view(), {.keep = Largest{k}}), exact);
      }
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(LearnProperty, IsTheSameForAnyNumberOfThreads) {
  unsigned seed = 100;
  for (const Shape& shape : {Shape{65536}, Shape{75000}, Shape{65537}, Shape{240, 320}, Shape{32, 45, 50}}) {
    for (const ElementType type : {ElementType::u8, ElementType::c64}) {
      const Frame frame = make_frame(type, shape, drawn_samples(shape, ++seed));
      for (const std::int64_t k : {30, 3000}) {
        const Template one = learn(frame.view(), {.keep = Largest{k}});
        for (const int threads : {2, 3, 8, 0})
          expect_same_bits(learn(frame.view(), {.keep = Largest{k}, .threads = threads}), one,
                           shape.to_string() + " threads " + std::to_string(threads));
      }
    }
  }
}

TEST(LearnProperty, TiesGoToSmallerIndices) {
  for (const Shape& shape :
       {Shape{4096}, Shape{3600}, Shape{2500}, Shape{720}, Shape{48, 50}, Shape{8, 9, 10}}) {
    for (const ElementType type : {ElementType::f32, ElementType::c64}) {
      Spectrum impulse(static_cast<std::size_t>(shape.points()), 0.0);
      impulse[0] = 1;  // |X| = 1 everywhere, and no rounding
      const Frame frame = make_frame(type, shape, impulse);
      for (const std::int64_t k : {1, 7, 100, 300}) {
        std::vector<std::int64_t> expected;
        for (std::int64_t flat = 0; static_cast<std::int64_t>(expected.size()) < k; ++flat) {
          if (represents(frame, flat)) expected.push_back(flat);
        }
        const Template tmpl = learn(frame.view(), {.keep = Largest{k}});
        EXPECT_EQ(std::vector(tmpl.support().begin(), tmpl.support().end()), expected)
            << shape.to_string() << " " << to_string(type) << " k " << k;
      }
    }
  }
}

TEST(LearnProperty, TellsNearlyEqualMagnitudesApart) {
  for (const Shape& shape : {Shape{4096}, Shape{2500}, Shape{40, 60}, Shape{10, 12, 15}}) {
    for (const bool real : {false, true}) {
      for (unsigned seed = 1; seed <= 4; ++seed) {
        auto signal = test::SparseSignal::random(shape, real, 40, seed);
        // Each is 10^-10 larger than the one before, in random order.
        std::vector<std::size_t> order(signal.support.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), std::mt19937(seed));
        for (std::size_t i = 0; i < order.size(); ++i) {
          auto& value = signal.values[order[i]];
          value *=
              static_cast<double>(shape.points()) * (1 + 1e-10 * static_cast<double>(i)) / std::abs(value);
          // A frequency that is its own conjugate counts as one term, not as two.
          if (real && test::negated(shape, signal.support[order[i]]) == signal.support[order[i]])
            value *= 0.5;
        }
        const Frame frame = make_frame(real ? ElementType::f64 : ElementType::c128, shape, signal.samples());
        std::vector<std::pair<double, std::int64_t>> ranked;
        for (std::size_t i = 0; i < signal.support.size(); ++i) {
          const std::int64_t f = signal.support[i];
          ranked.emplace_back(-std::abs(signal.values[i]),
                              represents(frame, f) ? f : test::negated(shape, f));
        }
        std::sort(ranked.begin(), ranked.end());
        for (const std::size_t k : {std::size_t{1}, std::size_t{13}, std::size_t{29}}) {
          std::vector<std::int64_t> expected;
          for (std::size_t i = 0; i < k; ++i) expected.push_back(ranked[i].second);
          std::sort(expected.begin(), expected.end());
          const Template tmpl = learn(frame.view(), {.keep = Largest{static_cast<std::int64_t>(k)}});
          EXPECT_EQ(std::vector(tmpl.support().begin(), tmpl.support().end()), expected)
              << shape.to_string() << " real " << real << " seed " << seed << " k " << k;
        }
      }
    }
  }
}

TEST(LearnProperty, LeavesNoMoreThanRoundingOutsideASparseSpectrum) {
  for (const Shape& shape : {Shape{4096}, Shape{8400}, Shape{60, 90}, Shape{8, 10, 12}}) {
    for (const bool real : {false, true}) {
      const auto signal = test::SparseSignal::random(shape, real, 20, 3);
      const Frame frame = make_frame(real ? ElementType::f64 : ElementType::c128, shape, signal.samples());
      const Template tmpl = learn(frame.view(), {.keep = Largest{20}});
      double energy = 0;
      for (const auto& value : signal.values) energy += 2 * std::norm(value);
      const double rounding = 4 * test::fft_bound<double>(static_cast<double>(shape.points()));
      EXPECT_LE(tmpl.tail_energy(), rounding * rounding * energy) << shape.to_string() << " real " << real;
      for (const double power : detail::data_of(tmpl)->tail_envelope.power) EXPECT_GE(power, 0);
    }
  }
}

/// Eight rows of a long line suggest which coefficients are worth keeping. Tones may lie only in these rows,
/// or only outside them.
TEST(LearnProperty, FindsTonesWhereverTheyAreInALongLine) {
  constexpr std::int64_t kSide = 128, kTones = 300;  // rows and columns: f = row + kSide · column
  struct Rows {
    std::int64_t first, count, step;
  };
  for (const Rows& rows : {Rows{40, 8, 1}, Rows{16, 8, 1}, Rows{0, 3, 1}, Rows{43, 3, 1}, Rows{48, 16, 1},
                           Rows{1, 5, 8}, Rows{0, 8, 16}, Rows{0, 64, 1}}) {
    for (const bool real : {false, true}) {
      std::vector<std::int64_t> support;
      for (std::int64_t i = 0; i < kTones; ++i)
        support.push_back(rows.first + i % rows.count * rows.step + kSide * (i / rows.count));
      if (real && support.back() >= kSide * kSide / 2) continue;
      const auto signal = test::SparseSignal::with_support(Shape{kSide * kSide}, real, support, 9);
      const Frame frame =
          make_frame(real ? ElementType::f64 : ElementType::c128, signal.shape, signal.samples());
      const Template tmpl = learn(frame.view(), {.keep = Largest{kTones}});
      const std::vector<std::int64_t> found(tmpl.support().begin(), tmpl.support().end());
      EXPECT_EQ(found, signal.support)
          << "real " << real << ", rows from " << rows.first << " by " << rows.step;
    }
  }
}

TEST(LearnProperty, ScalesWithTheSamples) {
  for (const Shape& shape : {Shape{4096}, Shape{2401}, Shape{509}, Shape{30, 64}}) {
    for (const ElementType type : {ElementType::f64, ElementType::c128}) {
      const Spectrum samples = drawn_samples(shape, 77);
      const Template one = learn(make_frame(type, shape, samples).view(), {.keep = Largest{50}});
      for (const int exponent : {-500, -450, -400, -100, 100, 400, 480}) {
        Spectrum scaled;
        for (const auto& x : samples)
          scaled.emplace_back(std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent));
        const Template tmpl = learn(make_frame(type, shape, scaled).view(), {.keep = Largest{50}});
        EXPECT_EQ(*detail::data_of(tmpl)->support, *detail::data_of(one)->support)
            << shape.to_string() << " 2^" << exponent;
        for (std::size_t i = 0; i < one.values().size(); ++i) {
          const std::complex<double> value = tmpl.values()[i];
          EXPECT_LE(std::abs(std::complex<double>(std::ldexp(value.real(), -exponent),
                                                  std::ldexp(value.imag(), -exponent)) -
                             one.values()[i]),
                    1e-13 * std::abs(one.values()[i]));
        }
        EXPECT_NEAR(tmpl.energy_captured(), one.energy_captured(), 1e-12);
      }
    }
    for (const int exponent : {-120, 110}) {
      Spectrum scaled;
      for (const auto& x : drawn_samples(shape, 78)) scaled.push_back(std::ldexp(1.0, exponent) * x);
      const Frame frame = make_frame(ElementType::c64, shape, scaled);
      check(frame, 50, learn(frame.view(), {.keep = Largest{50}}), exact_spectrum(frame));
    }
  }
}

TEST(LearnProperty, RefusesWhatIsNotFiniteWhereverItIs) {
  std::mt19937_64 random(5);
  for (const Shape& shape : {Shape{4096}, Shape{2500}, Shape{509}, Shape{30, 64}, Shape{6, 8, 9}}) {
    for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::c64, ElementType::c128}) {
      for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity()}) {
        Spectrum samples = drawn_samples(shape, 3);
        samples[random() % samples.size()] = bad;
        const Frame frame = make_frame(type, shape, samples);
        for (const std::int64_t k : {std::int64_t{1}, distinct(frame)})
          EXPECT_EQ(code_of([&] { learn(frame.view(), {.keep = Largest{k}}); }), ErrorCode::invalid_argument)
              << shape.to_string() << " " << to_string(type);
      }
    }
  }
}

TEST(LearnProperty, TakesFramesOfZerosAndConstants) {
  for (const Shape& shape : {Shape{4096}, Shape{509}, Shape{30, 64}}) {
    for (const ElementType type : kTypes) {
      const Frame zero = make_frame(type, shape, Spectrum(static_cast<std::size_t>(shape.points()), 0.0));
      check(zero, 20, learn(zero.view(), {.keep = Largest{20}}), exact_spectrum(zero));
      const Frame flat = make_frame(type, shape, Spectrum(static_cast<std::size_t>(shape.points()), 1.0));
      check(flat, 20, learn(flat.view(), {.keep = Largest{20}}), exact_spectrum(flat));
    }
  }
}

}  // namespace
}  // namespace sfft::learn_property_test
