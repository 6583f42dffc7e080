// SPDX-License-Identifier: Apache-2.0
// Tests compact plans over a population: shapes of one to three dimensions, batches, any two formats,
// normalizations, and signals of very different sizes in one batch, against plans in double of exactly the
// values that are stored. dense_lengths_test compares those plans with direct sums.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/support/compact.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::compact_population_test {
namespace {

using dense::CompactPlan;
using dense::Storage;

constexpr Storage kAll[] = {Storage::f32, Storage::f16, Storage::bf16, Storage::block16};

enum class Kind { gaussian, one_huge, impulse, constant, tone, tiny_and_zero };

struct Case {
  Shape shape{1};
  bool real = false;
  Storage signal = Storage::f16, spectrum = Storage::f16;
  dense::Options::Normalization normalization{};
  std::size_t batch = 1;
};

class Population {
 public:
  explicit Population(unsigned seed) : random_(seed) {}

  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  Case draw() {
    Case c;
    const int rank = 1 + below(3);
    const std::int64_t max = rank == 1 ? 4096 : (rank == 2 ? 64 : 16);
    std::vector<std::int64_t> extents;
    for (int d = 0; d < rank; ++d) extents.push_back(1 + below(static_cast<int>(max)));
    c.shape = Shape(std::span<const std::int64_t>(extents));
    c.real = below(2) == 0;
    c.signal = kAll[below(4)];
    c.spectrum = kAll[below(4)];
    c.normalization = static_cast<dense::Options::Normalization>(below(4));
    c.batch = static_cast<std::size_t>(1 + below(4));
    return c;
  }

  /// One signal's samples, or parts, of any magnitude for which sums still fit a double.
  std::vector<double> values(std::size_t count) {
    std::normal_distribution<double> normal;
    const auto kind = static_cast<Kind>(below(6));
    const double size = std::pow(10.0, below(601) - 300);
    const auto special = static_cast<std::size_t>(below(static_cast<int>(count)));
    std::vector<double> all(count);
    for (std::size_t i = 0; i < count; ++i) {
      double& value = all[i];
      value = normal(random_);
      if (kind == Kind::one_huge) value *= i == special ? 1e6 : 1e-6;
      if (kind == Kind::impulse) value = i == special ? 1 : 0;
      if (kind == Kind::constant) value = 1;
      if (kind == Kind::tone) value = std::cos(0.7 * static_cast<double>(i));
      if (kind == Kind::tiny_and_zero) value *= i % 3 == 0 ? 0 : std::pow(2.0, -below(60));
      value *= size;
    }
    return all;
  }

 private:
  std::mt19937 random_;
};

/// Scales each transform of a batch by the power of two that makes its largest part about 1.
std::vector<double> at_ordinary_size(std::vector<double> parts) {
  double largest = 0;
  for (const double part : parts) largest = std::max(largest, std::abs(part));
  if (largest > 0) {
    for (double& part : parts) part = std::ldexp(part, -std::ilogb(largest));
  }
  return parts;
}

template <class T>
std::vector<T> one_of(const std::vector<T>& all, std::size_t batch, std::size_t b) {
  const std::size_t each = all.size() / batch;
  return {all.begin() + static_cast<std::ptrdiff_t>(b * each),
          all.begin() + static_cast<std::ptrdiff_t>((b + 1) * each)};
}

/// The stored numbers of one transform without its exponent, because values with exponents may exceed the
/// range of double.
std::vector<double> stored_numbers(const CompactArray& array, std::size_t b, Storage storage) {
  CompactArray one{one_of(array.bytes, array.scales.size(), b), {{}}, array.values};
  return loaded(one, storage);
}

/// Compares the results of one transform with their reference; both are without their powers of two.
void expect_close(const std::vector<double>& found, const std::vector<double>& expected, int exponent,
                  double bound) {
  double norm = 0, difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    norm += expected[i] * expected[i];
    difference += std::pow(std::ldexp(found[i], exponent) - expected[i], 2);
  }
  EXPECT_TRUE(std::sqrt(difference) <= bound * std::sqrt(norm))
      << std::sqrt(difference / norm) << " " << bound;
}

struct Transforms {
  CompactPlan plan;
  dense::Plan<double> reference;
  explicit Transforms(const Case& c)
      : plan(c.shape, c.real ? Domain::real : Domain::complex,
             {.normalization = c.normalization,
              .batch = static_cast<std::int64_t>(c.batch),
              .formats = {.signal = c.signal, .spectrum = c.spectrum}}),
        reference(c.shape, c.real ? Domain::real : Domain::complex, {.normalization = c.normalization}) {}

