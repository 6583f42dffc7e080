// SPDX-License-Identifier: Apache-2.0
// Tests the schedules of block FFTs: runs their passes by the definition, and compares with a direct sum.
#include "kernels/cuda/small_fft/fft_schedule.hpp"

#include <gtest/gtest.h>

#include "kernels/base/math/index.hpp"
#include "kernels/cuda/small_fft/schedule_table.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::detail::cuda::fft_schedule_test {
namespace {

using Value = std::complex<double>;

/// Runs the passes as the header of the schedule defines them, with the table's entries.
std::vector<Value> run(const FftSchedule& schedule, const std::vector<Value>& table, std::vector<Value> x) {
  for (int i = 0; i < schedule.passes; ++i) {
    const FftPass& pass = schedule.pass[i];
    const int block = pass.columns * pass.radix;
    EXPECT_EQ(pass.m * pass.stride, pass.columns);
    EXPECT_EQ(schedule.points % block, 0);
    std::vector<Value> y(x.size());
    for (int outer = 0; outer < schedule.points; outer += block) {
      for (int p = 0; p < pass.m; ++p) {
        for (int c = 0; c < pass.stride; ++c) {
          for (int r = 0; r < pass.radix; ++r) {
            Value sum = 0;
            for (int j = 0; j < pass.radix; ++j) {
              const Value root = std::conj(unit_root(j * r % pass.radix, pass.radix));
              sum += root * x[static_cast<std::size_t>(outer + c + pass.stride * (p + pass.m * j))];
            }
            if (pass.twiddles >= 0 && r > 0)
              sum *= table[static_cast<std::size_t>(pass.twiddles + (r - 1) * pass.m + p)];
            y[static_cast<std::size_t>(outer + c + pass.stride * (pass.radix * p + r))] = sum;
          }
        }
      }
    }
    x = std::move(y);
  }
  return x;
}

void check(const std::vector<std::int64_t>& grid, bool load_first) {
  const int rank = static_cast<int>(grid.size());
  const FftTables tables = make_schedule(grid.data(), rank, load_first);
  const FftSchedule laid_out = lay_out_schedule(grid.data(), rank, load_first);
  ASSERT_EQ(laid_out.table_size, static_cast<int>(tables.table.size()));
  ASSERT_EQ(laid_out.passes, tables.schedule.passes);
  ASSERT_LE(laid_out.passes, kMaxPasses);
  for (int entry = 0; entry < laid_out.table_size; ++entry) {
    const TableRoot root = table_root(laid_out, entry);
    ASSERT_TRUE(root.turns >= 0 && root.turns < root.order) << entry;
    EXPECT_EQ(tables.table[static_cast<std::size_t>(entry)], std::conj(unit_root(root.turns, root.order)));
  }
  for (int i = 0; i < laid_out.passes; ++i) {
    const FftPass& pass = laid_out.pass[i];
    if (pass.roots < 0) continue;
    for (int j = 0; j < pass.radix; ++j)
      EXPECT_EQ(tables.table[static_cast<std::size_t>(pass.roots + j)], std::conj(unit_root(j, pass.radix)));
  }
  const auto x = test::random_signal(static_cast<std::size_t>(laid_out.points), 5);
  EXPECT_LE(test::relative_l2(run(laid_out, tables.table, x), test::direct_dft(x, grid)),
            test::fft_bound<double>(laid_out.points));
}

TEST(FftSchedule, EqualsADirectSumForEveryShortLength) {
  for (std::int64_t n = 1; n <= 300; ++n) {
    SCOPED_TRACE(n);
    check({n}, false);
    check({n}, true);
  }
}

TEST(FftSchedule, EqualsADirectSumForLongLengthsAndGrids) {
  for (const auto& grid : std::vector<std::vector<std::int64_t>>{
           {1920}, {1080}, {2187}, {2048}, {1331}, {2310}, {12, 20}, {9, 22}, {3, 1, 14}, {8, 9, 10}}) {
    SCOPED_TRACE(grid[0]);
    check(grid, false);
    check(grid, true);
  }
}

TEST(FftSchedule, TakesFewPasses) {
  const auto passes = [](std::int64_t n) { return lay_out_schedule(&n, 1).passes; };
  EXPECT_EQ(passes(8), 1);
  EXPECT_EQ(passes(64), 2);
  EXPECT_EQ(passes(768), 4);
  EXPECT_EQ(passes(1080), 4);
  EXPECT_EQ(passes(1920), 4);
}

}  // namespace
}  // namespace sfft::detail::cuda::fft_schedule_test
