// SPDX-License-Identifier: Apache-2.0
// Compares the folding of a spectrum into buckets with folding every frequency.
#include "template/comb/folding.hpp"

#include <gtest/gtest.h>

#include <random>

#include "bench/known_signals.hpp"
#include "kernels/base/math/index.hpp"
#include "kernels/base/math/region.hpp"
#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "template/comb/error_bounds.hpp"

namespace sfft::detail::folding_test {
namespace {

/// Compares the aliases of every member, in all grids at once, with a pass over every frequency.
void expect_aliases(const Folding& folding, std::span<const Folding::Grid> grids) {
  const Shape& shape = folding.support().shape;
  const AliasTails aliases(folding, grids);
  AliasTails::Scratch scratch;
  std::vector<double> tails(grids.size());
  for (const SupportMember& member : folding.support().members) {
    aliases.of(member.f, scratch, tails);
    for (std::size_t g = 0; g < grids.size(); ++g) {
      double sum = 0;
      for (std::int64_t flat = 0; flat < shape.points(); ++flat) {
        const auto f = coordinates(shape, flat);
        bool alias = true;
        for (std::size_t d = 0; d < 3; ++d) alias &= (f[d] - member.f[d]) % grids[g][d] == 0;
        if (alias) sum += folding.white() ? 1 : folding.prior().tail.power[folding.cells().cell(f)];
      }
      EXPECT_NEAR(tails[g], sum, 1e-12 * sum) << g;
    }
  }
}

/// Compares buckets and tails of one grid with a pass over every frequency.
void expect_sums(const Folding& folding, const Folding::Grid& grid) {
  const SupportSet& support = folding.support();
  const SpectralPrior& prior = folding.prior();
  const CellGrid& cells = folding.cells();
  const std::int64_t buckets = grid[0] * grid[1] * grid[2];
  std::vector<double> sums(static_cast<std::size_t>(buckets), 0.0);
  for (std::int64_t flat = 0; flat < support.shape.points(); ++flat) {
    const auto f = coordinates(support.shape, flat);
    const std::int64_t b = (f[0] % grid[0] * grid[1] + f[1] % grid[1]) * grid[2] + f[2] % grid[2];
    sums[static_cast<std::size_t>(b)] += prior.tail.power[cells.cell(f)];
  }
  std::vector<std::int32_t> all(sums.size());
  for (std::size_t b = 0; b < all.size(); ++b) all[b] = static_cast<std::int32_t>(b);
  const std::vector<double> tails = folding.tails_of(all, grid);
  const std::vector<double> whole = folding.tails(grid);
  ASSERT_EQ(whole.size(), sums.size());
  for (std::size_t b = 0; b < all.size(); ++b) {
    EXPECT_NEAR(tails[b], sums[b], 1e-12 * sums[b]) << b;
    EXPECT_NEAR(whole[b], sums[b], 1e-12 * sums[b]) << b;
  }
  const std::vector<std::int32_t> members = folding.buckets_of_members(grid);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& f = support.members[i].f;
    EXPECT_EQ(members[i], (f[0] % grid[0] * grid[1] + f[1] % grid[1]) * grid[2] + f[2] % grid[2]);
    EXPECT_EQ(folding.tail_at_members()[i], prior.tail.power[cells.cell(f)]);
  }
}

TEST(Folding, BucketsAndTailsEqualBruteForce) {
  const struct {
    Shape shape;
    std::array<std::int64_t, 3> grids[2];
  } cases[] = {{Shape{360}, {{12, 1, 1}, {45, 1, 1}}},
               {Shape{24, 40}, {{6, 8, 1}, {24, 5, 1}}},
               {Shape{12, 8, 30}, {{3, 4, 10}, {12, 1, 6}}}};
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(0.1, 3);
  for (const auto& kind : cases) {
    TemplateData data;
    data.shape = kind.shape;
    data.real = true;
    data.support = std::make_shared<std::vector<std::int64_t>>(
        test::SparseSignal::random(kind.shape, true, 20, 4).support);
    const SupportSet support(data);
    const CellGrid cells(kind.shape);
    SpectralPrior prior;
    prior.support_power.assign(20, 1.0);
    for (std::size_t c = 0; c < cells.cells(); ++c) prior.tail.power.push_back(uniform(random));
    Folding one_by_one(support, prior), together(support, prior);
    for (const auto& grid : kind.grids) one_by_one.prepare(grid);
    cpu::ThreadPool pool(3);
    together.prepare(kind.grids, &pool);
    for (const Folding* folding : {&one_by_one, &together}) {
      for (const auto& grid : kind.grids) expect_sums(*folding, grid);
      expect_aliases(*folding, kind.grids);
    }
    prior.tail.power.assign(cells.cells(), 0.0);
    expect_aliases(Folding(support, prior), kind.grids);
  }
}

TEST(RootsOfUnity, TablesAndFormulasAreRootsOfUnity) {
  std::mt19937_64 random(1);
  for (const std::int64_t n : {1, 2, 3, 7, 64, 360, 4096, 4097, 1000003, 1 << 24}) {
    const RootsOfUnity roots(n);
    for (int i = 0; i < 200; ++i) {
      const auto a = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
      const auto b = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
      EXPECT_LT(std::abs(roots(a) - unit_root(a, n)), 1e-15) << n;
      EXPECT_LT(std::abs(roots(a, b) - phase(a, b, n)), 1e-15) << n;
    }
  }
}

}  // namespace
}  // namespace sfft::detail::folding_test
