// SPDX-License-Identifier: Apache-2.0
// Compares cells and bucket sums of envelopes with counts over every frequency.
#include "template/data/envelope.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "bench/known_signals.hpp"
#include "kernels/base/math/log_cells.hpp"

namespace sfft::detail::envelope_test {
namespace {

TEST(CellAxis, CountsEqualBruteForce) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 30, 31, 64, 97, 360}) {
    const CellAxis axis(n);
    for (std::int64_t modulus = 1; modulus <= n; ++modulus) {
      if (n % modulus != 0) continue;
      std::vector<std::int64_t> count(static_cast<std::size_t>(axis.cells() * modulus), 0);
      for (std::int64_t f = 0; f < n; ++f)
        ++count[static_cast<std::size_t>(axis.cell(f) * modulus + f % modulus)];
      for (std::int64_t residue = 0; residue < modulus; ++residue) {
        std::vector<double> counts(static_cast<std::size_t>(axis.cells()));
        axis.counts(residue, modulus, counts.data());
        for (int cell = 0; cell < axis.cells(); ++cell) {
          EXPECT_EQ(counts[static_cast<std::size_t>(cell)],
                    static_cast<double>(count[static_cast<std::size_t>(cell * modulus + residue)]))
              << "n " << n << " modulus " << modulus << " cell " << cell << " residue " << residue;
        }
      }
    }
  }
}

TEST(CellAxis, CountsOfLongAxesAddUp) {
  // Beyond 2^48 another algorithm is used. The counts over all residues must add up to those of the cells.
  for (const std::int64_t n : {std::int64_t{3} << 20, std::int64_t{3} << 46, std::int64_t{3} << 50}) {
    const CellAxis axis(n);
    std::vector<double> whole(static_cast<std::size_t>(axis.cells())), sum(whole.size()),
        counts(whole.size());
    axis.counts(0, 1, whole.data());
    for (std::int64_t residue = 0; residue < 6; ++residue) {
      axis.counts(residue, 6, counts.data());
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += counts[c];
    }
    for (int c = 0; c < axis.cells(); ++c) {
      const auto at = static_cast<std::size_t>(c);
      EXPECT_EQ(whole[at], static_cast<double>(log_cell_members(c, n, false).count())) << n << " cell " << c;
      EXPECT_EQ(sum[at], whole[at]) << n << " cell " << c;
    }
  }
}

TEST(LogCells, MembersAreTheFrequenciesOfTheirCellOnce) {
  for (std::int64_t n = 1; n <= 130; ++n) {
    const CellAxis axis(n);
    ASSERT_EQ(log_cells(n), axis.cells()) << n;
    for (const bool half : {false, true}) {
      std::vector<int> found(static_cast<std::size_t>(half ? n / 2 + 1 : n), 0);
      for (int cell = 0; cell < axis.cells(); ++cell) {
        const LogCellMembers members = log_cell_members(cell, n, half);
        EXPECT_GE(members.count(), 1);
        for (std::int64_t i = 0; i < members.count(); ++i) {
          EXPECT_EQ(axis.cell(members[i]), cell) << "n " << n << " f " << members[i];
          ++found.at(static_cast<std::size_t>(members[i]));
        }
      }
      EXPECT_EQ(std::count(found.begin(), found.end(), 1), static_cast<std::ptrdiff_t>(found.size())) << n;
    }
  }
}

TEST(CellAxis, NegativeFrequenciesShareTheCellOfPositiveOnes) {
  const CellAxis axis(100);
  for (std::int64_t f = 1; f < 100; ++f) EXPECT_EQ(axis.cell(f), axis.cell(100 - f));
  for (std::int64_t f = 1; f <= 50; ++f) EXPECT_GE(axis.cell(f), axis.cell(f - 1));
}

TEST(CellGrid, BucketSumsEqualBruteForce) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  const std::pair<Shape, std::array<std::int64_t, 3>> cases[] = {{Shape{24}, {6, 1, 1}},
                                                                 {Shape{24}, {24, 1, 1}},
                                                                 {Shape{12, 18}, {4, 9, 1}},
                                                                 {Shape{7, 9}, {7, 3, 1}},
                                                                 {Shape{4, 6, 10}, {2, 3, 5}}};
  for (const auto& [shape, buckets] : cases) {
    const CellGrid grid(shape);
    Envelope envelope;
    for (std::size_t c = 0; c < grid.cells(); ++c) envelope.power.push_back(uniform(random));
    std::vector<double> expected(static_cast<std::size_t>(buckets[0] * buckets[1] * buckets[2]), 0.0);
    for (std::int64_t flat = 0; flat < shape.points(); ++flat) {
      std::array<std::int64_t, 3> f{};
      const auto parts = test::split(shape, flat);
      std::copy(parts.begin(), parts.end(), f.begin());
      const auto bucket =
          ((f[0] % buckets[0]) * buckets[1] + f[1] % buckets[1]) * buckets[2] + f[2] % buckets[2];
      expected[static_cast<std::size_t>(bucket)] += envelope.power[grid.cell(f)];
    }
    const std::vector<double> sums = grid.bucket_sums(envelope, buckets);
    ASSERT_EQ(sums.size(), expected.size());
    for (std::size_t b = 0; b < sums.size(); ++b)
      EXPECT_NEAR(sums[b], expected[b], 1e-12 * static_cast<double>(shape.points()));
  }
}

}  // namespace
}  // namespace sfft::detail::envelope_test
