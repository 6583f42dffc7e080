// SPDX-License-Identifier: Apache-2.0
// Tests the building blocks of out-of-core transforms: transpositions in place, the grouping of dimensions
// into steps, and pieces that are copied part by part.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "kernels/dense/out_of_core/grouping.hpp"
#include "kernels/dense/out_of_core/pieces.hpp"
#include "kernels/dense/out_of_core/transposition.hpp"
#include "tests/support/throws.hpp"

namespace sfft::out_of_core_steps_test {
namespace {

using detail::group_steps;
using detail::GroupingLimits;
using detail::OutOfCoreGrid;
using detail::Step;
using detail::Transposition;

/// Runs the parts in any order, because they are independent.
void transpose(const Transposition& plan, std::complex<float>* matrix, std::mt19937& generator) {
  std::vector<std::byte> scratch(static_cast<std::size_t>(plan.scratch_bytes()));
  for (int pass = 0; pass < plan.passes(); ++pass) {
    std::vector<std::int64_t> parts(static_cast<std::size_t>(plan.parts(pass)));
    std::iota(parts.begin(), parts.end(), 0);
    std::shuffle(parts.begin(), parts.end(), generator);
    for (const std::int64_t part : parts) {
      std::fill(scratch.begin(), scratch.end(), std::byte{0xAA});
      plan.part(pass, part, reinterpret_cast<std::byte*>(matrix), scratch.data());
    }
  }
}

TEST(Transposition, MovesEveryElementToItsPlace) {
  std::mt19937 generator(3);
  std::vector<std::array<std::int64_t, 3>> sizes;
  for (std::int64_t rows = 1; rows <= 20; ++rows)
    for (std::int64_t columns = 1; columns <= 20; ++columns) sizes.push_back({rows, columns, 1});
  for (int i = 0; i < 60; ++i)
    sizes.push_back({static_cast<std::int64_t>(1 + generator() % 70),
                     static_cast<std::int64_t>(1 + generator() % 130),
                     static_cast<std::int64_t>(1 + generator() % 40)});
  sizes.push_back({40, 120, 300});  // stretches of several parts
  for (const std::int64_t element : {1, 2, 7}) {
    sizes.push_back({136, 136, element});  // several tiles, of which the last are partial
    sizes.push_back({72, 216, element});
  }
  for (const auto& [rows, columns, element] : sizes) {
    const auto count = static_cast<std::size_t>(rows * columns * element);
    std::vector<std::complex<float>> memory(count + 8), before(count);
    // Begins on a cache line, as whole arrays do, or anywhere.
    void* start = memory.data();
    std::size_t room = memory.size() * sizeof(memory[0]);
    auto* const matrix =
        static_cast<std::complex<float>*>(std::align(generator() % 2 == 0 ? 64 : 8, count * 8, start, room));
    for (std::size_t i = 0; i < count; ++i) matrix[i] = {static_cast<float>(i), -static_cast<float>(i)};
    std::copy_n(matrix, count, before.begin());
    transpose(Transposition(rows, columns, element, sizeof(std::complex<float>)), matrix, generator);
    bool right = true;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t e = 0; e < element; ++e)
          right &= matrix[static_cast<std::size_t>((j * rows + i) * element + e)] ==
                   before[static_cast<std::size_t>((i * columns + j) * element + e)];
    ASSERT_TRUE(right) << rows << " × " << columns << " × " << element;
  }
}

TEST(PieceParts, CoverEveryByteOnceAndKeepTheirBounds) {
  using detail::PieceSegment;
  using detail::Rows;
  std::mt19937 generator(9);
  const auto up_to = [&](unsigned max) { return static_cast<std::int64_t>(1 + generator() % max); };
  for (int i = 0; i < 200; ++i) {
    // One row, or two ranges of columns of several rows.
    const std::int64_t rows = up_to(12), left = up_to(40), right = up_to(40),
                       pitch = left + right + up_to(3) - 1;
    std::vector<std::byte> memory(static_cast<std::size_t>(rows * pitch)), array(memory.size());
    const Rows piece{memory.data(), pitch, pitch, rows}, other{array.data(), pitch, pitch, rows};
    std::vector<PieceSegment> segments{{piece.with_columns(0, left), other.with_columns(0, left)},
                                       {piece.with_columns(left, right), other.with_columns(left, right)}};
    std::vector<int> expected(memory.size(), 0);
    for (std::size_t at = 0; at < memory.size(); ++at)
      expected[at] = static_cast<std::int64_t>(at) % pitch < left + right ? 1 : 0;
    for (const bool whole : {false, true}) {
      std::vector<int> passed(memory.size(), 0);
      detail::PieceParts parts(segments);
      const auto cuts = static_cast<std::size_t>(up_to(5));
      for (std::size_t cut = 1; cut <= cuts; ++cut) {
        const std::size_t end = memory.size() * cut / cuts;
        parts.pass(memory.data() + end, whole, [&](const PieceSegment& part) {
          ASSERT_EQ(part.piece.data - memory.data(), part.array.data - array.data());
          for (std::int64_t r = 0; r < part.piece.rows; ++r) {
            const std::int64_t first = part.piece.data - memory.data() + r * part.piece.pitch;
            for (std::int64_t b = 0; b < part.piece.width; ++b) ++passed[static_cast<std::size_t>(first + b)];
            if (whole) {
              EXPECT_LE(static_cast<std::size_t>(first + part.piece.width), end)
                  << "what lies behind may be in use";
            }
          }
        });
        for (std::size_t at = 0; !whole && at < end; ++at)
          ASSERT_EQ(passed[at], expected[at]) << "all before has left";
      }
      EXPECT_EQ(passed, expected);
    }
  }
}

std::string kinds(const std::vector<Step>& steps) {
  // Columns, transposed columns, exchanged columns, slabs, transpositions.
  constexpr char kLetters[] = {'c', 'T', 'x', 's', 't'};
  std::string text;
  for (const Step& step : steps) text += kLetters[static_cast<int>(step.kind)];
  return text;
}

/// No step has more values per unit than this.
GroupingLimits limits(std::int64_t values, std::int64_t longest_line = 1 << 22) {
  return {longest_line, [values](const Step& step) {
            return (step.kind != Step::Kind::slabs ? step.array.slabs : step.array.slab_points()) <= values;
          }};
}

TEST(Grouping, TakesAsFewStepsAsFit) {
  const auto grouped = [](const OutOfCoreGrid& grid, std::int64_t values) {
    return kinds(group_steps(grid, limits(values)));
  };
  EXPECT_EQ(grouped(Shape({1024, 4096}), 1 << 20), "cs");
  EXPECT_EQ(grouped(Shape({512, 512, 512}), 1 << 20), "cs");
  EXPECT_EQ(grouped(Shape({512, 512, 512}), 1 << 10), "ccs") << "planes do not fit";
  EXPECT_EQ(grouped(Shape({64, 1 << 20}), 1 << 14), "cctc") << "rows do not fit";
  EXPECT_EQ(grouped(Shape({1 << 20, 64}), 1 << 14), "ctcs") << "columns do not fit";
  EXPECT_EQ(grouped(Shape(1 << 20), 1 << 20), "ctTc") << "a line that lies alone";
  EXPECT_EQ(grouped({Shape(1 << 10), 100}, 1 << 20), "s") << "many lines";
  EXPECT_EQ(grouped({Shape({64, 64, 64}), 100}, 1 << 20), "s");
  EXPECT_EQ(grouped({Shape({64, 64, 64}), 100}, 1 << 13), "cs");
  EXPECT_EQ(grouped(Shape({1, 1, 1}), 8), "s");
  EXPECT_EQ(grouped(Shape({1, 64, 1}), 64), "c");
}

TEST(Grouping, PrefersFactorsThatAreTransposedFast) {
  const std::vector<Step> steps = group_steps(Shape(std::int64_t{3} << 23), limits(1 << 22));
  ASSERT_EQ(kinds(steps), "ctTc");
  EXPECT_EQ(steps[1].array.slab[0] % steps[1].array.slabs, 0);
  // 64 squares of 16² would not fit; 96 · 160 does.
  const std::vector<Step> closest = group_steps(Shape(96 * 160), limits(200));
  EXPECT_EQ(closest[1].array.slabs, 120);
  EXPECT_EQ(closest[1].array.slab[0], 128);
}

TEST(Grouping, LetsTheDeviceTransposeWhereItMay) {
  const auto grouped = [](const OutOfCoreGrid& grid, std::int64_t values, bool in_place) {
    GroupingLimits exchanging = limits(values);
    exchanging.exchanges = true;
    exchanging.in_place = in_place;
    return kinds(group_steps(grid, exchanging));
  };
  EXPECT_EQ(grouped(Shape(1 << 20), 1 << 20, false), "cxTc");
  EXPECT_EQ(grouped(Shape(1 << 20), 1 << 20, true), "cx");
  EXPECT_EQ(grouped(Shape({64, 1 << 20}), 1 << 14, false), "ccx") << "rows do not fit";
  EXPECT_EQ(grouped(Shape({1 << 20, 64}), 1 << 14, false), "ctcs") << "columns do not fit";
}

TEST(Grouping, CoversEveryDimensionOnce) {
  std::mt19937 generator(5);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::int64_t> extents(1 + generator() % 3);
    for (auto& extent : extents) extent = static_cast<std::int64_t>(1 + generator() % 500);
    const OutOfCoreGrid grid{Shape(std::span<const std::int64_t>(extents)),
                             static_cast<std::int64_t>(1 + generator() % 30)};
    std::vector<Step> steps;
    try {
      steps = group_steps(grid, limits(static_cast<std::int64_t>(30 + generator() % 1000), 400));
    } catch (const Error&) {
      continue;
    }
    std::int64_t product = 1;  // product of the lengths that are transformed
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::columns) product *= step.array.slabs;
      if (step.kind == Step::Kind::slabs) product *= step.array.slab_points();
      const std::int64_t values = step.array.points() * step.repeats;
      EXPECT_EQ(values, grid.points());
    }
    EXPECT_EQ(product, grid.shape.points()) << grid.shape.to_string();
  }
}

}  // namespace
}  // namespace sfft::out_of_core_steps_test
