// SPDX-License-Identifier: Apache-2.0
// Tests the tuned kernels that wisdom may name, one by one: radices, convolutions, neighbouring lines, blocks
// per multiprocessor, and separate kernels for bytes.
#include <fmt/format.h>

#include "kernels/base/radix/radices.hpp"
#include "kernels/dense/tuned/codegen/compiler.hpp"
#include "kernels/dense/tuned/codegen/source.hpp"
#include "kernels/dense/tuned/plan/geometry.hpp"
#include "kernels/dense/tuned/run/executable.hpp"
#include "tests/support/named_kernels.hpp"

namespace sfft::test::dense_kernels_cuda_test {
namespace {

using detail::tuned::PlanPolicy;

class DenseKernelsCuda : public NamedKernelsTest {};

TEST_F(DenseKernelsCuda, EveryRadixIsRight) {
  for (const auto& row : detail::kRadices) {
    const int radix = row.radix;
    const std::string four = "kernel threads_per_transform=8 transforms_per_block=4 ";
    const std::string three = "kernel threads_per_transform=8 transforms_per_block=3 ";
    expect_line_right<float>(8 * radix, fmt::format("{}radices={}.8 pad_interval={}", four, radix, radix));
    for (const char* twiddles : {"one_root", "two_roots", "table"})
      expect_line_right<float>(8 * radix, fmt::format("{}radices=8.{} twiddles={}", three, radix, twiddles));
    if (radix <= 20)
      expect_line_right<double>(
          8 * radix,
          fmt::format("kernel radices=8.{} threads_per_transform=8 transforms_per_block=2 pad_interval=8",
                      radix));
  }
}

TEST_F(DenseKernelsCuda, EveryConvolutionIsRight) {
  for (const char* line :
       {"kernel radices=18.7 threads_per_transform=7 transforms_per_block=9 staged=1",
        "kernel radices=7.18 threads_per_transform=9 transforms_per_block=2",
        "kernel radices=2.7.9 threads_per_transform=14 transforms_per_block=4 staged=1",
        "kernel radices=3.6.7 threads_per_transform=21 transforms_per_block=3 staged=1",
        "kernel radices=16.16 threads_per_transform=16 transforms_per_block=2 pad_interval=16"}) {
    expect_line_right<float>(127, line);
    if (line[0] != '1') expect_line_right<double>(127, line);
  }
  for (const char* line :
       {"kernel radices=25.10 threads_per_transform=13 transforms_per_block=3 staged=1",
        "kernel radices=5.5.10 threads_per_transform=25 transforms_per_block=5 staged=1 pad=1",
        "kernel radices=16.32 threads_per_transform=16 transforms_per_block=2 pad_interval=16",
        "kernel radices=32.16 threads_per_transform=32 pad_interval=32"})
    expect_line_right<float>(251, line);
  for (const char* line : {"kernel radices=3.20.17 threads_per_transform=60 staged=1",
                           "kernel radices=4.15.17 threads_per_transform=60 transforms_per_block=2 staged=1",
                           "kernel radices=17.12.5 threads_per_transform=85",
                           "kernel radices=8.16.16 threads_per_transform=128 pad_interval=8"})
    expect_line_right<float>(1021, line);
  for (const char* line :
       {"kernel radices=18.7 threads_per_transform=7 transforms_per_block=16 staged=1 interleaved_threads=1",
        "kernel radices=7.18 threads_per_transform=9 transforms_per_block=32 interleaved_shared=1 staged=1 "
        "interleaved_threads=1 early_prefetch=1",
        "kernel radices=3.6.7 threads_per_transform=21 transforms_per_block=5 staged=1 interleaved_threads=1 "
        "pad=1"}) {
    expect_line_right<float>(127, line, 39);  // whole tiles and a partial one
    expect_line_right<double>(127, line, 39);
  }
  expect_line_right<float>(251,
                           "kernel radices=25.10 threads_per_transform=10 transforms_per_block=16 staged=1 "
                           "interleaved_threads=1 early_prefetch=1",
                           39);
  expect_line_right<float>(
      509, "kernel radices=32.32 threads_per_transform=32 transforms_per_block=2 pad_interval=32");
  expect_line_right<float>(509, "kernel radices=30.36 threads_per_transform=36 pad_interval=30");
}

TEST_F(DenseKernelsCuda, NeighbouringThreadsMayHoldNeighbouringLines) {
  expect_line_right<float>(
      60,
      "kernel radices=6.10 threads_per_transform=6 transforms_per_block=16 staged=1 interleaved_threads=1",
      39);
  expect_line_right<double>(60,
                            "kernel radices=10.6 threads_per_transform=10 transforms_per_block=8 "
                            "interleaved_shared=1 staged=1 interleaved_threads=1",
                            39);
  expect_line_right<float>(127,
                           "kernel radices=16.16 threads_per_transform=16 transforms_per_block=16 staged=1 "
                           "interleaved_threads=1 pad=1",
                           39);  // Bluestein's
  const NamedKernels<float> rows(Shape({30, 84}), true, 3);
  rows.expect_forward_right<float>(
      rows.plan("kernel radices=6.5 threads_per_transform=5 transforms_per_block=8 interleaved_shared=1 "
                "kernel radices=6.7 threads_per_transform=7 transforms_per_block=16 interleaved_threads=1"));
}

TEST_F(DenseKernelsCuda, BlocksOfAMultiprocessorMayBeLimited) {
  const NamedKernels<float> named(Shape(240), false, 1000);
  const detail::cuda::DeviceInfo device = detail::cuda::device_info(0);
  const auto resident = [&](const std::string& limit) {
    const std::string kernel = "kernel radices=15.16 threads_per_transform=16 transforms_per_block=4" + limit;
    named.expect_forward_right<std::complex<float>>(named.plan(kernel));
    auto program =
        lay_out({named.problem(), true, false, ElementType::c64}, *detail::tuned::parse_policy(kernel));
    const auto compiled = detail::tuned::compile({source_of(program.kernels[0], true)},
                                                 fmt::format("sm_{}{}", device.major, device.minor));
    detail::tuned::Tables tables(true);
    return detail::tuned::Executable(std::move(program), {compiled[0].image}, true, tables, device)
               .resident(0) /
           device.multiprocessors;
  };
  const std::int64_t max = resident("");
  ASSERT_GT(max, 3);
  for (const std::int64_t limit : {std::int64_t{1}, std::int64_t{3}, max - 1})
    EXPECT_EQ(resident(fmt::format(" max_blocks_per_multiprocessor={}", limit)), limit);
  EXPECT_EQ(resident(" max_blocks_per_multiprocessor=32"), max);
}

TEST_F(DenseKernelsCuda, BytesMayHaveKernelsOfTheirOwn) {
  const NamedKernels<float> named(Shape({40, 48}), true, 3);
  PlanPolicy policies{named.by_rules(), std::nullopt};
  policies.bytes = policies.own;
  policies.bytes->alternating_groups = 2;  // this also changes the size of scratch memory
  const auto plan = named.plan(to_text(policies));
  named.expect_forward_right<std::uint8_t>(plan);
  named.expect_forward_right<std::uint16_t>(plan);
  named.expect_forward_right<float>(plan);
}

}  // namespace
}  // namespace sfft::test::dense_kernels_cuda_test
