// SPDX-License-Identifier: Apache-2.0
// Tests that the fused kernel compiles at run time for plans of many shapes, without a GPU.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kernels/cuda/fused/fused.hpp"
#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/cuda/small_fft/fft_schedule.hpp"
#include "sfft/error.hpp"

namespace sfft::test::generated_kernel_test {
namespace {

using namespace sfft::detail;
using namespace sfft::detail::cuda;
using sfft::detail::cuda::Element;

/// A plan with `grid` buckets and `k` rows as BinningTables would lay it out, but without memory.
FusedArguments<float> spread_arguments(const std::vector<std::int64_t>& grid, int k, int lanes, bool real) {
  using Real = float;
  Binning<Real> plan;
  plan.fft = make_schedule(grid.data(), static_cast<int>(grid.size())).schedule;
  plan.lanes = lanes;
  plan.real = real;
  plan.strides[2] = 7;
  plan.row_points = static_cast<int>(grid.back());
  plan.k = plan.rows = k;
  int at = 0;
  const auto take = [&](std::size_t bytes) {
    const int start = at;
    at += static_cast<int>((bytes + 15) / 16 * 16);
    return start;
  };
  const auto rows = static_cast<std::size_t>(k);
  plan.passes_at = take(static_cast<std::size_t>(plan.fft.passes) * sizeof(FftPass));
  plan.table_at = take(static_cast<std::size_t>(plan.fft.table_size) * sizeof(Complex<Real>));
  plan.bucket_at = take(rows * sizeof(BucketPair));
  plan.gain_at = take(rows * sizeof(Real));
  plan.bias_at = take(rows * sizeof(Real));
  plan.flags_at = take(rows);
  plan.lanes_at = at;
  plan.lane_beta = static_cast<int>(rows * sizeof(Complex<Real>));
  plan.lane_bytes = 2 * plan.lane_beta;
  plan.errors.gain_sum = 0.1;
  plan.errors.bias_sum = std::numeric_limits<double>::infinity();  // infinity is no literal in C++
  FusedPolicy policy;
  policy.cluster = lanes;
  policy.threads = 256;
  policy.overlap = true;
  policy.copied = 1 << 20;
  return fused_arguments<Real>(plan, policy, {});
}

void expect_compiles(const std::vector<std::int64_t>& grid, int k, int lanes, Element type) {
  const bool real = type < Element::c64;
  const FusedArguments<float> arguments = spread_arguments(grid, k, lanes, real);
  ASSERT_TRUE(is_spread(arguments));
  const std::vector<char> image = compile_generated(generated_source(arguments, type), "sm_90");
  ASSERT_GT(image.size(), 4U);
  EXPECT_EQ(std::string(image.data() + 1, 3), "ELF");
  EXPECT_NE(std::string(image.begin(), image.end()).find("sfft_kernel"), std::string::npos);
}

class GeneratedKernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_nvrtc().why_missing.empty()) GTEST_SKIP() << find_nvrtc().why_missing;
  }
};

TEST_F(GeneratedKernelTest, CompilesForFramesOfEveryType) {
  for (const Element type :
       {Element::u8, Element::u16, Element::f32, Element::f64, Element::c64, Element::c128})
    expect_compiles({24, 48}, 1000, 14, type);
}

TEST_F(GeneratedKernelTest, CompilesForGridsOfOneToThreeDimensionsAndEveryKindOfPass) {
  expect_compiles({512}, 1000, 9, Element::c64);
  expect_compiles({11, 13}, 30, 2, Element::u8);  // radices without a butterfly
  expect_compiles({8, 10, 12}, 100, 16, Element::f32);
  expect_compiles({9}, 1, 3, Element::f32);  // one pass only
}

TEST_F(GeneratedKernelTest, RefusesWithTheCompilersWords) {
  std::string source = generated_source(spread_arguments({64}, 10, 4, true), Element::u8);
  source.replace(source.find("plan.lanes"), 10, "plan.lines");
  try {
    static_cast<void>(compile_generated(source, "sm_90"));
    FAIL() << "compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::backend_unavailable);
    EXPECT_NE(std::string(error.what()).find("lines"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sfft::test::generated_kernel_test
