// SPDX-License-Identifier: Apache-2.0
// Tests that programs of the tuned engine, interpreted on the CPU, compute the transform they are laid out
// for.
#include <gtest/gtest.h>

#include "tests/support/tuned_problem.hpp"

namespace sfft::test::tuned_geometry_test {
namespace {

using detail::DenseProblem;
using detail::tuned::TransformPolicy;

std::string name_of(const DenseProblem& problem, const TransformPolicy& policy) {
  return fmt::format("{} {} batch {} by {}", problem.shape.to_string(), problem.real ? "real" : "complex",
                     problem.batch, to_text(policy));
}

void expect_right(const DenseProblem& problem, TransformPolicy policy, bool single = true) {
  EXPECT_EQ(trouble_of(problem, policy, single), "") << name_of(problem, policy);
}
void expect_right(const DenseProblem& problem, bool single = true) {
  expect_right(problem, rule_policy(problem, single), single);
}

TransformPolicy alternating(TransformPolicy policy, int groups, int streams) {
  policy.alternating_groups = groups;
  policy.streams = streams;
  return policy;
}

TransformPolicy in_place(TransformPolicy policy) {
  policy.ring_buffer = false;
  return policy;
}

TEST(TunedGeometry, LinesOfEveryKind) {
  for (const std::int64_t n : {2, 3, 4, 5, 16, 17, 19, 23, 30, 37, 64, 127, 210, 243, 256, 509, 1000}) {
    for (const std::int64_t batch : {1, 2, 7, 33}) {
      for (const bool single : {true, false}) expect_right(dense_problem(Shape(n), false, batch), single);
      if (n > 2) expect_right(dense_problem(Shape(n), true, batch), batch == 2);
    }
  }
}

TEST(TunedGeometry, LinesWithStrides) {
  for (const std::int64_t n : {12, 20, 38, 45}) {
    for (const std::int64_t batch : {1, 5}) {
      // Signals of every third element, interleaved signals, and signals with gaps between them.
      for (const dense::Options::Strides& strides :
           {dense::Options::Strides{{3, 0, 0}, 3 * n}, dense::Options::Strides{{batch, 0, 0}, 1},
            dense::Options::Strides{{1, 0, 0}, n + 3}, dense::Options::Strides{{7, 0, 0}, 1}}) {
        expect_right(dense_problem(Shape(n), false, batch, strides));
        expect_right(dense_problem(Shape(n), true, batch, strides));
      }
    }
  }
}

TEST(TunedGeometry, LinesOfTwoFactors) {
  for (const std::vector<int>& factors :
       {std::vector{16, 16}, std::vector{16, 24}, std::vector{30, 18}, std::vector{19, 20}}) {
    for (const std::int64_t batch : {1, 3, 8}) {
      const DenseProblem problem = dense_problem(Shape(factors[0] * factors[1]), false, batch);
      for (const bool single : {true, false}) {
        const TransformPolicy policy = rule_policy(problem, single, factors);
        expect_right(problem, policy, single);
        for (const int streams : {1, 2, 3, 4}) expect_right(problem, alternating(policy, 1, streams), single);
        expect_right(problem, alternating(policy, 2, 2), single);
        expect_right(problem, alternating(policy, 100, 4), single);
      }
    }
  }
}

TEST(TunedGeometry, LinesOfThreeFactors) {
  for (const std::vector<int>& factors :
       {std::vector{16, 4, 6}, std::vector{48, 5, 3}, std::vector{32, 2, 19}}) {
    for (const std::int64_t batch : {1, 2}) {
      const DenseProblem problem = dense_problem(Shape(factors[0] * factors[1] * factors[2]), false, batch);
      TransformPolicy policy = rule_policy(problem, true, factors);
      for (const int chunk : {4, 8, 16}) {
        policy.outputs_per_group = chunk;
        expect_right(problem, policy);
        expect_right(problem, alternating(policy, 1, 2));
        expect_right(problem, alternating(policy, 2, 1));
        expect_right(problem, in_place(alternating(policy, 1, 2)));
        expect_right(problem, in_place(alternating(policy, 2, 2)));
      }
      policy.outputs_per_group = 5;
      EXPECT_THROW(lay_out({problem}, policy), Error);
    }
  }
}

TEST(TunedGeometry, Planes) {
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 3},
                                                                                        {3, 2},
                                                                                        {4, 4},
                                                                                        {6, 10},
                                                                                        {5, 9},
                                                                                        {7, 32},
                                                                                        {16, 16},
                                                                                        {17, 20},
                                                                                        {19, 38},
                                                                                        {12, 33},
                                                                                        {23, 64}}) {
    for (const std::int64_t batch : {1, 2, 5}) {
      for (const bool real : {false, true}) {
        if (real && columns == 2) continue;  // the rows of one pair
        for (const bool single : {true, false}) {
          const DenseProblem problem = dense_problem(Shape({rows, columns}), real, batch);
          const TransformPolicy policy = rule_policy(problem, single);
          expect_right(problem, policy, single);
          expect_right(problem, alternating(policy, 1, 3), single);
          expect_right(problem, alternating(policy, 2, 2), single);
        }
      }
    }
  }
}