  std::vector<double> exact_forward(const std::vector<double>& signal, bool real) const {
    ComplexSignal out(reference.spectrum_points());
    reference.forward(signal.data(), real ? ElementType::f64 : ElementType::c128, out);
    return parts_of(out, false);
  }
  std::vector<double> exact_inverse(const std::vector<double>& spectrum, bool real) const {
    const ComplexSignal in = complex_of(spectrum, false);
    std::vector<double> out(reference.signal_points() * (real ? 1 : 2));
    if (real) {
      reference.inverse(std::span<const std::complex<double>>(in), std::span<double>(out));
      return out;
    }
    ComplexSignal points(reference.signal_points());
    reference.inverse(std::span<const std::complex<double>>(in), std::span<std::complex<double>>(points));
    return parts_of(points, false);
  }
};

double bound_of(const Case& c, Storage target, std::size_t parts) {
  return storage_bound(target, static_cast<double>(parts)) +
         fft_bound<float>(static_cast<double>(c.shape.points()));
}

void expect_right(const Case& c, Population& population) {
  SCOPED_TRACE(c.shape.to_string() + (c.real ? " real " : " complex ") + to_string(c.signal) + " " +
               to_string(c.spectrum) + " batch " + std::to_string(c.batch));
  const Transforms transforms(c);
  const std::size_t samples = transforms.plan.signal_values();
  std::vector<double> all_signals, all_spectra;
  for (std::size_t b = 0; b < c.batch; ++b) {
    const std::vector<double> one = population.values(samples);
    all_signals.insert(all_signals.end(), one.begin(), one.end());
    // The spectra of other signals, with another magnitude.
    const std::vector<double> other =
        transforms.exact_forward(at_ordinary_size(population.values(samples)), c.real);
    const double size = std::pow(10.0, population.below(581) - 290);
    for (const double part : other) all_spectra.push_back(part * size);
  }
  const CompactArray signal = stored(all_signals, c.batch, c.signal),
                     spectrum = stored(all_spectra, c.batch, c.spectrum);
  const CompactArray there = forward(transforms.plan, signal), back = inverse(transforms.plan, spectrum);
  for (std::size_t b = 0; b < c.batch; ++b) {
    expect_close(stored_numbers(there, b, c.spectrum),
                 transforms.exact_forward(stored_numbers(signal, b, c.signal), c.real),
                 there.scales[b].exponent - signal.scales[b].exponent, bound_of(c, c.spectrum, there.values));
    expect_close(stored_numbers(back, b, c.signal),
                 transforms.exact_inverse(stored_numbers(spectrum, b, c.spectrum), c.real),
                 back.scales[b].exponent - spectrum.scales[b].exponent, bound_of(c, c.signal, back.values));
  }
}

TEST(CompactPopulation, ForwardAndInverse) {
  Population population(11);
  for (int i = 0; i < 1500; ++i) {
    const Case c = population.draw();
    expect_right(c, population);
    if (testing::Test::HasFailure()) FAIL() << "case " << i;
  }
}

/// A NaN spoils only its own transform: no bit of the others changes, and neither do their scales.
TEST(CompactPopulation, SpoiledTransformsSpoilNoOther) {
  Population population(12);
  constexpr double kBad[] = {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 200; ++i) {
    Case c = population.draw();
    c.batch = 3;
    SCOPED_TRACE(c.shape.to_string() + (c.real ? " real " : " complex ") + to_string(c.signal) + " " +
                 to_string(c.spectrum));
    const Transforms transforms(c);
    const bool there = population.below(2) == 0;
    const Storage from = there ? c.signal : c.spectrum;
    const std::size_t count = there ? transforms.plan.signal_values() : transforms.plan.spectrum_values();
    std::vector<double> parts = population.values(3 * count);
    const auto run = [&] {
      const CompactArray array = stored(parts, 3, from);
      return there ? forward(transforms.plan, array) : inverse(transforms.plan, array);
    };
    const CompactArray good = run();
    parts[count + static_cast<std::size_t>(population.below(static_cast<int>(count)))] = kBad[i % 3];
    const CompactArray found = run();
    for (const std::size_t b : {std::size_t{0}, std::size_t{2}}) {
      EXPECT_EQ(one_of(found.bytes, 3, b), one_of(good.bytes, 3, b));
      EXPECT_EQ(found.scales[b].exponent, good.scales[b].exponent);
      EXPECT_TRUE(found.scales[b].finite);
    }
    EXPECT_FALSE(found.scales[1].finite);
  }
}

}  // namespace
}  // namespace sfft::test::compact_population_test
