// SPDX-License-Identifier: Apache-2.0
// Tests by Gaussian elimination that the system of every bucket is solvable with the delays found for comb
// plans.
#include "template/comb/comb_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/known_signals.hpp"
#include "sfft/template.hpp"
#include "template/comb/comb_planner.hpp"

namespace sfft::detail::delay_search_test {
namespace {

using Complex = std::complex<double>;

/// The support and model of a random template without known amplitudes.
struct Scene {
  Scene(const Shape& grid, bool real, std::int64_t k, const std::array<std::int64_t, 3>& buckets,
        unsigned seed)
      : shape(grid),
        data(make(grid, real, k, seed)),
        support(data),
        prior(make_prior(data, support, false)),
        model(support, prior, buckets) {}

  static TemplateData make(const Shape& grid, bool real, std::int64_t k, unsigned seed) {
    TemplateData made;
    made.shape = grid;
    made.real = real;
    made.support =
        std::make_shared<std::vector<std::int64_t>>(test::SparseSignal::random(grid, real, k, seed).support);
    return made;
  }

  Shape shape;
  TemplateData data;
  SupportSet support;
  SpectralPrior prior;
  CombModel model;
};

/// The smallest pivot of a matrix whose columns are the members' phases at the delays, by elimination with
/// row exchanges; 0 for more members than delays.
double smallest_pivot(std::vector<std::vector<Complex>> columns) {
  double smallest = 1e300;
  const std::size_t rows = columns[0].size();
  if (columns.size() > rows) return 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < rows; ++r)
      if (std::abs(columns[c][r]) > std::abs(columns[c][pivot])) pivot = r;
    smallest = std::min(smallest, std::abs(columns[c][pivot]));
    if (smallest < 1e-12) return 0;
    for (auto& column : columns) std::swap(column[c], column[pivot]);
    for (std::size_t other = c + 1; other < columns.size(); ++other) {
      const Complex factor = columns[other][c] / columns[c][c];
      for (std::size_t r = c; r < rows; ++r) columns[other][r] -= factor * columns[c][r];
    }
  }
  return smallest;
}

/// The smallest pivot over all buckets that hold a frequency of the template.
double worst_pivot(const Scene& scene, const std::vector<Delay>& delays) {
  std::map<std::array<std::int64_t, 3>, std::vector<std::vector<Complex>>> systems;
  for (const SupportMember& member : scene.support.members) {
    std::array<std::int64_t, 3> bucket{0, 0, 0};
    std::vector<Complex> column;
    for (const Delay& delay : delays) {
      double turns = 0;
      for (int d = 0; d < scene.shape.rank(); ++d) {
        const auto i = static_cast<std::size_t>(d);
        bucket[i] = member.f[i] % scene.model.buckets()[i];
        turns += static_cast<double>(member.f[i] * delay[i] % scene.shape[d]) /
                 static_cast<double>(scene.shape[d]);
      }
      column.push_back(std::polar(1.0, 2 * std::numbers::pi * turns));
    }
    systems[bucket].push_back(column);
  }
  double worst = 1e300;
  for (auto& [bucket, columns] : systems) worst = std::min(worst, smallest_pivot(columns));
  return worst;
}

TEST(DelaySearch, FindsDistinctDelaysThatSolveEveryBucket) {
  const struct {
    Shape shape;
    bool real;
    std::array<std::int64_t, 3> buckets;
    std::int64_t k, count;
  } cases[] = {{Shape{4096}, false, {128, 1, 1}, 40, 6},
               {Shape{4096}, true, {128, 1, 1}, 25, 6},
               {Shape{48, 60}, false, {12, 15, 1}, 60, 8},
               {Shape{48, 60}, true, {12, 15, 1}, 30, 8},
               {Shape{12, 16, 18}, false, {6, 4, 9}, 50, 8}};
  for (const auto& kind : cases) {
    Scene scene(kind.shape, kind.real, kind.k, kind.buckets, 7);
    ASSERT_LE(scene.model.largest_group(), kind.count);
    const auto found = search_delays(scene.model, kind.shape, {.count = kind.count});
    ASSERT_TRUE(found.has_value()) << kind.shape.to_string();
    EXPECT_EQ(static_cast<std::int64_t>(found->delays.size()), kind.count);
    EXPECT_TRUE(std::is_sorted(found->delays.begin(), found->delays.end()));
    EXPECT_EQ(std::set(found->delays.begin(), found->delays.end()).size(), found->delays.size());
    for (const Delay& delay : found->delays) {
      for (int d = 0; d < kind.shape.rank(); ++d) {
        const auto i = static_cast<std::size_t>(d);
        EXPECT_GE(delay[i], 0);
        EXPECT_LT(delay[i], kind.shape[d] / kind.buckets[i]);  // the stride of the comb
      }
    }
    EXPECT_GT(worst_pivot(scene, found->delays), 1e-3) << kind.shape.to_string();
    EXPECT_TRUE(found->quality.solvable);
  }
}

