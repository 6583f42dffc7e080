// SPDX-License-Identifier: Apache-2.0
// Laws of learning from a dense transform, over drawn shapes, element types and spectra: the support, values,
// energies and envelopes are those of direct sums, whatever the number of threads and the scale.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/template.hpp"
#include "template/data/template_data.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft {
namespace {

using detail::TemplateData;
using test::code_of;
using Spectrum = std::vector<std::complex<double>>;

/// A frame of any element type, and its samples as numbers.
struct Frame {
  Shape shape{1};
  ElementType type = ElementType::u8;
  std::vector<std::byte> bytes;
  Spectrum samples;

  bool real() const { return !is_complex(type); }
  SignalView view() const { return {bytes.data(), samples.size(), type, shape}; }
};

template <class T>
Frame make_frame(const Shape& shape, const Spectrum& samples) {
  Frame frame{shape, element_type_of<T>::value, {}, {}};
  std::vector<T> own;
  for (const std::complex<double>& x : samples) {
    if constexpr (std::is_integral_v<T>) {
      own.push_back(static_cast<T>(std::clamp(100 + 30 * x.real(), 0.0, 250.0) * (sizeof(T) == 1 ? 1 : 250)));
    } else if constexpr (std::is_floating_point_v<T>) {
      own.push_back(static_cast<T>(x.real()));
    } else {
      own.push_back(T(x));
    }
    frame.samples.emplace_back(own.back());
  }
  frame.bytes.resize(own.size() * sizeof(T));
  std::memcpy(frame.bytes.data(), own.data(), frame.bytes.size());
  return frame;
}

Frame make_frame(ElementType type, const Shape& shape, const Spectrum& samples) {
  switch (type) {
    case ElementType::u8:
      return make_frame<std::uint8_t>(shape, samples);
    case ElementType::u16:
      return make_frame<std::uint16_t>(shape, samples);
    case ElementType::f32:
      return make_frame<float>(shape, samples);
    case ElementType::f64:
      return make_frame<double>(shape, samples);
    case ElementType::c64:
      return make_frame<std::complex<float>>(shape, samples);
    case ElementType::c128:
      break;
  }
  return make_frame<std::complex<double>>(shape, samples);
}

constexpr ElementType kTypes[] = {ElementType::u8,  ElementType::u16, ElementType::f32,
                                  ElementType::f64, ElementType::c64, ElementType::c128};

/// Noise, a wave and a step: energy at low frequencies, at a tone, and everywhere.
Spectrum drawn_samples(const Shape& shape, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  const double step = uniform(random), turns = uniform(random), noise = std::pow(10, -4 * uniform(random));
  Spectrum x;
  for (std::int64_t t = 0; t < shape.points(); ++t) {
    const double wave = 2 * std::numbers::pi * turns * static_cast<double>(t);
    const double level = static_cast<double>(t) < step * static_cast<double>(shape.points()) ? 1.0 : -0.5;
    x.push_back(level + std::polar(0.7, wave) + noise * std::complex<double>(normal(random), normal(random)));
  }
  return x;
}

/// Direct sums, in two steps where a line is long.
Spectrum exact_spectrum(const Frame& frame) {
  const std::int64_t n = frame.shape.points();
  if (frame.shape.rank() > 1 || n <= 2048) return test::direct_dft(frame.samples, frame.shape.extents());
  std::int64_t rows = 1;
  for (std::int64_t d = 2; d * d <= n; ++d) rows = n % d == 0 ? d : rows;
  const std::int64_t columns = n / rows;
  Spectrum y = test::direct_dft_axis(frame.samples, 1, rows, columns);
  for (std::int64_t f = 0; f < rows; ++f) {
    for (std::int64_t t = 0; t < columns; ++t) {
      const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(f * t) /
                                static_cast<long double>(n);
      y[static_cast<std::size_t>(f * columns + t)] *=
          std::complex<double>(static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle)));
    }
  }
  const Spectrum z = test::direct_dft_axis(y, rows, columns, 1);
  Spectrum x(y.size());
  for (std::int64_t f1 = 0; f1 < rows; ++f1) {
    for (std::int64_t f2 = 0; f2 < columns; ++f2)
      x[static_cast<std::size_t>(f1 + rows * f2)] = z[static_cast<std::size_t>(f1 * columns + f2)];
  }
  return x;
}

/// The cell of |f| by the definition: f = 0 alone, then two per octave.
std::size_t cell_of(std::int64_t f, std::int64_t extent) {
  const auto magnitude = static_cast<std::uint64_t>(std::min(f, extent - f));
  if (magnitude < 2) return static_cast<std::size_t>(magnitude);
  const int octave = std::bit_width(magnitude) - 1;
  return static_cast<std::size_t>(2 * octave) + (magnitude >> (octave - 1) & 1U);
}

