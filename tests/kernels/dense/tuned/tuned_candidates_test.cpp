// SPDX-License-Identifier: Apache-2.0
// Tests the candidate policies of the tuner.
#include <gtest/gtest.h>

#include "kernels/base/radix/radices.hpp"
#include "kernels/dense/tuned/search/bank_conflicts.hpp"
#include "tests/support/tuned_problem.hpp"

namespace sfft::test::tuned_candidates_test {
namespace {

using detail::has_radices;
using detail::tuned::Kernel;
using detail::tuned::KernelPolicy;
using detail::tuned::Limits;
using detail::tuned::LineNeed;
using detail::tuned::Step;

void expect_possible(const LineNeed& need, bool single, const Limits& limits, bool some) {
  const std::vector<int> lengths = detail::tuned::fft_lengths(need.points, need.twiddled);
  Step step;
  step.points = need.points;
  step.load_interleaved = need.interleaved || need.transposed;
  step.store_interleaved = need.interleaved && !need.transposed;
  if (need.half_spectra) step.out.form = detail::tuned::Form::half_pairs;
  const auto all = candidates(need, single, limits, 48);
  EXPECT_TRUE(!some || !all.empty()) << need.points << (single ? " floats" : " doubles");
  for (const KernelPolicy& policy : all) {
    step.policy = policy;
    const Kernel kernel{step};
    const int usual = need.rows > 0 ? 48 : 32;
    const int registers =
        std::max(single ? usual : usual / 2, *std::max_element(policy.radices.begin(), policy.radices.end()));
    EXPECT_NE(std::find(lengths.begin(), lengths.end(), policy.length()), lengths.end());
    EXPECT_LE(policy.threads_per_transform * policy.transforms_per_block, 1024);
    EXPECT_LE(kernel.threads(), 1024);
    EXPECT_LE(policy.registers(), 2 * registers - 1);
    EXPECT_LE(kernel.shared_bytes(single), limits.shared_bytes) << need.points;
    EXPECT_TRUE(!need.mirrored || policy.transforms_per_block % 2 == 0);
    EXPECT_TRUE(!need.transposed || policy.radices.size() > 1);
    EXPECT_TRUE(need.rows == 0 || (policy.column_passes(need.rows) > 0 && policy.length() == need.points));
    EXPECT_TRUE(need.rows == 0 || need.lines % policy.transforms_per_block == 0);
    EXPECT_TRUE(detail::tuned::parse_policy(to_text(policy_of(policy)))) << to_text(policy_of(policy));
  }
}

TEST(TunedPolicy, EveryLengthHasCandidates) {
  for (int n = 2; n <= 4096; n += n < 300 ? 1 : 37) {
    for (const bool single : {true, false}) {
      expect_possible({.points = n}, single, kHopper, true);
      expect_possible({.points = n, .interleaved = true}, single, kHopper, true);
      expect_possible({.points = n, .interleaved = true}, single, kTuring, n <= 2000);
    }
  }
  for (const int n : {4095, 4096, 8192, 16384}) {
    for (const bool single : {true, false}) expect_possible({.points = n}, single, kHopper, true);
    expect_possible({.points = n}, n > 8192, kTuring, true);
  }
}

TEST(TunedPolicy, NarrowLinesHaveCandidates) {
  for (int n = 2; n <= 8192; n += n < 130 ? 1 : 211) {
    if (!has_radices(n)) continue;
    const LineNeed need{.points = n, .narrow_bytes = 8};
    const auto all = candidates(need, true, kHopper, 16);
    EXPECT_FALSE(all.empty()) << n;
    for (const KernelPolicy& policy : all) {
      Step step;
      step.points = n;
      step.policy = policy;
      EXPECT_EQ(policy.length(), n);
      EXPECT_LE((Kernel{step}.shared_bytes(true)), kHopper.shared_bytes) << n;
      EXPECT_LE(policy.threads_per_transform * policy.transforms_per_block, 1024) << n;
      EXPECT_TRUE(detail::tuned::parse_policy(to_text(policy_of(policy)))) << n;
    }
    EXPECT_TRUE(all.empty() || all[0].threads_per_transform >= 8 || all[0].staged) << n << ": short loads";
  }
}

/// Compares conflicts with counts by hand.
TEST(TunedPolicy, BankConflicts) {
  using detail::tuned::bank_conflicts;
  KernelPolicy kernel{.radices = {16, 16}, .threads_per_transform = 16, .transforms_per_block = 2};
  // Outputs 16 apart meet one bank 16 times; inputs are adjacent.
  EXPECT_DOUBLE_EQ(bank_conflicts(kernel), (16 + 1) / 2.0);
  kernel.pad_interval = 16;
  EXPECT_DOUBLE_EQ(bank_conflicts(kernel), 1);
  // Two lines of 8 threads, 64 slots apart: every access meets the same banks twice, and outputs 8 apart meet
  // two banks.
  kernel = {.radices = {8, 8}, .threads_per_transform = 8, .transforms_per_block = 4};
  EXPECT_DOUBLE_EQ(bank_conflicts(kernel), (8 + 2) / 2.0);
  detail::tuned::pad_for_banks(kernel);
  EXPECT_DOUBLE_EQ(bank_conflicts(kernel), 1);
  EXPECT_GT(kernel.pad_interval, 0);
}

TEST(TunedPolicy, CandidatesKeepWhatTheKernelsRelyOn) {
  for (const int n : {2, 3, 16, 17, 30, 127, 509, 540, 960, 1000, 2048, 4096, 8192}) {
    for (const bool single : {true, false}) {
      for (const Limits& limits : {kHopper, kTuring}) {
        expect_possible({.points = n, .half_spectra = true}, single, limits, false);
        expect_possible({.points = n, .half_spectra = true, .mirrored = true}, single, limits, n <= 1000);
        expect_possible({.points = n, .interleaved = true, .twiddled = true, .lines = 16}, single, limits,
                        n <= 1000);
        expect_possible({.points = n, .interleaved = true, .transposed = true, .twiddled = true}, single,
                        limits, false);
        expect_possible({.points = n, .transposed = true, .lines = 16}, single, limits, false);
        if (n % 30 != 0) continue;
        expect_possible({.points = n, .twiddled = true, .rows = n / 15}, single, limits, true);
        expect_possible({.points = n, .interleaved = true, .rows = 10, .lines = 24}, single, limits, true);
      }
    }
  }
}

}  // namespace
}  // namespace sfft::test::tuned_candidates_test