TEST(TunedGeometry, PlanesWithStrides) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{6, 10}, {5, 9}, {9, 16}, {8, 32}}) {
    for (const std::int64_t pitch : {columns + 1, columns + 2, columns + 8}) {
      for (const std::int64_t batch : {1, 3}) {
        for (const bool real : {false, true}) {
          // Rows with a pitch, frames with gaps, interleaved channels, and columns before rows.
          for (const dense::Options::Strides& strides :
               {dense::Options::Strides{{pitch, 1, 0}, pitch * rows},
                dense::Options::Strides{{pitch, 1, 0}, pitch * rows + 5},
                dense::Options::Strides{{3 * pitch, 3, 0}, 1},
                dense::Options::Strides{{1, rows, 0}, columns * rows}}) {
            const DenseProblem problem = dense_problem(Shape({rows, columns}), real, batch, strides);
            const TransformPolicy policy = rule_policy(problem, true);
            expect_right(problem, policy);
            expect_right(problem, alternating(policy, 1, 2));
          }
        }
      }
    }
  }
}

TEST(TunedGeometry, Volumes) {
  for (const Shape& shape : {Shape({2, 3, 5}), Shape({4, 6, 8}), Shape({3, 5, 16}), Shape({6, 4, 32}),
                             Shape({5, 7, 9}), Shape({8, 2, 10}), Shape({2, 19, 6})}) {
    for (const std::int64_t batch : {1, 3}) {
      for (const bool single : {true, false}) {
        const DenseProblem problem = dense_problem(shape, false, batch);
        const TransformPolicy policy = rule_policy(problem, single);
        expect_right(problem, policy, single);
        expect_right(problem, alternating(policy, 1, 2), single);
        expect_right(problem, alternating(policy, 3, 2), single);
        expect_right(dense_problem(shape, true, batch), single);
      }
    }
  }
}

TEST(TunedGeometry, VolumesInTwoSteps) {
  for (const auto& [shape, factors] : {std::pair{Shape({3, 4, 16}), std::vector{2, 2}},
                                       {Shape({4, 12, 16}), {3, 4}},
                                       {Shape({4, 12, 16}), {6, 2}},
                                       {Shape({5, 6, 24}), {2, 3}},
                                       {Shape({10, 6, 8}), {3, 2}}}) {
    for (const std::int64_t batch : {1, 3}) {
      for (const bool single : {true, false}) {
        const DenseProblem problem = dense_problem(shape, false, batch);
        const TransformPolicy policy = rule_policy(problem, single, factors);
        expect_right(problem, policy, single);
        const auto program = lay_out({problem, single}, policy);
        EXPECT_EQ(program.kernels.size(), 2u);
        EXPECT_EQ(program.scratch_values, batch * shape.points());
      }
    }
  }
  const DenseProblem large = dense_problem(Shape({512, 256, 256}), false, 3);
  EXPECT_EQ(lay_out({large}, rule_policy(large, true, {32, 8})).scratch_values, large.shape.points());
  const DenseProblem volume = dense_problem(Shape({4, 12, 16}), false);
  const TransformPolicy policy = rule_policy(volume, true, {3, 4});
  const auto expect_refused = [&](const DenseProblem& problem, const TransformPolicy& unfit) {
    EXPECT_THROW(lay_out({problem}, unfit), Error) << name_of(problem, unfit);
  };
  expect_refused(volume, alternating(policy, 1, 2));
  expect_refused(dense_problem(Shape({4, 12, 16}), true), policy);
  expect_refused(dense_problem(Shape({4, 12, 16}), false, 1, {{193, 16, 1}, 800}), policy);
  expect_refused(dense_problem(Shape({4, 24, 16}), false), policy);
  expect_refused(dense_problem(Shape({12, 16}), false), policy);
  TransformPolicy rows = policy, groups = policy, whole = policy;
  std::swap(rows.kernels[0].radices.front(), rows.kernels[0].radices.back());
  groups.kernels[1].transforms_per_block = 3;
  whole.kernels[1].radices = {16};
  expect_refused(volume, rows);
  expect_refused(volume, groups);
  expect_refused(volume, whole);
  whole = policy;
  whole.ring_buffer = false;
  expect_refused(volume, whole);
}

