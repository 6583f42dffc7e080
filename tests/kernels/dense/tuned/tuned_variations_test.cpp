// SPDX-License-Identifier: Apache-2.0
// Tests the variations of the best policy that the tuner tries: wisdom files can store them, and none occurs
// twice.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/search/variations.hpp"

namespace sfft::tuned_variations_test {
namespace {

using detail::tuned::KernelPolicy;
using detail::tuned::parse_policy;
using detail::tuned::TransformPolicy;

const char* const kPolicies[] = {
    "kernel radices=10.10.10 threads_per_transform=100 pad_interval=10 max_blocks_per_multiprocessor=9 "
    "early_prefetch=1",
    "kernel radices=25.10 threads_per_transform=10 transforms_per_block=16 staged=1 interleaved_threads=1 "
    "early_prefetch=1",
    "alternating_groups=2 streams=4 kernel radices=20.36 threads_per_transform=20 transforms_per_block=8 "
    "interleaved_shared=1 pad_interval=20 streaming=1 kernel radices=10.8.8 threads_per_transform=80 "
    "transforms_per_block=2 streaming=1",
    "factors=512.256.512 alternating_groups=1 streams=2 min_blocks_per_multiprocessor=2 kernel radices=16.32 "
    "threads_per_transform=16 transforms_per_block=8 twiddles=two_roots pad_interval=16 pad=2 kernel "
    "radices=16.16 threads_per_transform=16 transforms_per_block=16 interleaved_shared=1 twiddles=two_roots "
    "kernel radices=32.16 threads_per_transform=16 transforms_per_block=16 interleaved_shared=1 "
    "twiddles=two_roots",
};

void expect_usable(const std::vector<TransformPolicy>& all, const TransformPolicy& base) {
  EXPECT_FALSE(all.empty());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto back = parse_policy(to_text(all[i]));
    ASSERT_TRUE(back) << to_text(all[i]);
    EXPECT_EQ(*back, all[i]) << to_text(all[i]);
    EXPECT_NE(all[i], base);
    for (std::size_t s = 0; s < base.kernels.size(); ++s)
      EXPECT_EQ(all[i].kernels[s].length(), base.kernels[s].length()) << to_text(all[i]);
  }
}

TEST(TunedVariations, ArePoliciesOfTheSameTransform) {
  for (const char* text : kPolicies) {
    const TransformPolicy base = *parse_policy(text);
    for (const bool single : {true, false}) {
      const auto refined = refinements(base, false, single);
      expect_usable(refined, base);
      for (std::size_t i = 0; i < refined.size(); ++i)
        EXPECT_EQ(std::count(refined.begin(), refined.end(), refined[i]), 1) << to_text(refined[i]);
    }
    expect_usable(neighbours(base), base);
  }
}

/// Number of policies with a step for which `is` is true.
template <class Is>
auto count(const std::vector<TransformPolicy>& all, const Is& is) {
  return std::count_if(all.begin(), all.end(), [&](const TransformPolicy& policy) {
    return std::any_of(policy.kernels.begin(), policy.kernels.end(), is);
  });
}

TEST(TunedVariations, LimitBlocksByWhatTheirTilesTake) {
  const TransformPolicy base = *parse_policy("kernel radices=10.10.10 threads_per_transform=100");
  std::vector<int> limits;
  for (const TransformPolicy& policy : refinements(base, false, true)) {
    const int resident = policy.kernels[0].max_blocks_per_multiprocessor;
    if (resident > 0) limits.push_back(resident);
    EXPECT_LE(resident * 8000, 104 << 10);
  }
  EXPECT_EQ(limits, (std::vector{5, 7, 9, 11, 13}));
}

TEST(TunedVariations, PrefetchAtSeveralDistances) {
  for (const char* text : kPolicies) {
    const TransformPolicy base = *parse_policy(text);
    EXPECT_EQ(count(refinements(base, false, true),
                    [](const KernelPolicy& kernel) { return kernel.prefetch_distance > 0; }),
              3 * base.kernels.size())
        << text;
  }
}

TEST(TunedVariations, BeginOneAfterTheOtherWhereABlockIsAlone) {
  const auto delayed = [](const KernelPolicy& kernel) { return kernel.multiprocessor_delay > 0; };
  const auto both = [](const KernelPolicy& kernel) {
    return kernel.multiprocessor_delay > 0 && kernel.prefetch_distance > 0;
  };
  for (const char* text : kPolicies)
    EXPECT_EQ(count(refinements(*parse_policy(text), false, true), delayed), 0);
  const auto all = refinements(
      *parse_policy("factors=32.8 kernel radices=32.16.16 threads_per_transform=256 kernel radices=16.16.8 "
                    "threads_per_transform=128 transforms_per_block=8 interleaved_shared=1"),
      false, true);
  EXPECT_EQ(count(all, delayed), 12);
  EXPECT_EQ(count(all, both), 9);
}

TEST(TunedVariations, BeginOneAfterTheOtherOnAMultiprocessor) {
  const auto staggered = [](const KernelPolicy& kernel) { return kernel.block_delay > 0; };
  for (const char* text : kPolicies) {
    const TransformPolicy base = *parse_policy(text);
    const std::size_t steps = base.kernels.size();
    // Two values for every step alone and, if there are several, for all of them together.
    EXPECT_EQ(count(refinements(base, false, true), staggered), steps == 1 ? 2 : 2 * steps + 2) << text;
  }
}

TEST(TunedVariations, LeaveOutWhatChangesNothing) {
  const auto early = [](const KernelPolicy& kernel) { return kernel.early_prefetch; };
  const auto ahead = [](const KernelPolicy& kernel) { return kernel.double_buffered; };
  const TransformPolicy lines =
      *parse_policy("kernel radices=15.16 threads_per_transform=16 transforms_per_block=4");
  const TransformPolicy frames = *parse_policy(kPolicies[2]);
  EXPECT_EQ(count(refinements(lines, false, true), early), 1);
  EXPECT_EQ(count(refinements(lines, true, true), early), 0);
  EXPECT_EQ(count(refinements(lines, true, true), ahead), 0);
  EXPECT_EQ(count(refinements(frames, true, true), ahead), 2);
  EXPECT_EQ(count(refinements(frames, false, true), ahead), 0);
}

TEST(TunedVariations, WidenGroupsOfThreeFactors) {
  const auto widened = neighbours(*parse_policy(kPolicies[3]));
  const auto wide = std::find_if(widened.begin(), widened.end(),
                                 [](const TransformPolicy& c) { return c.outputs_per_group == 32; });
  ASSERT_NE(wide, widened.end());
  EXPECT_EQ(wide->kernels[1].transforms_per_block, 32);
  EXPECT_EQ(wide->kernels[2].transforms_per_block, 32);
  const auto narrow = neighbours(
      *parse_policy("factors=16.256.512 alternating_groups=1 streams=2 min_blocks_per_multiprocessor=2 "
                    "kernel radices=16 transforms_per_block=16 kernel radices=16.16 threads_per_transform=16 "
                    "transforms_per_block=16 interleaved_shared=1 kernel radices=32.16 "
                    "threads_per_transform=16 transforms_per_block=16 interleaved_shared=1"));
  EXPECT_TRUE(std::all_of(narrow.begin(), narrow.end(),
                          [](const TransformPolicy& c) { return c.outputs_per_group == 16; }));
}

}  // namespace
}  // namespace sfft::tuned_variations_test