std::size_t cell_of(const Shape& shape, std::int64_t flat) {
  const std::vector<std::int64_t> f = test::split(shape, flat);
  std::size_t cell = 0;
  for (int d = 0; d < shape.rank(); ++d)
    cell = cell * (cell_of(shape[d] / 2, shape[d]) + 1) + cell_of(f[static_cast<std::size_t>(d)], shape[d]);
  return cell;
}

/// Of a conjugate pair the half spectrum keeps the one with the smaller last coordinate, then the smaller
/// index.
bool represents(const Frame& frame, std::int64_t flat) {
  if (!frame.real()) return true;
  const std::int64_t last = frame.shape[frame.shape.rank() - 1];
  const std::int64_t other = test::negated(frame.shape, flat);
  return flat % last != other % last ? flat % last < other % last : flat <= other;
}

void expect_near(double got, double wanted, double bound, const std::string& what) {
  EXPECT_LE(std::abs(got - wanted), bound) << what << ": " << got << ", not " << wanted;
}

/// Everything that a template of the k largest says, against `exact`.
void check(const Frame& frame, std::int64_t k, const Template& tmpl, const Spectrum& exact) {
  const std::string what = frame.shape.to_string() + " " + to_string(frame.type) + " k " + std::to_string(k);
  const TemplateData& data = *tmpl.data();
  ASSERT_EQ(tmpl.k(), k) << what;
  double energy = 0;
  for (const auto& x : exact) energy += std::norm(x);
  const auto points = static_cast<double>(exact.size());
  const double l2 = 4 * test::fft_bound<double>(points) * std::sqrt(energy);
  const double each = std::min(l2, 16 * l2 / std::sqrt(points));
  const std::vector<std::int64_t> support(tmpl.support().begin(), tmpl.support().end());
  ASSERT_TRUE(std::is_sorted(support.begin(), support.end())) << what;
  double least = std::numeric_limits<double>::infinity();
  double largest = 0, held = 0, tail = 0;
  std::vector<double> sums(data.tail_envelope.power.size(), 0.0), counts = sums, all = sums,
                                                                  all_counts = sums;
  for (std::int64_t flat = 0; flat < frame.shape.points(); ++flat) {
    const std::complex<double> x = exact[static_cast<std::size_t>(flat)];
    const std::int64_t other = frame.real() ? test::negated(frame.shape, flat) : flat;
    const std::size_t cell = cell_of(frame.shape, flat);
    ASSERT_LT(cell, sums.size()) << what;
    all[cell] += std::norm(x);
    ++all_counts[cell];
    const auto at = std::lower_bound(support.begin(), support.end(), flat);
    const bool inside = at != support.end() && *at == flat;
    if (inside) {
      ASSERT_TRUE(represents(frame, flat)) << what << " index " << flat;
      const auto i = static_cast<std::size_t>(at - support.begin());
      EXPECT_LE(std::abs(tmpl.values()[i] - x), each) << what << " index " << flat;
      EXPECT_DOUBLE_EQ(tmpl.power()[i], std::norm(tmpl.values()[i])) << what;
      least = std::min(least, std::abs(x));
    }
    if (inside || (frame.real() && std::binary_search(support.begin(), support.end(), other))) {
      if (flat != 0) held += std::norm(x);
      continue;
    }
    largest = std::max(largest, std::abs(x));
    tail += std::norm(x);
    sums[cell] += std::norm(x);
    ++counts[cell];
  }
  EXPECT_GE(least, largest - 2 * each) << what << ": these are not the largest";
  const double tail_bound = 2 * std::sqrt(tail) * l2 + l2 * l2;
  expect_near(tmpl.tail_energy(), tail, tail_bound, what + " tail");
  const double without_mean =
      tail - (std::binary_search(support.begin(), support.end(), 0) ? 0 : std::norm(exact[0]));
  expect_near(tmpl.energy_captured() * (held + without_mean), held, 1e-11 * held + tail_bound,
              what + " captured");
  double strongest = 0;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    const double bound = 1e-12 * all[c] + 2 * std::sqrt(all[c]) * l2 + l2 * l2;
    if (counts[c] > 0)
      expect_near(data.tail_envelope.power[c] * counts[c], sums[c], 2 * std::sqrt(sums[c]) * l2 + l2 * l2,
                  what + " tail of cell " + std::to_string(c));
    if (c == 0) continue;
    expect_near(data.change_envelope.power[c] * all_counts[c], all[c], bound,
                what + " cell " + std::to_string(c));
    strongest = std::max(strongest, data.change_envelope.power[c]);
  }
  EXPECT_EQ(data.change_envelope.power[0], strongest) << what;
}