TEST(TunedGeometry, FactorsOfVolumes) {
  const auto all = [](const Shape& shape, bool real = false) {
    return factors_of(dense_problem(shape, real), true, kHopper);
  };
  using Lists = std::vector<std::vector<int>>;
  EXPECT_EQ(all(Shape({64, 64, 64})), (Lists{{16, 4}, {32, 2}, {}}));
  EXPECT_EQ(all(Shape({256, 256, 256})), (Lists{{32, 8}, {64, 4}, {}}));
  EXPECT_EQ(all(Shape({384, 384, 384})), (Lists{{48, 8}, {64, 6}, {}}));
  for (const Shape& shape : {Shape({512, 512, 512}), Shape({64, 61, 64}), Shape({64, 64, 60}),
                             Shape({61, 64, 64}), Shape({64, 64, 61 * 8})})
    EXPECT_EQ(all(shape), Lists{{}}) << shape.to_string();
  EXPECT_EQ(all(Shape({64, 64, 64}), true), Lists{{}});
}

TEST(TunedGeometry, AlternatesInPlace) {
  for (const Shape& shape : {Shape({6, 16}), Shape({19, 32}), Shape({5, 7, 16}), Shape({6, 4, 32})}) {
    for (const std::int64_t batch : {1, 3}) {
      const DenseProblem problem = dense_problem(shape, false, batch);
      for (const bool single : {true, false}) {
        const TransformPolicy policy = in_place(alternating(rule_policy(problem, single), 2, 2));
        expect_right(problem, policy, single);
        EXPECT_EQ(lay_out({problem, single}, policy).scratch_values, 0) << name_of(problem, policy);
      }
    }
  }
  const auto expect_refused = [](const DenseProblem& problem, const std::vector<int>& factors = {}) {
    const TransformPolicy policy = in_place(alternating(rule_policy(problem, true, factors), 1, 2));
    EXPECT_THROW(lay_out({problem}, policy), Error) << name_of(problem, policy);
  };
  expect_refused(dense_problem(Shape({6, 16}), true));
  expect_refused(dense_problem(Shape({6, 16}), false, 1, {{17, 1, 0}, 102}));
  expect_refused(dense_problem(Shape({6, 4, 30}), false));
  expect_refused(dense_problem(Shape(320), false), {16, 20});
}

TEST(TunedGeometry, ExtentsOfOnePoint) {
  for (const Shape& shape : {Shape({1, 12}), Shape({12, 1}), Shape({1, 1, 12}), Shape({1, 12, 1}),
                             Shape({12, 1, 1}), Shape({1, 6, 10}), Shape({6, 1, 10}), Shape({6, 10, 1})}) {
    for (const std::int64_t batch : {1, 3}) {
      expect_right(dense_problem(shape, false, batch));
      if (shape[shape.rank() - 1] > 1) expect_right(dense_problem(shape, true, batch));
    }
  }
}

