// SPDX-License-Identifier: Apache-2.0
// Tests the constants of the tuned kernels: roots of unity, and the tables of convolutions.
#include <gtest/gtest.h>

#include "kernels/dense/tuned/run/tables.hpp"
#include "tests/support/tuned_problem.hpp"

namespace sfft::test::tuned_tables_test {
namespace {

using detail::tuned::Convolution;
using detail::tuned::IntList;
using detail::tuned::Method;
using detail::tuned::Step;
using detail::tuned::Table;
using detail::tuned::Twiddles;

double distance(const std::complex<double>& a, std::int64_t j, std::int64_t n) {
  const long double angle =
      -2 * std::numbers::pi_v<long double> * static_cast<long double>(j) / static_cast<long double>(n);
  return static_cast<double>(
      std::hypot(static_cast<long double>(a.real()) - std::cos(angle), a.imag() - std::sin(angle)));
}

TEST(TunedTables, RootsAreExactAndSymmetric) {
  double worst = 0;
  for (const std::int64_t n : {2, 3, 7, 16, 1000, 4099, 65536, 1 << 24, 48828125}) {
    const std::int64_t count = std::min<std::int64_t>(n, 5000), step = n / count;
    for (const std::int64_t by : {std::int64_t{1}, step}) {
      const Table table = detail::tuned::roots(n, count, by);
      ASSERT_EQ(table.size(), static_cast<std::size_t>(count));
      for (std::int64_t j = 0; j < count; ++j)
        worst = std::max(worst, distance(table[static_cast<std::size_t>(j)], j * by % n, n));
    }
  }
  EXPECT_LE(worst, 2e-16);
  const Table around = detail::tuned::roots(1001, 1001);
  for (std::size_t j = 1; j < around.size(); ++j) EXPECT_EQ(around[j], std::conj(around[1001 - j]));
}

/// Expects (re z, im z/re z) of the roots z = w^(R/size) exp(−2πi m/size), w = exp(−2πi q/(before R)), for
/// every position q.
TEST(TunedTables, RootsOfFusedButterflies) {
  constexpr double kMin = 0x1p-30;
  const Table table = detail::tuned::pass_roots_of({8, 16, 4}, Twiddles::fused, 0, kMin);
  std::size_t at = 0;
  double worst = 0;
  for (const auto& [before, radix] : {std::pair{8, 16}, {8 * 16, 4}}) {
    const std::int64_t n = std::int64_t{before} * radix;
    for (int size = 2; size <= radix; size *= 2) {
      for (int m = 0; m < std::max(1, size / 4); ++m) {
        for (int q = 0; q < before; ++q, ++at) {
          ASSERT_LT(at, table.size());
          const double re = table[at].real();
          ASSERT_GE(std::abs(re), kMin);
          const std::complex<double> root(re, re * table[at].imag());
          worst = std::max(worst, distance(root, q * (radix / size) + m * (n / size), n));
        }
      }
    }
  }
  EXPECT_EQ(at, table.size());
  EXPECT_LE(worst, 1.01 * kMin) << "only real parts of 0 are moved";
}

/// Expects w^k, w = exp(−2πi q/(before R)), for k = 1 … R − 1 and every position q. If passes are fused, this
/// applies to the passes of other radices.
TEST(TunedTables, RootsOfOtherPasses) {
  for (const auto& [twiddles, skipped] : {std::pair{Twiddles::table, 0}, {Twiddles::fused, 8 * 16 / 2}}) {
    const Table table = detail::tuned::pass_roots_of({8, 16, 10}, twiddles, 0, 0x1p-30);
    auto at = static_cast<std::size_t>(skipped);
    double worst = 0;
    for (const auto& [before, radix] : {std::pair{8, 16}, {8 * 16, 10}}) {
      if (radix == 16 && skipped > 0) continue;
      for (int k = 1; k < radix; ++k) {
        for (int q = 0; q < before; ++q, ++at) {
          ASSERT_LT(at, table.size());
          worst = std::max(worst, distance(table[at], q * k, std::int64_t{before} * radix));
        }
      }
    }
    EXPECT_EQ(at, table.size());
    EXPECT_LE(worst, 2e-16);
  }
}

using Values = std::vector<std::complex<double>>;

/// Computes by definition what the passes of a kernel compute (line_fft.cuh). This is a DFT or, without
/// twiddle factors, a DFT with one dimension per radix. Its first coordinate is the slowest of the inputs and
/// the fastest of the outputs.
Values passes(const Values& x, const Step& step, const IntList& radices) {
  const auto n = static_cast<std::int64_t>(x.size());
  if (!step.twiddle_free()) return direct_dft_axis(x, 1, n, 1);
  Values grid = x;
  for (std::int64_t before = 1; const int radix : radices) {
    grid = direct_dft_axis(grid, before, radix, n / before / radix);
    before *= radix;
  }
  Values y(x.size());
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t to = 0, after = n, before = 1;
    for (const int radix : radices) {
      after /= radix;
      to += before * (i / after % radix);
      before *= radix;
    }
    y[static_cast<std::size_t>(to)] = grid[static_cast<std::size_t>(i)];
  }
  return y;
}

/// Computes the DFT from a convolution by definition, as the device code does (tile_fft.cuh).
Values convolved(const Step& step, const Values& x) {
  const Convolution c = detail::tuned::convolution(step);
  const auto n = static_cast<std::size_t>(step.points),
             length = static_cast<std::size_t>(step.policy.length());
  const bool rader = step.method == Method::rader;
  const IntList there = step.policy.radices, back = there.reversed();
  Values a(length), y(n);
  for (std::size_t q = 0; q < length && (rader || q < n); ++q)
    a[q] = rader ? x[static_cast<std::size_t>(c.gather[q])] : x[q] * c.chirp[q];
  a = passes(a, step, there);
  if (rader) y[0] = x[0] + a[0];
  for (std::size_t q = 0; q < length; ++q) a[q] = std::conj(a[q] * c.kernel[q]);
  a = passes(a, step, back);
  for (std::size_t q = 0; q < length && (rader || q < n); ++q) {
    rader ? y[static_cast<std::size_t>(c.scatter[q])] = x[0] + std::conj(a[q])
          : y[q] = std::conj(a[q]) * c.chirp[q];
  }
  return y;
}

void expect_transform(int n, const std::vector<int>& radices, bool twiddle_free) {
  const Values x = random_signal(static_cast<std::size_t>(n), 3);
  Step step;
  step.points = n;
  step.policy.radices = IntList::of(radices);
  step.method = detail::tuned::method_of(n, step.policy.length(), false).value();
  EXPECT_EQ(step.twiddle_free(), twiddle_free) << n;
  EXPECT_LE(relative_l2(convolved(step, x), direct_dft_axis(x, 1, n, 1)), 8 * fft_bound<double>(n))
      << n << " by " << fmt::format("{}", fmt::join(radices, "."));
}

TEST(TunedTables, ConvolutionsAreTransforms) {
  for (const int n : {5, 7, 17, 19, 23, 127, 251, 509}) {
    expect_transform(n, {n - 1}, true);
    for (const int length : {2 * n - 1, 2 * n + 5}) expect_transform(n, {length}, false);
  }
  for (const auto& radices : {std::vector{18, 7}, {7, 18}, {2, 7, 9}, {9, 2, 7}})
    expect_transform(127, radices, true);
  for (const auto& radices : {std::vector{4, 15, 17}, {17, 12, 5}, {4, 3, 5, 17}})
    expect_transform(1021, radices, true);
  for (const auto& radices : {std::vector{10, 25}, {5, 5, 10}}) expect_transform(251, radices, false);
}

TEST(TunedTables, LengthsOfConvolutions) {
  for (int n = 2; n <= 2000; ++n) {
    for (const bool twiddled : {false, true}) {
      const std::vector<int> lengths = detail::tuned::fft_lengths(n, twiddled);
      ASSERT_FALSE(lengths.empty()) << n;
      for (const int length : lengths) {
        const auto method = detail::tuned::method_of(n, length, twiddled);
        ASSERT_TRUE(method) << n << " by " << length;
        EXPECT_TRUE(!twiddled || *method != Method::rader) << "no twiddle factors follow Rader's";
      }
    }
  }
  for (const auto& [n, length] : {std::pair{10, 9}, {12, 22}, {7, 12}, {13, 14}})
    EXPECT_EQ(detail::tuned::method_of(n, length, false), std::nullopt) << n << " by " << length;
}

}  // namespace
}  // namespace sfft::test::tuned_tables_test