/// Long lines with good divisors of every residue modulo the eight lanes, short ones, primes, grids.
std::vector<Shape> shapes() {
  return {Shape{1},         Shape{2},         Shape{3},        Shape{16},      Shape{101},     Shape{1024},
          Shape{2048},      Shape{2187},      Shape{2401},     Shape{2500},    Shape{3003},    Shape{3600},
          Shape{4096},      Shape{4194},      Shape{4199},     Shape{6561},    Shape{8400},    Shape{4099},
          Shape{1, 7},      Shape{7, 1},      Shape{8, 1},     Shape{2, 2},    Shape{1, 2},    Shape{12, 16},
          Shape{9, 15},     Shape{96, 64},    Shape{431, 3},   Shape{3, 431},  Shape{65, 130}, Shape{40, 257},
          Shape{1, 1, 1},   Shape{6, 1, 1},   Shape{1, 1, 8},  Shape{1, 5, 1}, Shape{3, 3, 8}, Shape{5, 6, 7},
          Shape{16, 8, 17}, Shape{2, 29, 31}, Shape{7, 16, 30}};
}

std::int64_t distinct(const Frame& frame) {
  std::int64_t count = 0;
  for (std::int64_t flat = 0; flat < frame.shape.points(); ++flat) count += represents(frame, flat);
  return count;
}

