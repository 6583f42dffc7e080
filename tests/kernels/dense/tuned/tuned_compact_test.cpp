// SPDX-License-Identifier: Apache-2.0
// Tests the tuned kernels for 16-bit values on the CPU: generated kernels, compiled by the host's compiler,
// against the built-in engine in double.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "tests/support/tuned_compact.hpp"

namespace sfft::test::tuned_compact_test {
namespace {

TEST(TunedCompact, Lines) {
  expect_right({of(Shape(64), false, 5, kF16, kF16), of(Shape(97), false, 4, kBf16, kBf16),
                of(Shape(128), true, 5, kF16, kBf16), of(Shape(75), true, 4, kBf16, kF16),
                of(Shape(360), false, 3, kF16, kF32), of(Shape(254), true, 2, kF32, kF16),
                of(Shape(1021), false, 2, kF16, kF16), of(Shape(2), false, 7, kF16, kF16)});
}

TEST(TunedCompact, LongLines) {
  expect_right({of(Shape(48 * 40), false, 2, kF16, kF16, kF32, {48, 40}),
                of(Shape(48 * 40), false, 3, kF16, kF16, kF16, {48, 40}, 1),
                of(Shape(48 * 40), false, 1, kBf16, kF16, kBf16, {48, 40}),
                of(Shape(32 * 20 * 24), false, 2, kF16, kF16, kF16, {32, 20, 24}),
                of(Shape(32 * 20 * 24), false, 1, kF16, kBf16, kF32, {32, 20, 24}, 1),
                of(Shape(32 * 20 * 24), false, 1, kF32, kF16, kF16, {32, 20, 24}, 1, false)});
}

TEST(TunedCompact, FramesAndVolumes) {
  expect_right(
      {of(Shape({30, 64}), true, 3, kF16, kF16, kF32), of(Shape({30, 64}), true, 2, kF16, kF16, kF16),
       of(Shape({33, 25}), true, 2, kF16, kF16, kF16, {}, 1), of(Shape({32, 48}), false, 2, kF16, kF16, kF16),
       of(Shape({32, 48}), false, 3, kF16, kF16, kF32), of(Shape({9, 32}), false, 5, kF16, kF32, kF16, {}, 2),
       of(Shape({9, 32}), false, 5, kBf16, kF16, kF16, {}, 2, false),
       of(Shape({9, 31}), false, 2, kBf16, kBf16, kBf16)});
  expect_right({of(Shape({20, 24, 32}), false, 1, kF16, kF16, kF32),
                of(Shape({12, 10, 16}), false, 2, kF16, kF16, kF16, {}, 3),
                of(Shape({12, 10, 16}), false, 2, kF16, kBf16, kF32, {}, 3, false),
                of(Shape({6, 10, 18}), true, 2, kF16, kF16, kF16),
                of(Shape({5, 7, 9}), true, 2, kF16, kF16, kF32),
                of(Shape({16, 32, 16}), false, 2, kF16, kF16, kF16, {8, 4})});
}

/// Copies to shared memory, prefetches, and tiles staged in shared memory also move 16-bit values.
TEST(TunedCompact, WaysThroughSharedMemory) {
  const auto named = [](const Shape& shape, bool real, std::int64_t batch, const char* kernels) {
    return CompactCase{dense_problem(shape, real, batch), *detail::tuned::parse_policy(kernels), kF16, kF16,
                       kF16};
  };
  const std::vector<CompactCase> cases{
      named(Shape({24, 80}), true, 5,
            "kernel radices=4.6 threads_per_transform=6 transforms_per_block=16 "
            "interleaved_shared=1 double_buffered=1 kernel radices=5.8 threads_per_transform=8 "
            "transforms_per_block=4"),
      named(Shape({24, 80}), true, 5,
            "kernel radices=4.6 threads_per_transform=4 transforms_per_block=6 "
            "interleaved_shared=1 prefetch_distance=25 kernel radices=5.8 "
            "threads_per_transform=8 transforms_per_block=16 prefetch_distance=12"),
      named(Shape(96), false, 9,
            "kernel radices=8.12 threads_per_transform=12 transforms_per_block=2 "
            "prefetch_distance=25 early_prefetch=1"),
      named(Shape(127), false, 39,
            "kernel radices=18.7 threads_per_transform=7 transforms_per_block=9 staged=1"),
      named(Shape(1021), false, 2, "kernel radices=5.12.17 threads_per_transform=85 staged=1")};
  EXPECT_TRUE(cases[0].program(false).kernels[0].double_buffers());
  expect_right(cases);
}

/// Whole lines pass through shared memory unchanged: lines of one warp and of several, with and without room
/// for padding, tiles that are not full, and one side that is wider than the other.
TEST(TunedCompact, PackedTiles) {
  const auto named = [](const Shape& shape, std::int64_t batch, const char* kernels, Storage signal = kF16,
                        Storage spectrum = kF16) {
    return CompactCase{dense_problem(shape, false, batch), *detail::tuned::parse_policy(kernels), signal,
                       spectrum, kF32};
  };
  expect_right(
      {named(Shape(64), 39,
             "kernel radices=8.8 threads_per_transform=4 transforms_per_block=16 pad_interval=8 pad=1 "
             "staged=1"),
       named(Shape(8), 71, "kernel radices=8 threads_per_transform=1 transforms_per_block=64 staged=1"),
       named(Shape(60), 35, "kernel radices=15.4 threads_per_transform=4 transforms_per_block=16 staged=1"),
       named(Shape(100), 25, "kernel radices=10.10 threads_per_transform=5 transforms_per_block=12 staged=1",
             kBf16, kBf16),
       named(Shape(63), 45, "kernel radices=9.7 threads_per_transform=4 transforms_per_block=8 staged=1"),
       named(Shape(90), 13, "kernel radices=9.10 threads_per_transform=5 transforms_per_block=6 staged=1",
             kF16, kF32),
       named(Shape(90), 13, "kernel radices=9.10 threads_per_transform=10 transforms_per_block=6 staged=1",
             kF32, kF16),
       named(Shape(127), 70,
             "kernel radices=18.7 threads_per_transform=7 transforms_per_block=32 staged=1 "
             "interleaved_threads=1"),
       named(Shape(480), 7,
             "kernel radices=16.30 threads_per_transform=16 transforms_per_block=4 staged=1")});
}

/// Lines are products on tensor cores. Lengths are whole matrices and others, odd and even. There are one or
/// several units of lines, warps without work, and tiles that are not full or not of whole words.
TEST(TunedCompact, TensorCores) {
  const auto named = [](std::int64_t points, std::int64_t batch, const char* threads) {
    const std::string kernel = "kernel radices=" + std::to_string(points) + " " + threads + " tensor_cores=1";
    return CompactCase{dense_problem(Shape(points), false, batch), *detail::tuned::parse_policy(kernel), kF16,
                       kF16, kF32};
  };
  expect_right({named(127, 37, "threads_per_transform=2 transforms_per_block=32"),
                named(64, 35, "threads_per_transform=1 transforms_per_block=32"),
                named(37, 21, "threads_per_transform=4 transforms_per_block=16"),
                named(2, 70, "threads_per_transform=4 transforms_per_block=8"),
                named(100, 9, "threads_per_transform=4 transforms_per_block=16"),
                named(94, 40, "threads_per_transform=2 transforms_per_block=16"),
                named(17, 101, "threads_per_transform=1 transforms_per_block=64"),
                named(128, 8, "threads_per_transform=4 transforms_per_block=8")});
}

/// Integers share exponents: lines of whole blocks and others, fewer threads than teams need, and one side of
/// another format.
TEST(TunedCompact, BlocksOfIntegers) {
  const auto named = [](const Shape& shape, std::int64_t batch, const char* kernels, Storage signal,
                        Storage spectrum) {
    return CompactCase{dense_problem(shape, false, batch), *detail::tuned::parse_policy(kernels), signal,
                       spectrum, kF32};
  };
  expect_right(
      {named(Shape(256), 5,
             "kernel radices=16.16 threads_per_transform=16 transforms_per_block=4 twiddles=fused", kBlock,
             kBlock),
       named(Shape(100), 7, "kernel radices=10.10 threads_per_transform=10 transforms_per_block=3", kF16,
             kBlock),
       named(Shape(97), 3, "kernel radices=20.10 threads_per_transform=20", kBlock, kF16),
       named(Shape(1021), 2, "kernel radices=5.12.17 threads_per_transform=85 staged=1", kBlock, kBlock),
       named(Shape(60), 9, "kernel radices=15.4 threads_per_transform=4 transforms_per_block=8 staged=1",
             kF16, kBlock),
       named(Shape(192), 7,
             "kernel radices=24.8 threads_per_transform=8 transforms_per_block=4 staged=1 pad_interval=24",
             kBlock, kBlock),
       named(Shape(1024), 3, "kernel radices=32.32 threads_per_transform=32 transforms_per_block=2", kBlock,
             kBlock),
       named(Shape(5), 9, "kernel radices=5 threads_per_transform=1 transforms_per_block=6", kBlock, kF32)});
}

/// Transforms of several steps have blocks across lines and along them: long lines, frames, volumes.
TEST(TunedCompact, BlocksOfSeveralSteps) {
  expect_right({of(Shape(48 * 40), false, 3, kBlock, kBlock, kF32, {48, 40}),
                of(Shape(48 * 40), false, 2, kBlock, kBlock, kF16, {48, 40}, 1),
                of(Shape(32 * 20 * 24), false, 2, kBlock, kBlock, kF32, {32, 20, 24}, 1),
                of(Shape({30, 48}), false, 3, kBlock, kBlock), of(Shape({20, 64}), true, 3, kBlock, kF16),
                of(Shape({9, 16}), false, 5, kF32, kBlock, kF32, {}, 2),
                of(Shape({20, 24, 32}), false, 1, kBlock, kBlock)});
}

/// Some blocks of integers have values near the ends of float's range, infinities or NaNs; others are
/// ordinary. Every transform keeps its error bound, and non-finite values spoil only their own transform.
void expect_right_out_of_the_ordinary(std::size_t points, const char* kernel) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                   kNan = std::numeric_limits<double>::quiet_NaN();
  const double sizes[] = {1, 1e-35, 3e-34, 0, 1e36, 1e-30, 1, 1, 1e33};
  constexpr std::size_t kBatch = std::size(sizes), kInfinite = 6, kNumberless = 7;
  const CompactCase c{
      dense_problem(Shape(static_cast<std::int64_t>(points)), false, static_cast<std::int64_t>(kBatch)),
      *detail::tuned::parse_policy(kernel), kBlock, kBlock, kF32};
  std::vector<double> parts = parts_of(random_signal(kBatch * points, 5), false);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] *= sizes[i / (2 * points)];
  parts[kInfinite * 2 * points + 37] = -kInfinity;
  parts[kNumberless * 2 * points + 5] = kNan;
  const std::vector<std::byte> signal = stored_batch(parts, kBatch, kBlock, 0);
  const std::vector<double> exact = loaded_batch(signal, kBlock, kBatch, parts.size());
  const ScratchFolder folder;
  std::vector<std::string> sources;
  for (const bool inverse : {false, true}) {
    for (const auto& step : c.program(inverse).kernels) sources.push_back(source_of(step, true));
  }
  const EmulatedKernels kernels(sources, folder.path(), "extraordinary");
  const std::vector<double> found = results_of(c, false, kernels, 0, signal, parts.size(), 0.5);
  const dense::Plan<double> plan(c.problem.shape, Domain::complex,
                                 {.normalization = dense::Options::Normalization::none});
  for (std::size_t b = 0; b < kBatch; ++b) {
    SCOPED_TRACE(sizes[b]);
    const std::span<const double> own = std::span(found).subspan(b * 2 * points, 2 * points);
    if (b == kInfinite || b == kNumberless) {
      for (const double part : own) EXPECT_FALSE(std::isfinite(part));
      continue;
    }
    ComplexSignal expected(points);
    plan.forward(exact.data() + b * 2 * points, ElementType::c128, expected);
    std::vector<double> halves = parts_of(expected, false);
    for (double& part : halves) part /= 2;
    if (sizes[b] == 0) {
      for (const double part : own) EXPECT_EQ(part, 0);
    } else {
      EXPECT_LE(relative_l2(std::vector<double>(own.begin(), own.end()), halves),
                storage_bound(kBlock, 2 * points) + 1e-5);
    }
  }
}