TEST(TunedGeometry, SamplesOfEveryType) {
  for (const auto element : {ElementType::u8, ElementType::u16, ElementType::f32, ElementType::f64}) {
    for (const Shape& shape : {Shape(30), Shape(45), Shape({6, 10}), Shape({5, 9}), Shape({4, 6, 8})}) {
      const DenseProblem problem = dense_problem(shape, true, 2);
      for (const bool single : {true, false}) {
        const TunedRun run{problem, rule_policy(problem, single), single, false, false, element};
        EXPECT_EQ(trouble_of(run, TunedSignals(problem)), "") << name_of(problem, run.policy);
      }
    }
  }
}

/// Whether the columns of a frame may read ahead.
bool double_buffers(std::int64_t width, int lines, ElementType element, bool inverse = false) {
  detail::tuned::TransformPolicy policy = *detail::tuned::parse_policy(
      "kernel radices=4.6 threads_per_transform=6 interleaved_shared=1 double_buffered=1 kernel radices=8 "
      "transforms_per_block=2");
  policy.kernels[0].transforms_per_block = lines;
  policy.kernels[1].radices = {static_cast<int>(width % 2 == 0 ? width / 2 : width)};
  const auto program = lay_out({dense_problem(Shape({24, width}), true), true, inverse, element}, policy);
  const detail::tuned::Kernel& columns = inverse ? program.kernels.back() : program.kernels.front();
  detail::tuned::Kernel plain = columns;
  plain.step.policy.double_buffered = false;
  const std::size_t stage = 24 * static_cast<std::size_t>(lines) * 2 * element_bytes(element);
  EXPECT_EQ(columns.shared_bytes(true), plain.shared_bytes(true) + (columns.double_buffers() ? stage : 0));
  return columns.double_buffers();
}

TEST(TunedGeometry, DoubleBuffersWhatIsWholeWords) {
  EXPECT_TRUE(double_buffers(32, 8, ElementType::u8));
  EXPECT_TRUE(double_buffers(32, 16, ElementType::u8));
  EXPECT_TRUE(double_buffers(40, 4, ElementType::u16));
  EXPECT_TRUE(double_buffers(20, 2, ElementType::f32));
  EXPECT_FALSE(double_buffers(40, 8, ElementType::u8)) << "rows of 40 bytes";
  EXPECT_FALSE(double_buffers(32, 12, ElementType::u8)) << "tiles of 24 bytes";
  EXPECT_FALSE(double_buffers(20, 3, ElementType::f32)) << "tiles of 24 bytes";
  EXPECT_FALSE(double_buffers(15, 8, ElementType::f32)) << "no pairs";
  EXPECT_FALSE(double_buffers(32, 8, ElementType::f32, true)) << "inverse";
}

TEST(TunedGeometry, PrefetchesNeighbours) {
  const auto prefetches = [](const DenseProblem& problem, bool inverse = false) {
    TransformPolicy policy = rule_policy(problem, true);
    for (detail::tuned::KernelPolicy& kernel : policy.kernels) kernel.prefetch_distance = 25;
    std::vector<bool> all;
    for (const auto& kernel : lay_out({problem, true, inverse}, policy).kernels)
      all.push_back(kernel.prefetches());
    return all;
  };
  using Each = std::vector<bool>;
  EXPECT_EQ(prefetches(dense_problem(Shape(60), false, 9)), Each({true}));
  EXPECT_EQ(prefetches(dense_problem(Shape(60), false, 9, {{9, 0, 0}, 1})), Each({true}));
  EXPECT_EQ(prefetches(dense_problem(Shape(60), false, 9, {{3, 0, 0}, 180})), Each({false}));
  EXPECT_EQ(prefetches(dense_problem(Shape(60), true, 9)), Each({true}));
  EXPECT_EQ(prefetches(dense_problem(Shape({6, 4, 16}), false)), Each({true, true, true}));
  EXPECT_EQ(prefetches(dense_problem(Shape({24, 80}), true)), Each({true, true}));
  EXPECT_EQ(prefetches(dense_problem(Shape({24, 80}), true), true), Each({false, true})) << "half spectra";
  EXPECT_EQ(prefetches(dense_problem(Shape({24, 81}), true)), Each({false, true})) << "single samples";
}

}  // namespace
}  // namespace sfft::test::tuned_geometry_test
