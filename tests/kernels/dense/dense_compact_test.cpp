// SPDX-License-Identifier: Apache-2.0
// Tests compact plans against direct sums in double of exactly the stored values: shapes, formats,
// directions, batches, magnitudes, and the errors that plans report.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/compact.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::dense_compact_test {
namespace {

using dense::CompactPlan;
using dense::Storage;

constexpr Storage kAll[] = {Storage::f32, Storage::f16, Storage::bf16, Storage::block16};

/// One shape in one pair of formats.
struct Case {
  Shape shape;
  bool real;
  Storage signal, spectrum;
  std::int64_t batch = 2;
  double size = 1;  ///< magnitude of the values
};

double bound_of(const Case& c, Storage target) {
  const auto points = static_cast<double>(c.shape.points());
  return storage_bound(target, 2 * points) + fft_bound<float>(points);
}

/// Compares the reported with the true error. The share of the arithmetic is an estimate, and rounding of few
/// values varies.
void expect_reported(const std::vector<dense::CompactScale>& scales, double input, double error,
                     Storage target) {
  double reported = 0;
  for (const auto& scale : scales) {
    EXPECT_TRUE(scale.finite);
    reported += scale.relative_error * scale.relative_error - input * input;
  }
  reported = std::sqrt(reported / static_cast<double>(scales.size()));
  if (is_16_bit(target)) {
    EXPECT_LE(error, 1.1 * reported);
    EXPECT_GE(error + fft_bound<float>(1), 0.9 * reported);  // short transforms may be exact
  } else {
    EXPECT_LE(error, 3 * reported);
  }
}

void expect_right(const Case& c) {
  SCOPED_TRACE(c.shape.to_string() + (c.real ? " real " : " complex ") + to_string(c.signal) + " " +
               to_string(c.spectrum) + " " + std::to_string(c.size));
  const CompactPlan plan(c.shape, c.real ? Domain::real : Domain::complex,
                         {.batch = c.batch, .formats = {.signal = c.signal, .spectrum = c.spectrum}});
  ComplexSignal noise = random_signal(static_cast<std::size_t>(c.batch * c.shape.points()), 3);
  for (auto& value : noise) value *= c.size;
  CompactArray signal = stored(parts_of(noise, c.real), static_cast<std::size_t>(c.batch), c.signal);
  const ComplexSignal exact = complex_of(loaded(signal, c.signal), c.real);
  for (auto& scale : signal.scales) scale.relative_error = 0;

  const CompactArray spectrum = forward(plan, signal);
  const ComplexSignal result = complex_of(loaded(spectrum, c.spectrum), false);
  const double error = relative_l2(result, expected_spectra(exact, c.shape, c.real));
  EXPECT_LE(error, bound_of(c, c.spectrum));
  expect_reported(spectrum.scales, 0, error, c.spectrum);

  // The inverse transform adds to the errors.
  const CompactArray back = inverse(plan, spectrum);
  const double round_trip = relative_l2(complex_of(loaded(back, c.signal), c.real), exact);
  EXPECT_LE(round_trip, bound_of(c, c.signal) + 1.5 * bound_of(c, c.spectrum));
  for (const auto& scale : back.scales)
    EXPECT_GE(scale.relative_error, spectrum.scales[0].relative_error / 1.5);
}

TEST(DenseCompact, ShapesAndFormats) {
  for (const bool real : {false, true}) {
    for (const Storage signal : kAll) {
      for (const Storage spectrum : kAll) {
        for (const Shape& shape :
             {Shape(256), Shape(97), Shape({24, 36}), Shape({9, 31}), Shape({6, 10, 18}), Shape({5, 7, 9})})
          expect_right({shape, real, signal, spectrum});
      }
    }
  }
}

TEST(DenseCompact, ValuesOfEverySize) {
  for (const Storage storage : kAll) {
    for (const double size : {1e-300, 1e-44, 1e-38, 1e-30, 1e-5, 1e5, 1e30, 3e37, 1e300}) {
      for (const std::int64_t n : {4, 360, 1009, 4096}) {
        expect_right({Shape(n), false, storage, storage, 1, size});
        expect_right({Shape(n), true, storage, Storage::f16, 1, size});
      }
    }
  }
}

/// The transforms of an impulse and of a constant reach the largest possible growth of values.
TEST(DenseCompact, NothingOverflows) {
  for (const Storage storage : kAll) {
    for (const std::int64_t n : {1, 2, 17, 1024, 1 << 16, 1 << 20}) {
      const CompactPlan plan(Shape(n), Domain::complex,
                             {.formats = {.signal = storage, .spectrum = storage}});
      // The largest number of the format, without an exponent.
      CompactArray signal = room_for_signals(plan);
      if (is_16_bit(storage)) {
        const int largest = storage == Storage::f16 ? 0x7bff : (storage == Storage::bf16 ? 0x7f7f : 32766);
        auto* parts = reinterpret_cast<unsigned short*>(signal.bytes.data());
        std::fill_n(parts, 2 * n, static_cast<unsigned short>(largest));
        std::fill(reinterpret_cast<std::byte*>(parts + 2 * n), signal.bytes.data() + signal.bytes.size(),
                  std::byte{112});  // the exponents of block16
      } else {
        std::fill_n(reinterpret_cast<float*>(signal.bytes.data()), 2 * n, std::numeric_limits<float>::max());
      }
      const double value = loaded(signal, storage)[0];
      const CompactArray spectrum = forward(plan, signal);
      const std::vector<double> parts = loaded(spectrum, storage);
      EXPECT_TRUE(spectrum.scales[0].finite);
      EXPECT_NEAR(parts[0] / value / static_cast<double>(n), 1, storage_bound(storage, 1) + 1e-6) << n;
      for (const double part : parts) ASSERT_TRUE(std::isfinite(part)) << n;
      const std::vector<double> back = loaded(inverse(plan, spectrum), storage);
      EXPECT_NEAR(back[0] / value, 1, 2 * storage_bound(storage, 1) + 1e-6) << n;
    }
  }
}

TEST(DenseCompact, Normalizations) {
  const ComplexSignal noise = random_signal(60, 4);
  for (const auto normalization :
       {dense::Options::Normalization::none, dense::Options::Normalization::forward_by_n,
        dense::Options::Normalization::unitary}) {
    const CompactPlan plan(Shape(60), Domain::complex, {.normalization = normalization});
    const CompactArray signal = stored(parts_of(noise, false), 1, Storage::f16);
    const double factor = normalization == dense::Options::Normalization::none ? 1
                          : normalization == dense::Options::Normalization::forward_by_n
                              ? 1.0 / 60
                              : std::sqrt(1.0 / 60);
    ComplexSignal expected =
        expected_spectra(complex_of(loaded(signal, Storage::f16), false), Shape(60), false);
    for (auto& value : expected) value *= factor;
    const ComplexSignal result = complex_of(loaded(forward(plan, signal), Storage::f16), false);
    EXPECT_LE(relative_l2(result, expected), storage_bound(Storage::f16, 120) + fft_bound<float>(60));
  }
}

TEST(DenseCompact, PredictedErrorsAreThoseOfUsualSignals) {
  for (const bool real : {false, true}) {
    for (const Storage storage : {Storage::f16, Storage::bf16, Storage::block16}) {
      const Shape shape({40, 50});
      const CompactPlan plan(shape, real ? Domain::real : Domain::complex,
                             {.formats = {.signal = storage, .spectrum = storage}});
      CompactArray signal = stored(parts_of(random_signal(2000, 5), real), 1, storage);
      const ComplexSignal exact = complex_of(loaded(signal, storage), real);
      // The largest of 32 values lie within a part of an octave, and how well they fill it depends on their
      // magnitude.
      const double within = storage == Storage::block16 ? 0.4 : 0.05;
      EXPECT_NEAR(signal.scales[0].relative_error / plan.inverse_info().predicted_error, 1, within);
      signal.scales[0].relative_error = 0;
      const ComplexSignal result = complex_of(loaded(forward(plan, signal), storage), false);
      const double error = relative_l2(result, expected_spectra(exact, shape, real));
      EXPECT_NEAR(error / plan.forward_info().predicted_error, 1, within);
    }
  }
}

TEST(DenseCompact, ThreadsAndWorkspacesChangeNothing) {
  const Shape shape({12, 10});
  const CompactArray signal = stored(parts_of(random_signal(120 * 7, 6), true), 7, Storage::f16);
  const CompactPlan one(shape, Domain::real, {.batch = 7}),
      three(shape, Domain::real, {.threads = 3, .batch = 7});
  const CompactArray expected = forward(one, signal), found = forward(three, signal);
  EXPECT_EQ(found.bytes, expected.bytes);
  CompactArray again = room_for_spectra(one);
  std::vector<std::byte> memory(one.workspace_bytes() + 64);
  std::byte* aligned = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  one.forward(signal.bytes, signal.scales, again.bytes, again.scales, {aligned, one.workspace_bytes()});
  EXPECT_EQ(again.bytes, expected.bytes);
  for (std::size_t b = 0; b < 7; ++b) EXPECT_EQ(again.scales[b].exponent, found.scales[b].exponent);
}

}  // namespace
}  // namespace sfft::test::dense_compact_test
