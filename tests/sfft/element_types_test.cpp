// SPDX-License-Identifier: Apache-2.0
// Tests that every call takes signed and complex integers for the numbers that they are: against direct sums
// in double, and against the same numbers given as doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <numbers>
#include <random>
#include <vector>

#include "sfft/sfft.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::element_types_test {
namespace {

using test::code_of;
using Values = std::vector<std::complex<double>>;

constexpr ElementType kTypes[] = {ElementType::s8,  ElementType::s16,  ElementType::s32,
                                  ElementType::cs8, ElementType::cs16, ElementType::cu8};

/// Integers as stored, and the numbers that they stand for.
struct Signal {
  Shape shape{1};
  ElementType type = ElementType::s8;
  std::vector<std::byte> bytes;
  Values values;
  std::vector<double> reals;  ///< of a real signal

  Domain domain() const { return domain_of(type); }
  SignalView view() const { return {bytes.data(), values.size(), type, shape}; }
  /// The same numbers as doubles.
  SignalView doubles() const {
    return is_complex(type) ? SignalView(values, shape) : SignalView(reals, shape);
  }
};

/// `count` signals, one after another, from parts in [−1, 1]. With `extremes` the first parts are the
/// smallest and the largest integer.
template <class Draw>
Signal stored(ElementType type, const Shape& shape, const Draw& draw, std::int64_t count = 1,
              bool extremes = true) {
  Signal signal{shape, type, {}, {}, {}};
  const std::size_t parts = is_complex(type) ? 2 : 1, bytes = element_bytes(type) / parts;
  const double largest = std::ldexp(1.0, static_cast<int>(8 * bytes) - 1) - 1;
  const bool offset = type == ElementType::cu8;
  for (std::int64_t t = 0; t < count * shape.points(); ++t) {
    double number[2] = {0, 0};
    for (std::size_t p = 0; p < parts; ++p) {
      const std::size_t place = static_cast<std::size_t>(t) * parts + p;
      auto integer = static_cast<std::int64_t>(std::round(largest * std::clamp(draw(t, p), -1.0, 1.0)));
      if (extremes && place == 0) integer = static_cast<std::int64_t>(-largest) - 1;
      if (extremes && place == 1) integer = static_cast<std::int64_t>(largest);
      number[p] = offset ? static_cast<double>(integer + 128) - 127.5 : static_cast<double>(integer);
      const std::int64_t word = offset ? integer + 128 : integer;
      for (std::size_t b = 0; b < bytes; ++b)
        signal.bytes.push_back(static_cast<std::byte>((word >> (8 * b)) & 0xff));
    }
    signal.values.emplace_back(number[0], number[1]);
    if (parts == 1) signal.reals.push_back(number[0]);
  }
  return signal;
}

Signal noise(ElementType type, const Shape& shape, unsigned seed, std::int64_t count = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  return stored(
      type, shape, [&](std::int64_t, std::size_t) { return uniform(random); }, count);
}

/// Four tones of drawn phases, and a little noise.
Signal tones(ElementType type, const Shape& shape, unsigned seed, unsigned noise_seed, bool extremes = true) {
  std::mt19937 random(seed), other(noise_seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::normal_distribution<double> normal(0, 0.01);
  double frequency[4][3], phase[4];
  for (int i = 0; i < 4; ++i) {
    phase[i] = uniform(random);
    for (int d = 0; d < 3; ++d)
      frequency[i][d] = std::floor(static_cast<double>(shape[d]) * (0.5 + 0.45 * uniform(random)));
  }
  const auto draw = [&](std::int64_t t, std::size_t part) {
    double sum = normal(other);
    for (int i = 0; i < 4; ++i) {
      double turns = phase[i];
      std::int64_t rest = t;
      for (int d = shape.rank() - 1; d >= 0; --d) {
        turns += frequency[i][d] * static_cast<double>(rest % shape[d]) / static_cast<double>(shape[d]);
        rest /= shape[d];
      }
      const double angle = 2 * std::numbers::pi * turns;
      sum += (0.3 - 0.05 * i) * (part == 0 ? std::cos(angle) : std::sin(angle));
    }
    return sum;
  };
  return stored(type, shape, draw, 1, extremes);
}

Values whole_spectrum(const Signal& signal) {
  return test::direct_dft(signal.values, signal.shape.extents());
}

/// What a dense plan stores of a spectrum.
Values stored_part(const Values& spectrum, const Shape& shape, bool real) {
  const std::int64_t row = shape[shape.rank() - 1];
  Values kept;
  for (std::size_t f = 0; f < spectrum.size(); ++f) {
    if (!real || static_cast<std::int64_t>(f) % row <= row / 2) kept.push_back(spectrum[f]);
  }
  return kept;
}

Values at(const Values& spectrum, std::span<const std::int64_t> support) {
  Values kept;
  for (const std::int64_t f : support) kept.push_back(spectrum[static_cast<std::size_t>(f)]);
  return kept;
}

/// The signal inside a larger array of the largest integers.
struct Padded {
  std::vector<std::byte> memory;
  std::array<std::int64_t, 3> strides{1, 1, 1};
  const Signal& signal;

  explicit Padded(const Signal& of) : signal(of) {
    const Shape& shape = of.shape;
    const int rank = shape.rank();
    const std::size_t bytes = element_bytes(of.type);
    const std::int64_t columns = shape[rank - 1], rows = rank > 1 ? shape[rank - 2] : 1;
    const std::int64_t pitch = columns + 5, plane = (rows + 1) * pitch;
    const std::int64_t all[3] = {plane, pitch, 1};
    for (int d = 0; d < rank; ++d) strides[static_cast<std::size_t>(d)] = all[3 - rank + d];
    const std::int64_t planes = rank > 2 ? shape[0] : 1;
    memory.assign(static_cast<std::size_t>(planes * plane) * bytes, std::byte{0x7f});
    for (std::int64_t row = 0; row < planes * rows; ++row) {
      std::memcpy(memory.data() + static_cast<std::size_t>(row / rows * plane + row % rows * pitch) * bytes,
                  of.bytes.data() + static_cast<std::size_t>(row * columns) * bytes,
                  static_cast<std::size_t>(columns) * bytes);
    }
  }
  SignalView view() const {
    return {memory.data(), signal.type, signal.shape,
            std::span(strides).first(static_cast<std::size_t>(signal.shape.rank()))};
  }
};

std::string name(const Signal& signal) {
  return std::string(to_string(signal.type)) + " " + signal.shape.to_string();
}

std::vector<Shape> shapes() {
  return {Shape{1},      Shape{2},        Shape{7},        Shape{16},        Shape{60},    Shape{97},
          Shape{256},    Shape{1000},     Shape{8, 12},    Shape{31, 9},     Shape{1, 40}, Shape{40, 1},
          Shape{64, 48}, Shape{4, 6, 10}, Shape{5, 1, 16}, Shape{16, 16, 15}};
}

template <class Real>
class ElementTypes : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ElementTypes, Reals);

template <class Real>
void expect_dense(const Signal& signal, Domain domain, std::int64_t batch) {
  const dense::Plan<Real> plan(signal.shape, domain, {.batch = batch});
  std::vector<std::complex<Real>> spectra(plan.spectrum_points());
  plan.forward(signal.bytes.data(), signal.type, spectra);
  const auto points = static_cast<std::size_t>(signal.shape.points());
  const std::size_t kept = spectra.size() / static_cast<std::size_t>(batch);
  for (std::size_t b = 0; b < static_cast<std::size_t>(batch); ++b) {
    const Values one(signal.values.begin() + static_cast<std::ptrdiff_t>(b * points),
                     signal.values.begin() + static_cast<std::ptrdiff_t>((b + 1) * points));
    const Values exact =
        stored_part(test::direct_dft(one, signal.shape.extents()), signal.shape, domain == Domain::real);
    EXPECT_LE(test::relative_l2(std::span(spectra).subspan(b * kept, kept), exact),
              test::fft_bound<Real>(static_cast<double>(points)))
        << name(signal) << ", signal " << b << " of " << batch;
  }
}

TYPED_TEST(ElementTypes, DensePlansTransformTheIntegers) {
  unsigned seed = 0;
  for (const ElementType type : kTypes) {
    for (const Shape& shape : shapes()) {
      for (const std::int64_t batch : {1, 3, 19}) {
        const Signal signal = noise(type, shape, ++seed, batch);
        expect_dense<TypeParam>(signal, signal.domain(), batch);
        if (!is_complex(type)) expect_dense<TypeParam>(signal, Domain::complex, batch);
      }
    }
  }
}

/// Lengths whose passes go through memory, with many factors and with a large prime one.
TYPED_TEST(ElementTypes, LongLinesTransformTheIntegers) {
  for (const std::int64_t n : {std::int64_t{1} << 18, std::int64_t{131071}}) {
    const std::vector<std::int64_t> support{0, 1, n / 3, n / 2 - 5};
    for (const ElementType type : kTypes) {
      const Signal signal = noise(type, Shape{n}, static_cast<unsigned>(n));
      const Values exact = test::direct_coefficients(signal.values, support);
      for (const Domain domain : {signal.domain(), Domain::complex}) {
        const dense::Plan<TypeParam> plan(signal.shape, domain);
        std::vector<std::complex<TypeParam>> spectrum(plan.spectrum_points());
        plan.forward(signal.view(), spectrum);
        double energy = 0, off = 0;
        for (const auto& x : signal.values) energy += std::norm(x);
        for (std::size_t i = 0; i < support.size(); ++i)
          off = std::max(
              off, std::abs(std::complex<double>(spectrum[static_cast<std::size_t>(support[i])]) - exact[i]));
        // The root mean square of |X| is the root of the signal's energy; a coefficient may be off by more.
        EXPECT_LE(off, 5 * test::fft_bound<TypeParam>(static_cast<double>(n)) * std::sqrt(energy))
            << name(signal);
      }
    }
  }
}

TYPED_TEST(ElementTypes, DensePlansTakeStridesAndRegions) {
  for (const ElementType type : kTypes) {
    for (const Shape& shape : {Shape{30}, Shape{12, 20}, Shape{3, 4, 10}}) {
      const Signal signal = noise(type, shape, 5);
      const Padded padded(signal);
      const dense::Plan<TypeParam> plan(shape, signal.domain());
      std::vector<std::complex<TypeParam>> got(plan.spectrum_points()), expected(plan.spectrum_points());
      plan.forward(signal.view(), expected);
      plan.forward(padded.view(), got);
      EXPECT_EQ(got, expected) << name(signal);
    }
    // Three interleaved channels.
    const Signal all = noise(type, Shape{64, 3}, 6);
    const dense::Plan<TypeParam> plan(Shape{64}, all.domain(),
                                      {.batch = 3, .signal_strides = {.dims = {3, 0, 0}, .batch = 1}});
    std::vector<std::complex<TypeParam>> got(plan.spectrum_points());
    plan.forward(all.bytes.data(), type, got);
    Values exact;
    for (std::size_t c = 0; c < 3; ++c) {
      Values channel;
      for (std::size_t t = 0; t < 64; ++t) channel.push_back(all.values[3 * t + c]);
      const Values spectrum =
          stored_part(test::direct_dft(channel, Shape{64}.extents()), Shape{64}, !is_complex(type));
      exact.insert(exact.end(), spectrum.begin(), spectrum.end());
    }
    EXPECT_LE(test::relative_l2(got, exact), test::fft_bound<TypeParam>(64)) << to_string(type);
  }
}

TYPED_TEST(ElementTypes, SelectivePlansTransformTheIntegers) {
  using Plan = dense::SelectivePlan<TypeParam>;
  for (const ElementType type : kTypes) {
    const std::int64_t n = 3000;
    const Signal signal = tones(type, Shape{n}, 7, 8);
    const Values exact = whole_spectrum(signal);
    const double norm = std::sqrt(static_cast<double>(n)) *
                        std::sqrt(test::relative_l2(signal.values, Values(signal.values.size(), 0.0)) *
                                  test::relative_l2(signal.values, Values(signal.values.size(), 0.0)));
    const double bound = 8 * test::fft_bound<TypeParam>(n) * norm;
    const auto check = [&](std::span<const std::complex<TypeParam>> values, const Values& expected,
                           const char* what) {
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_LE(std::abs(std::complex<double>(values[i]) - expected[i]), bound)
            << name(signal) << " " << what;
    };
    const std::vector<std::int64_t> support{0, 3, 700, 1400};
    std::vector<std::complex<TypeParam>> values(support.size());
    Plan::at(signal.shape, signal.domain(), support).forward_at(signal.bytes.data(), type, values);
    check(values, at(exact, support), "at");

    const auto above = Plan::above(signal.shape, signal.domain())
                           .forward_above(signal.bytes.data(), type, static_cast<TypeParam>(norm / 10));
    EXPECT_GE(above.values.size(), 2u) << name(signal);
    check(above.values, at(exact, above.indices), "above");

    std::vector<std::complex<TypeParam>> band(20);
    Plan::band(signal.shape, signal.domain(), 1200, 20).forward_at(signal.bytes.data(), type, band);
    check(band, Values(exact.begin() + 1200, exact.begin() + 1220), "band");

    Values between;
    for (int j = 0; j < 9; ++j) {
      std::complex<double> sum = 0;
      for (std::int64_t t = 0; t < n; ++t) {
        const double turns = (500.25 + 0.5 * j) * static_cast<double>(t) / static_cast<double>(n);
        sum += signal.values[static_cast<std::size_t>(t)] *
               std::polar(1.0, -2 * std::numbers::pi * (turns - std::floor(turns)));
      }
      between.push_back(sum);
    }
    std::vector<std::complex<TypeParam>> zoomed(9);
    Plan::zoom(signal.shape, signal.domain(), 500.25, 0.5, 9).forward_at(signal.bytes.data(), type, zoomed);
    check(zoomed, between, "zoom");
  }
}

/// Equal results except where a dense transform of integers takes another way than one of doubles.
template <class Real>
void expect_same(const Spectrum<Real>& got, const Spectrum<Real>& expected, const std::string& what) {
  EXPECT_EQ(*got.support, *expected.support) << what;
  if (got.path != Path::dense) {
    EXPECT_EQ(got.values, expected.values) << what;
    EXPECT_EQ(got.standard_error, expected.standard_error) << what;
  }
  EXPECT_LE(test::relative_l2(got.values, expected.values),
            test::fft_bound<Real>(static_cast<double>(got.shape.points())))
      << what;
  EXPECT_TRUE(got.quality.finite) << what;
}

TYPED_TEST(ElementTypes, PlansTransformTheIntegers) {
  using Real = TypeParam;
  std::vector<Path> seen;
  for (const ElementType type : kTypes) {
    for (const Shape& shape : {Shape{480}, Shape{30, 48}, Shape{23, 29}, Shape{8, 12, 20}}) {
      const Signal first = tones(type, shape, 3, 4);
      const Signal frame = tones(type, shape, 3, 5);
      const Padded padded(frame);
      const Values exact = whole_spectrum(frame);
      for (const bool reference : {false, true}) {
        const Template tmpl = learn(first.view(), {.keep = Largest{4}, .reference = reference});
        for (const Path path : {Path::direct, Path::comb, Path::flat_window, Path::dense}) {
          const PlanOptions options{.max_samples = 1, .path = path};
          if (code_of([&] { Plan<Real>(tmpl, options); }) == ErrorCode::not_sparse) continue;
          if (std::ranges::find(seen, path) == seen.end()) seen.push_back(path);
          const Plan<Real> plan(tmpl, options);
          const std::string what = name(frame) + "\n" + plan.explain();
          const Spectrum<Real> got = plan.execute(frame.view());
          expect_same(got, plan.execute(frame.doubles()), what);
          expect_same(plan.execute(padded.view()), got, what);
          const Values truth = at(exact, tmpl.support());
          // Four coefficients of a few samples fluctuate by several times their estimated error.
          EXPECT_LE(test::relative_l2(got.values, truth),
                    10 * got.quality.relative_error + test::plan_bound<Real>(shape))
              << what;
          auto workspace = plan.make_workspace();
          std::vector<Spectrum<Real>> both(2);
          plan.execute(std::vector<SignalView>{padded.view(), frame.doubles()}, both, workspace);
          expect_same(both[0], got, what);
          if (!reference) continue;
          expect_same(plan.with_reference(first.view(), tmpl.values()).execute(frame.view()),
                      plan.with_reference(first.doubles(), tmpl.values()).execute(frame.doubles()), what);
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 4u) << "every path";
}

TYPED_TEST(ElementTypes, TrackersFollowTheIntegers) {
  for (const ElementType type : kTypes) {
    const Shape shape{36, 50};
    for (const bool reference : {false, true}) {
      const Signal first = tones(type, shape, 11, 12);
      const LearnOptions options{.keep = Largest{5}, .reference = reference};
      Tracker<TypeParam> of_integers(learn(first.view(), options)),
          of_doubles(learn(first.doubles(), options));
      for (unsigned t = 0; t < 12; ++t) {
        const Signal frame = tones(type, shape, t < 6 ? 11 : 13, 20 + t);
        const auto& got = of_integers.push(frame.view());
        const auto& expected = of_doubles.push(frame.doubles());
        EXPECT_EQ(got.action, expected.action) << name(frame) << " " << t << ": " << got.reason;
        EXPECT_LE(test::relative_l2(got.spectrum.values, expected.spectrum.values),
                  test::plan_bound<TypeParam>(shape))
            << name(frame) << " " << t;
      }
    }
  }
}

TEST(ElementTypesLearning, TemplatesAreThoseOfDirectSums) {
  for (const ElementType type : kTypes) {
    for (const Shape& shape : {Shape{500}, Shape{20, 36}, Shape{6, 10, 14}}) {
      const Signal signal = tones(type, shape, 30, 31);
      const Values exact = whole_spectrum(signal);
      const Padded padded(signal);
      for (const SignalView& view : {signal.view(), padded.view()}) {
        const Template tmpl = learn(view, {.keep = Largest{4}, .reference = true});
        EXPECT_LE(test::relative_l2(tmpl.values(), at(exact, tmpl.support())), test::fft_bound<double>(1e4))
            << name(signal);
        double smallest = std::numeric_limits<double>::infinity();
        for (const auto& value : tmpl.values()) smallest = std::min(smallest, std::abs(value));
        std::ptrdiff_t larger = 0;
        for (const auto& value : exact) larger += std::abs(value) > smallest * (1 + 1e-9) ? 1 : 0;
        EXPECT_LE(larger, is_complex(type) ? 3 : 7)
            << name(signal) << ": all larger ones are in the template";

        const Template given = learn_at(view, tmpl.support());
        EXPECT_LE(test::relative_l2(given.values(), tmpl.values()), test::fft_bound<double>(1e4))
            << name(signal);
        const Discovery once = transform(view, Energy{0.9});
        EXPECT_LE(test::relative_l2(once.spectrum.values, at(exact, *once.spectrum.support)),
                  test::fft_bound<double>(1e4))
            << name(signal);

        const auto path = std::filesystem::temp_directory_path() /
                          ("sfft_element_types_" + std::to_string(static_cast<int>(type)) + ".sfft");
        tmpl.save(path.string());
        const Template loaded = Template::load(path.string());
        std::filesystem::remove(path);
        const Plan<double> plan(loaded, {.max_samples = 1}), original(tmpl, {.max_samples = 1});
        EXPECT_EQ(plan.execute(view).values, original.execute(view).values) << name(signal);
      }
    }
  }
}

TEST(ElementTypesLearning, DiscoveryFindsTheTonesOfIntegers) {
  for (const ElementType type : kTypes) {
    for (const Shape& shape : {Shape{1 << 15}, Shape{192, 200}, Shape{9973}}) {
      // A single sample at the end of the range is a change that discovery would see.
      const Signal signal = tones(type, shape, 40, 41, false);
      const Values exact =
          test::direct_dft(signal.shape.rank() == 1 ? Values() : signal.values, signal.shape.extents());
      const Padded padded(signal);
      for (const SignalView& view : {signal.view(), padded.view()}) {
        const Discovery found = discover(view, {.k = 4, .dense_fallback = false});
        const Discovery expected = discover(signal.doubles(), {.k = 4, .dense_fallback = false});
        EXPECT_TRUE(found.verified) << name(signal) << ": " << found.reason;
        EXPECT_EQ(*found.spectrum.support, *expected.spectrum.support) << name(signal);
        const Values truth = shape.rank() == 1
                                 ? test::direct_coefficients(signal.values, *found.spectrum.support)
                                 : at(exact, *found.spectrum.support);
        EXPECT_LE(test::relative_l2(found.spectrum.values, truth),
                  3 * found.spectrum.quality.relative_error + 1e-6)
            << name(signal);
      }
    }
  }
}

TEST(ElementTypesErrors, AreSentences) {
  const Signal iq = noise(ElementType::cs16, Shape{64}, 1), audio = noise(ElementType::s16, Shape{64}, 2);
  const dense::Plan<float> plan(Shape{64}, Domain::real);
  std::vector<std::complex<float>> spectrum(plan.spectrum_points());
  EXPECT_EQ(code_of([&] { plan.forward(iq.view(), spectrum); }), ErrorCode::type_mismatch);
  const Template tmpl = learn(audio.view(), {.keep = Largest{3}});
  EXPECT_EQ(code_of([&] { Plan<float>(tmpl).execute(iq.view()); }), ErrorCode::type_mismatch);
  EXPECT_EQ(code_of([&] { Tracker<float>(tmpl).push(iq.view()); }), ErrorCode::type_mismatch);
  const auto selective = dense::SelectivePlan<float>::above(Shape{64}, Domain::real);
  EXPECT_EQ(code_of([&] { selective.forward_above(iq.bytes.data(), iq.type, 1); }), ErrorCode::type_mismatch);
  EXPECT_EQ(code_of([&] {
              dense::SelectivePlan<float>::above(Shape{64}, Domain::complex)
                  .forward_above(audio.bytes.data(), audio.type, 1);
            }),
            ErrorCode::type_mismatch);
  EXPECT_EQ(code_of([&] { SignalView(audio.bytes.data(), 64, static_cast<ElementType>(200), Shape{64}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { SignalView(audio.bytes.data(), 64, static_cast<ElementType>(12), Shape{64}); }),
            ErrorCode::invalid_argument);
  // GPUs do not read them, whether there is one or not.
  EXPECT_EQ(code_of([&] { learn(audio.view(), {.keep = Largest{3}, .device = Device::gpu()}); }),
            ErrorCode::type_mismatch);
  EXPECT_EQ(code_of([&] { Plan<float>(tmpl, {.device = Device::gpu(), .compiled_for = ElementType::s16}); }),
            ErrorCode::type_mismatch);
  const auto on_device = code_of([&] {
    learn(DeviceView{audio.bytes.data(), audio.type, Shape{64}}, {.keep = Largest{3}});
  });
  EXPECT_TRUE(on_device == ErrorCode::type_mismatch || on_device == ErrorCode::backend_unavailable);
  EXPECT_STREQ(to_string(ElementType::cs16), "cs16");
  EXPECT_STREQ(to_string(static_cast<ElementType>(12)), "unknown");
  EXPECT_EQ(element_bytes(ElementType::cu8), 2u);
  static_assert(element_type_of<std::complex<std::int16_t>>::value == ElementType::cs16);
  static_assert(is_complex(ElementType::cu8) && !is_complex(ElementType::s32));
}

}  // namespace
}  // namespace sfft::element_types_test
