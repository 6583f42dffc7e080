// SPDX-License-Identifier: Apache-2.0
// Tests compact plans of every length from 1 to 4096, in every format and both directions, against plans in
// double. dense_lengths_test compares those with direct sums at each of these lengths.
#include <gtest/gtest.h>

#include "tests/support/compact.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::compact_lengths_test {
namespace {

using dense::Storage;

void expect_right(std::int64_t n, bool real, Storage storage) {
  SCOPED_TRACE(std::to_string(n) + (real ? " real " : " complex ") + to_string(storage));
  const dense::CompactPlan plan(Shape(n), real ? Domain::real : Domain::complex,
                                {.formats = {.signal = storage, .spectrum = storage}});
  const dense::Plan<double> reference(Shape(n), real ? Domain::real : Domain::complex);
  // Magnitudes beyond the range of a plain f16.
  ComplexSignal noise = random_signal(static_cast<std::size_t>(n), static_cast<unsigned>(n));
  for (auto& value : noise) value *= std::ldexp(1.0, static_cast<int>(n % 80) - 40);
  const CompactArray signal = stored(parts_of(noise, real), 1, storage);
  const std::vector<double> exact = loaded(signal, storage);
  ComplexSignal expected(reference.spectrum_points());
  reference.forward(exact.data(), real ? ElementType::f64 : ElementType::c128, expected);

  const double bound =
      storage_bound(storage, 2 * static_cast<double>(n)) + fft_bound<float>(static_cast<double>(n));
  const CompactArray spectrum = forward(plan, signal);
  const std::vector<double> parts = loaded(spectrum, storage);
  EXPECT_LE(relative_l2(complex_of(parts, false), expected), bound);
  const std::vector<double> back = loaded(inverse(plan, spectrum), storage);
  EXPECT_LE(relative_l2(back, exact), 3 * bound);
}

class CompactLengths : public testing::TestWithParam<Storage> {};

TEST_P(CompactLengths, Complex) {
  for (std::int64_t n = 1; n <= 4096; ++n) expect_right(n, false, GetParam());
}
TEST_P(CompactLengths, Real) {
  for (std::int64_t n = 1; n <= 4096; ++n) expect_right(n, true, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Formats, CompactLengths,
                         testing::Values(Storage::f32, Storage::f16, Storage::bf16, Storage::block16),
                         [](const auto& format) { return std::string(to_string(format.param)); });

}  // namespace
}  // namespace sfft::test::compact_lengths_test