/// Lines of whole blocks, and other lines, for which threads are left over.
TEST(TunedCompact, BlocksOutOfTheOrdinary) {
  expect_right_out_of_the_ordinary(64, "kernel radices=8.8 threads_per_transform=8 transforms_per_block=4");
  expect_right_out_of_the_ordinary(100,
                                   "kernel radices=10.10 threads_per_transform=10 transforms_per_block=3");
  expect_right_out_of_the_ordinary(
      60, "kernel radices=15.4 threads_per_transform=4 transforms_per_block=8 staged=1");
}

/// Twiddle factors fused into additions: lines, grids, convolutions, and their inverses.
TEST(TunedCompact, FusedTwiddles) {
  const auto named = [](const Shape& shape, std::int64_t batch, const char* kernels) {
    return CompactCase{dense_problem(shape, false, batch), *detail::tuned::parse_policy(kernels), kF16, kF16,
                       kF32};
  };
  std::vector<CompactCase> cases{
      named(Shape(1024), 3,
            "kernel radices=32.32 threads_per_transform=32 transforms_per_block=2 twiddles=fused"),
      named(Shape(480), 3, "kernel radices=30.16 threads_per_transform=16 twiddles=fused"),
      named(Shape(2048), 2, "kernel radices=8.16.16 threads_per_transform=128 twiddles=fused pad_interval=8"),
      named(Shape(96), 5, "kernel radices=4.12.2 threads_per_transform=12 twiddles=fused"),
      named(Shape(97), 5, "kernel radices=16.4.4 threads_per_transform=16 twiddles=fused"),
      named(Shape(61), 5, "kernel radices=15.4 threads_per_transform=4 twiddles=fused"),
      of(Shape({16, 32, 16}), false, 2, kF16, kF16, kF16, {8, 4}),
      of(Shape({30, 64}), true, 3, kF16, kF16, kF32),
      of(Shape(48 * 40), false, 2, kF16, kF16, kF32, {48, 40})};
  for (CompactCase& c : cases) {
    for (auto& kernel : c.policy.kernels) kernel.twiddles = detail::tuned::Twiddles::fused;
  }
  expect_right(cases);
}