TEST(DelaySearch, IsNoWorseThanItsLattices) {
  // The plain lattice is one of the candidates, so the selected delays have no more noise.
  const Shape shape{4096};
  Scene scene(shape, false, 40, {128, 1, 1}, 3);
  const std::int64_t count = 6;
  std::vector<Delay> lattice;
  for (std::int64_t j = 0; j < count; ++j) lattice.push_back({32 * j / count, 0, 0});
  const CombModel::Quality plain = scene.model.assess(lattice, 0);
  const auto found = search_delays(scene.model, shape, {.count = count, .groups = 0});
  ASSERT_TRUE(found.has_value());
  if (plain.solvable) {
    EXPECT_LE(found->quality.error * (1 + 1e-3 * found->quality.gain_max),
              plain.error * (1 + 1e-3 * plain.gain_max));
  }
}

TEST(DelaySearch, ClusteredDelaysStayWithinReach) {
  const Shape shape{48, 60};
  Scene scene(shape, false, 20, {12, 6, 1}, 5);
  const auto found = search_delays(scene.model, shape, {.count = 6, .reach = 8});
  ASSERT_TRUE(found.has_value());
  for (const Delay& delay : found->delays) {
    EXPECT_EQ(delay[0], 0);
    EXPECT_LT(delay[1], 8);
  }
}

TEST(DelaySearch, DelaysInFewRowsSolveEveryBucket) {
  const Shape shape{48, 60};
  Scene scene(shape, true, 30, {12, 15, 1}, 2);
  for (const std::int64_t sets : {2, 3, 4}) {
    const DelaySearch search{.count = 8, .row_sets = sets, .draws = 6, .groups = 0, .seed = 3};
    const auto found = search_delays(scene.model, shape, search);
    ASSERT_TRUE(found.has_value()) << sets;
    std::set<std::int64_t> rows;
    for (const Delay& delay : found->delays) {
      rows.insert(delay[0]);
      EXPECT_LT(delay[0], 4);
      EXPECT_LT(delay[1], 4);
    }
    EXPECT_LE(static_cast<std::int64_t>(rows.size()), sets);
    EXPECT_EQ((std::set<Delay>(found->delays.begin(), found->delays.end()).size()), 8U);
    EXPECT_GT(worst_pivot(scene, found->delays), 1e-6);
    EXPECT_EQ(search_delays(scene.model, shape, search)->delays, found->delays);
  }
}

TEST(DelaySearch, TheSameSeedFindsTheSameDelays) {
  const Shape shape{48, 60};
  Scene scene(shape, true, 30, {12, 15, 1}, 2);
  const auto one = search_delays(scene.model, shape, {.count = 8, .seed = 9});
  const auto two = search_delays(scene.model, shape, {.count = 8, .seed = 9});
  ASSERT_TRUE(one.has_value() && two.has_value());
  EXPECT_EQ(one->delays, two->delays);
}

TEST(DelaySearch, SaysWhenThereIsNothingToFind) {
  // Four samples between teeth do not allow six delays.
  Scene few(Shape{512}, false, 10, {128, 1, 1}, 1);
  EXPECT_FALSE(search_delays(few.model, Shape{512}, {.count = 6}).has_value());
  // If a bucket has more frequencies than delays, least squares cannot tell them apart.
  Scene crowded(Shape{4096}, false, 64, {8, 1, 1}, 1);
  ASSERT_GT(crowded.model.largest_group(), 2);
  EXPECT_FALSE(search_delays(crowded.model, Shape{4096}, {.count = 2}).has_value());
}

}  // namespace
}  // namespace sfft::detail::delay_search_test