TEST(LearnProperty, TellsWhatDirectSumsTell) {
  unsigned seed = 0;
  for (const Shape& shape : shapes()) {
    for (const ElementType type : kTypes) {
      const Frame frame = make_frame(type, shape, drawn_samples(shape, ++seed));
      const Spectrum exact = exact_spectrum(frame);
      const std::int64_t most = distinct(frame);
      for (const std::int64_t k : {std::int64_t{1}, most / 40, most / 3, most}) {
        if (k > 0) check(frame, k, learn(frame.view(), {.k = k}), exact);
      }
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

void expect_same_bits(const Template& a, const Template& b, const std::string& what) {
  const TemplateData &x = *a.data(), &y = *b.data();
  EXPECT_EQ(*x.support, *y.support) << what;
  EXPECT_EQ(x.values, y.values) << what;
  EXPECT_EQ(x.power, y.power) << what;
  EXPECT_EQ(x.tail_energy, y.tail_energy) << what;
  EXPECT_EQ(x.energy_captured, y.energy_captured) << what;
  EXPECT_EQ(x.tail_envelope.power, y.tail_envelope.power) << what;
  EXPECT_EQ(x.change_envelope.power, y.change_envelope.power) << what;
}

TEST(LearnProperty, IsTheSameForAnyNumberOfThreads) {
  unsigned seed = 100;
  for (const Shape& shape : {Shape{65536}, Shape{75000}, Shape{65537}, Shape{240, 320}, Shape{32, 45, 50}}) {
    for (const ElementType type : {ElementType::u8, ElementType::c64}) {
      const Frame frame = make_frame(type, shape, drawn_samples(shape, ++seed));
      for (const std::int64_t k : {30, 3000}) {
        const Template one = learn(frame.view(), {.k = k});
        for (const int threads : {2, 3, 8, 0})
          expect_same_bits(learn(frame.view(), {.k = k, .threads = threads}), one,
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
        const Template tmpl = learn(frame.view(), {.k = k});
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
        // Each is 10^-10 larger than the one before it, in no order.
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
          const Template tmpl = learn(frame.view(), {.k = static_cast<std::int64_t>(k)});
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
      const Template tmpl = learn(frame.view(), {.k = 20});
      double energy = 0;
      for (const auto& value : signal.values) energy += 2 * std::norm(value);
      const double rounding = 4 * test::fft_bound<double>(static_cast<double>(shape.points()));
      EXPECT_LE(tmpl.tail_energy(), rounding * rounding * energy) << shape.to_string() << " real " << real;
      for (const double power : tmpl.data()->tail_envelope.power) EXPECT_GE(power, 0);
    }
  }
}

TEST(LearnProperty, ScalesWithTheSamples) {
  for (const Shape& shape : {Shape{4096}, Shape{2401}, Shape{509}, Shape{30, 64}}) {
    for (const ElementType type : {ElementType::f64, ElementType::c128}) {
      const Spectrum samples = drawn_samples(shape, 77);
      const Template one = learn(make_frame(type, shape, samples).view(), {.k = 50});
      for (const int exponent : {-500, -450, -400, -100, 100, 400, 480}) {
        Spectrum scaled;
        for (const auto& x : samples)
          scaled.emplace_back(std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent));
        const Template tmpl = learn(make_frame(type, shape, scaled).view(), {.k = 50});
        EXPECT_EQ(*tmpl.data()->support, *one.data()->support) << shape.to_string() << " 2^" << exponent;
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
      check(frame, 50, learn(frame.view(), {.k = 50}), exact_spectrum(frame));
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
          EXPECT_EQ(code_of([&] { learn(frame.view(), {.k = k}); }), ErrorCode::invalid_argument)
              << shape.to_string() << " " << to_string(type);
      }
    }
  }
}

TEST(LearnProperty, TakesFramesOfZerosAndConstants) {
  for (const Shape& shape : {Shape{4096}, Shape{509}, Shape{30, 64}}) {
    for (const ElementType type : kTypes) {
      const Frame zero = make_frame(type, shape, Spectrum(static_cast<std::size_t>(shape.points()), 0.0));
      check(zero, 20, learn(zero.view(), {.k = 20}), exact_spectrum(zero));
      const Frame flat = make_frame(type, shape, Spectrum(static_cast<std::size_t>(shape.points()), 1.0));
      check(flat, 20, learn(flat.view(), {.k = 20}), exact_spectrum(flat));
    }
  }
}

TEST(LearnAutomatic, TakesDiscoveryForExactlySparseFrames) {
  int blind = 0, all = 0;
  for (const Shape& shape : {Shape{1 << 16}, Shape{250000}, Shape{400, 420}}) {
    for (const ElementType type : {ElementType::c64, ElementType::f64, ElementType::c128}) {
      for (unsigned seed = 1; seed <= 3; ++seed) {
        const bool real = type == ElementType::f64;
        const auto signal = test::SparseSignal::random(shape, real, 6, seed);
        const Frame frame = make_frame(type, shape, signal.samples());
        const Template tmpl = learn(frame.view(), {.k = 6, .method = LearnMethod::automatic});
        const std::string what = shape.to_string() + " " + to_string(type);
        ++all;
        if (tmpl.learned_by() == LearnMethod::blind) ++blind;
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
  EXPECT_GE(10 * blind, 9 * all) << "a search may take longer than it is worth, but seldom does";
}

TEST(LearnAutomatic, LearnsOtherFramesDenselyAndSaysWhy) {
  const Shape shape{1 << 17};
  const auto signal = test::SparseSignal::random(shape, false, 6, 9);
  const Spectrum sparse = signal.samples();
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  const auto expect_dense = [&](const Frame& frame, LearnOptions options, const char* what) {
    options.method = LearnMethod::automatic;
    const Template tmpl = learn(frame.view(), options);
    EXPECT_EQ(tmpl.learned_by(), LearnMethod::dense) << what;
    EXPECT_FALSE(tmpl.why_learned_so().empty()) << what;
    options.method = LearnMethod::dense;
    expect_same_bits(tmpl, learn(frame.view(), options), what);
  };
  Spectrum noisy = sparse;
  for (auto& x : noisy) x += 1e-3 * std::complex<double>(normal(random), normal(random));
  expect_dense(make_frame(ElementType::c64, shape, noisy), {.k = 6}, "a little noise");
  expect_dense(make_frame(ElementType::c64, shape, drawn_samples(shape, 5)), {.k = 6}, "a step");
  Spectrum click = sparse;
  click[random() % click.size()] += 2.0;
  expect_dense(make_frame(ElementType::c64, shape, click), {.k = 6}, "one sample off");
  // More frequencies than asked for, of one size: which of them are the largest needs double precision.
  auto equal = signal;
  for (auto& value : equal.values) value *= static_cast<double>(shape.points()) / std::abs(value);
  expect_dense(make_frame(ElementType::c64, shape, equal.samples()), {.k = 3}, "ties");
  const Frame frame = make_frame(ElementType::c64, shape, sparse);
  expect_dense(frame, {.k = 6, .reference = true}, "a reference");
  expect_dense(frame, {.k = 3000}, "a large k");
  expect_dense(frame, {.energy = 0.9}, "energy");
  expect_dense(make_frame(ElementType::u8, shape, sparse), {.k = 6}, "integers");
  const Template known = Template::from_support(shape, false, signal.support);
  EXPECT_EQ(known.learned_by(), LearnMethod::dense);
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
  EXPECT_EQ(code({.k = 3, .method = LearnMethod::automatic}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.k = shape.points() + 1, .method = LearnMethod::automatic}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.method = LearnMethod::automatic}), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sfft
