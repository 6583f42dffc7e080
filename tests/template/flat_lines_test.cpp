// SPDX-License-Identifier: Apache-2.0
// Compares the period, direction and samples of the lines of flat-window plans with walks over the grid.
#include "template/flat/flat_recovery.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace sfft::detail::flat_lines_test {
namespace {

using Point = std::array<std::int64_t, 3>;

/// The grid point after `m` steps, by its definition.
Point at(const Shape& shape, const Point& start, const Point& step, std::int64_t m) {
  Point point{0, 0, 0};
  for (int d = 0; d < shape.rank(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    point[i] = (start[i] + m * step[i]) % shape[d];
  }
  return point;
}

std::vector<Shape> shapes() {
  return {Shape{1},    Shape{12},     Shape{97},    Shape{6, 4},
          Shape{7, 9}, Shape{16, 16}, Shape{1, 30}, Shape{4, 6, 9}};
}

TEST(FlatLines, PeriodIsThatOfADiagonalWalk) {
  for (const Shape& shape : shapes()) {
    std::int64_t steps = 1;
    while (at(shape, {0, 0, 0}, {1, 1, 1}, steps) != Point{0, 0, 0}) ++steps;
    EXPECT_EQ(line_period(shape), steps) << shape.to_string();
  }
}

TEST(FlatLines, DirectionsHaveTheLongestPeriod) {
  for (const Shape& shape : shapes()) {
    FlatLineSource source(shape, 5);
    for (int draw = 0; draw < 20; ++draw) {
      FlatLines lines{};
      lines.buckets = lines.taps = line_period(shape);
      lines.full_period = true;
      source.draw(1, lines);
      ASSERT_EQ(lines.delays.size(), 1U);
      std::set<Point> seen;
      for (std::int64_t m = 0; m < line_period(shape); ++m)
        seen.insert(at(shape, lines.delays[0], lines.sigma, m));
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), line_period(shape)) << shape.to_string();
    }
  }
}

TEST(FlatLines, WholeLinesAreDistinct) {
  const Shape shape{16, 16};  // 16 lines of 16 points
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    FlatLineSource source(shape, seed);
    FlatLines lines{};
    lines.buckets = lines.taps = 16;
    lines.full_period = true;
    source.draw(9, lines);
    std::set<Point> seen;
    for (const Point& delay : lines.delays)
      for (std::int64_t m = 0; m < 16; ++m) seen.insert(at(shape, delay, lines.sigma, m));
    EXPECT_EQ(seen.size(), 9U * 16U);
  }
}

TEST(FlatLines, PiecesOfTheOneLineDoNotOverlap) {
  const Shape shape{7, 9};  // one line visits every sample
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    FlatLineSource source(shape, seed);
    FlatLines lines{};
    lines.buckets = 4;
    lines.taps = 12;
    source.draw(5, lines);  // 60 of 63 samples
    EXPECT_EQ(count_samples(shape, lines), 60);
  }
}

TEST(FlatLines, CountsEverySampleOnce) {
  for (const Shape& shape : shapes()) {
    FlatLineSource source(shape, 11);
    for (const std::int64_t taps : {std::int64_t{1}, std::int64_t{4}, std::int64_t{20}}) {
      FlatLines lines{};
      lines.buckets = 1;
      lines.taps = taps;
      source.draw(3, lines);
      std::set<Point> seen;
      for (const Point& delay : lines.delays)
        for (std::int64_t m = 0; m < taps; ++m) seen.insert(at(shape, delay, lines.sigma, m));
      EXPECT_EQ(count_samples(shape, lines), static_cast<std::int64_t>(seen.size())) << shape.to_string();
    }
  }
}

TEST(FlatLines, TheSameSeedDrawsTheSameLines) {
  const Shape shape{31, 64};
  FlatLines one{}, two{}, other{};
  one.buckets = two.buckets = other.buckets = one.taps = two.taps = other.taps = 64;
  FlatLineSource(shape, 3).draw(4, one);
  FlatLineSource(shape, 3).draw(4, two);
  FlatLineSource(shape, 4).draw(4, other);
  EXPECT_EQ(one.sigma, two.sigma);
  EXPECT_EQ(one.delays, two.delays);
  EXPECT_NE(one.delays, other.delays);
}

}  // namespace
}  // namespace sfft::detail::flat_lines_test