/// Between steps no value overflows, however the largest values add up: impulses and constants of the peak
/// value.
TEST(TunedCompact, NothingOverflowsBetweenSteps) {
  std::vector<CompactCase> cases{of(Shape(48 * 40), false, 1, kF16, kF16, kF16, {48, 40}),
                                 of(Shape({30, 64}), true, 1, kF16, kF16, kF16),
                                 of(Shape({12, 10, 16}), false, 1, kF16, kF16, kF16),
                                 of(Shape({6, 10, 18}), true, 1, kF16, kF16, kF16)};
  const ScratchFolder folder;
  std::vector<std::string> sources;
  for (CompactCase& c : cases) {
    c.peak = 65504;
    for (const bool inverse : {false, true}) {
      for (const auto& kernel : c.program(inverse).kernels) sources.push_back(source_of(kernel, true));
    }
  }
  const EmulatedKernels kernels(sources, folder.path(), "largest");
  std::size_t first = 0;
  for (const CompactCase& c : cases) {
    SCOPED_TRACE(c.problem.shape.to_string());
    const auto points = static_cast<std::size_t>(c.problem.shape.points()),
               spectrum = static_cast<std::size_t>(c.problem.spectrum_points()),
               signal_parts = points * (c.problem.real ? 1 : 2);
    const double scale = 1 / (1.5 * static_cast<double>(points));
    for (const bool inverse : {false, true}) {
      const std::size_t from = inverse ? 2 * spectrum : signal_parts,
                        to = inverse ? signal_parts : 2 * spectrum;
      const std::vector<unsigned short> largest(from, 0x7bff);
      const std::vector<double> values =
          results_of(c, inverse, kernels, first, std::as_bytes(std::span(largest)), to, scale);
      for (const double value : values) ASSERT_TRUE(std::isfinite(value));
      if (!inverse) {
        EXPECT_NEAR(values[0], 65504 / 1.5, 65504 * 4 * storage_bound(kF16, 1));
      }
      first += c.program(inverse).kernels.size();
    }
  }
}

}  // namespace
}  // namespace sfft::test::tuned_compact_test
