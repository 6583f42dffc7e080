// SPDX-License-Identifier: Apache-2.0
// Tests policies as stored in wisdom files: their text, every knob, and damage.
#include <gtest/gtest.h>

#include "kernels/dense/tuned/policy/knobs.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tuned_problem.hpp"

namespace sfft::test::tuned_policy_test {
namespace {

using detail::DenseProblem;
using detail::tuned::IntList;
using detail::tuned::KernelPolicy;
using detail::tuned::TransformPolicy;

/// A kernel that permits every value of every knob.
KernelPolicy one_butterfly() {
  KernelPolicy kernel;
  kernel.radices = {2};
  return kernel;
}

TEST(TunedPolicy, TextRoundTrip) {
  const std::string text =
      "alternating_groups=2 streams=3 ring_buffer=0 kernel radices=12.9.10 threads_per_transform=108 "
      "transforms_per_block=8 interleaved_shared=1 half_shared=1 loads=bypass_l1 early_prefetch=1 "
      "double_buffered=1 kernel radices=10.8.12 threads_per_transform=96 transforms_per_block=9 staged=1 "
      "interleaved_threads=1 twiddles=table pad_interval=16 pad=1 loads=prefetch_l2 streaming=1 "
      "max_blocks_per_multiprocessor=4 prefetch_distance=25 block_delay=350 multiprocessor_delay=7000";
  const auto policy = detail::tuned::parse_policy(text);
  ASSERT_TRUE(policy);
  EXPECT_EQ(to_text(*policy), text);
  EXPECT_EQ(policy->alternating_groups, 2);
  EXPECT_EQ(policy->streams, 3);
  EXPECT_FALSE(policy->ring_buffer);
  EXPECT_EQ(policy->outputs_per_group, 16) << "what is not named has its default";
  ASSERT_EQ(policy->kernels.size(), 2u);
  EXPECT_EQ(policy->kernels[0].radices, (IntList{12, 9, 10}));
  EXPECT_TRUE(policy->kernels[0].half_shared);
  EXPECT_EQ(policy->kernels[1].twiddles, detail::tuned::Twiddles::table);
  EXPECT_EQ(policy->kernels[1].loads, detail::tuned::Loads::prefetch_l2);
  EXPECT_EQ(policy->kernels[1].block_delay, 350);
  EXPECT_EQ(policy->kernels[1].multiprocessor_delay, 7000);
}

TEST(TunedPolicy, WordsMayComeInAnyOrderButOnce) {
  const auto parse = [](const std::string& text) { return detail::tuned::parse_policy(text); };
  const auto policy = parse("streams=2 kernel pad=1 radices=8.8 threads_per_transform=8");
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy, parse(" streams=2\tkernel threads_per_transform=8  radices=8.8 pad=1\n"));
  for (const char* bad : {"",
                          "kernel",
                          "streams=2",
                          "radices=8",
                          "kernel radices=",
                          "kernel radices=8.",
                          "kernel radices=.8",
                          "kernel radices=8..8",
                          "kernel radices=8 threads_per_transform=8 radices=8",
                          "kernel pad=1 radices=8 pad=1",
                          "streams=2 streams=2 kernel radices=8",
                          "kernel radices=19",
                          "kernel radices=8 pads=1",
                          "kernel radices=8 pad=-1",
                          "kernel radices=8 pad=+1",
                          "kernel radices=8 pad=0x1",
                          "kernel radices=8 pad=1.0",
                          "kernel radices=8 pad= 1",
                          "kernel radices=8 pad",
                          "kernel radices=8 twiddles=1",
                          "kernel radices=8 twiddles=two",
                          "kernel radices=8 streams=2",
                          "pad=1 kernel radices=8",
                          "factors=8 kernel radices=8",
                          "factors=2.2.2.2 kernel radices=8",
                          "factors=8.0 kernel radices=8",
                          "kernel radices=32.32.32 threads_per_transform=1024 transforms_per_block=2",
                          "kernel radices=32.32.2",
                          "kernel radices=2 kernel radices=2 kernel radices=2 kernel radices=2",
                          "once 0 streams 1 blocks 1 chunk 16 split - | 8.8 t8 l4"})
    EXPECT_FALSE(parse(bad)) << bad;
}

template <class Policy, class ToPolicy>
void expect_round_trips(std::span<const detail::tuned::Knob<Policy>> knobs, const Policy& usual,
                        const ToPolicy& whole) {
  for (const auto& knob : knobs) {
    const int min = knob.min, max = knob.max, own = knob.get(usual);
    EXPECT_TRUE(min <= own && own <= max) << knob.name << ": its default";
    EXPECT_TRUE(knob.words.empty() || (min == 0 && max + 1 == static_cast<int>(knob.words.size())))
        << knob.name;
    for (const int value : {min, min + 1, (min + max) / 2, max - 1, max, min - 1, max + 1}) {
      if (!knob.words.empty() && (value < min || value > max)) continue;  // no word names this value
      const bool flag = min == 0 && max == 1 && (value < 0 || value > 1);
      Policy policy = usual;
      if (!flag) knob.set(policy, value);
      const TransformPolicy made = whole(policy);
      std::string text = to_text(made);
      if (flag) text += fmt::format(" {}={}", knob.name, value);
      const auto back = detail::tuned::parse_policy(text);
      EXPECT_EQ(back.has_value(), min <= value && value <= max) << text;
      EXPECT_TRUE(!back || *back == made) << text;
      EXPECT_EQ(text.find(fmt::format("{}=", knob.name)) == std::string::npos, !flag && value == own) << text;
    }
  }
}

TEST(TunedPolicy, EveryValueOfEveryKnobComesBack) {
  expect_round_trips(detail::tuned::kernel_knobs(), one_butterfly(), policy_of);
  expect_round_trips(detail::tuned::transform_knobs(), policy_of(one_butterfly()),
                     [](const TransformPolicy& policy) { return policy; });
}

/// Policies that differ in one knob are different, and so are their texts.
TEST(TunedPolicy, KnobsAreIndependent) {
  std::vector<TransformPolicy> all{policy_of(one_butterfly())};
  for (const auto& knob : detail::tuned::kernel_knobs()) {
    all.push_back(all.front());
    knob.set(all.back().kernels[0], knob.get(all.front().kernels[0]) == knob.min ? knob.max : knob.min);
  }
  for (const auto& knob : detail::tuned::transform_knobs()) {
    all.push_back(all.front());
    knob.set(all.back(), knob.get(all.front()) == knob.min ? knob.max : knob.min);
  }
  std::set<std::string> texts;
  for (const TransformPolicy& policy : all) {
    EXPECT_TRUE(texts.insert(to_text(policy)).second) << to_text(policy);
    EXPECT_EQ(std::count(all.begin(), all.end(), policy), 1) << to_text(policy);
  }
}

/// Wisdom files allow texts of up to 4000 bytes.
TEST(TunedPolicy, TheLongestTextFitsAFile) {
  KernelPolicy kernel;
  for (int i = 0; i < IntList::kCapacity; ++i) kernel.radices.push_back(2);
  for (const auto& knob : detail::tuned::kernel_knobs()) knob.set(kernel, knob.max);
  kernel.twiddles = detail::tuned::Twiddles::two_roots;
  TransformPolicy policy;
  for (const auto& knob : detail::tuned::transform_knobs()) knob.set(policy, knob.max);
  policy.ring_buffer = false;
  policy.factors = {16384, 16384, 16384};
  policy.kernels = {kernel, kernel, kernel};
  EXPECT_LT(to_text(detail::tuned::PlanPolicy{policy, policy}).size(), 4000u);
}

TEST(TunedPolicy, TextsOfCandidates) {
  for (const int points : {5, 64, 127, 509, 1080, 4096}) {
    TransformPolicy policy;
    if (points % 2 == 0) policy.factors = {points, 3 * points};
    policy.kernels = candidates({.points = points, .interleaved = true}, true, kHopper, 3);
    const auto back = detail::tuned::parse_policy(to_text(policy));
    ASSERT_TRUE(back) << to_text(policy);
    EXPECT_EQ(*back, policy) << to_text(policy);
  }
}

TEST(TunedPolicy, TextsWithAPolicyForBytes) {
  const DenseProblem image = dense_problem(Shape({12, 16}), true);
  detail::tuned::PlanPolicy policies{rule_policy(image, true), std::nullopt};
  const auto back = [&] { return detail::tuned::parse_plan_policy(to_text(policies)); };
  ASSERT_TRUE(back());
  EXPECT_TRUE(back()->own == policies.own && !back()->bytes);
  policies.bytes = policies.own;
  policies.bytes->min_blocks_per_multiprocessor = 3;
  ASSERT_TRUE(back() && back()->bytes);
  EXPECT_TRUE(back()->own == policies.own && *back()->bytes == *policies.bytes);
  const std::string text = to_text(policies);
  EXPECT_FALSE(detail::tuned::parse_plan_policy(text + " bytes"));
  EXPECT_FALSE(detail::tuned::parse_plan_policy(text + " bytes " + to_text(policies.own)));
  EXPECT_FALSE(detail::tuned::parse_plan_policy(" bytes " + to_text(policies.own)));
  EXPECT_FALSE(detail::tuned::parse_policy(text));
}

/// Expects neither an exception nor a wrong transform, whatever a wisdom file says.
void expect_harmless(const DenseProblem& problem, const TunedSignals& signals, const std::string& text) {
  const auto policy = detail::tuned::parse_policy(text);
  if (!policy) return;
  for (const bool inverse : {false, true}) {
    try {
      const TunedRun run{problem, *policy, true, inverse};
      EXPECT_EQ(trouble_of(run, signals), "") << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << text << ": " << error.what();
    }
  }
}

TEST(TunedPolicy, DamagedTextIsHarmless) {
  const DenseProblem line = dense_problem(Shape(64), false, 2),
                     image = dense_problem(Shape({4, 12}), true, 2),
                     volume = dense_problem(Shape({2, 3, 4}), false),
                     interleaved = dense_problem(Shape(12), false, 3, {{3, 0, 0}, 1});
  const auto alternating = [](TransformPolicy policy) {
    policy.alternating_groups = 1;
    policy.streams = 2;
    return policy;
  };
  TransformPolicy three = alternating(rule_policy(line, true, {4, 2, 8}));
  three.outputs_per_group = 2;
  const std::vector<std::pair<DenseProblem, TransformPolicy>> cases{
      {line, alternating(rule_policy(line, true, {16, 4}))},
      {line, three},
      {image, alternating(rule_policy(image, true))},
      {volume, alternating(rule_policy(volume, true))},
      {interleaved, rule_policy(interleaved, true)}};
  for (const auto& [problem, policy] : cases) {
    const TunedSignals signals(problem);
    const std::string text = to_text(policy);
    ASSERT_EQ(trouble_of({problem, *detail::tuned::parse_policy(text)}, signals), "") << text;
    for (std::size_t at = 0; at <= text.size(); ++at) {
      expect_harmless(problem, signals, text.substr(0, at));
      for (const char c : std::string("0123459 .|-=_adeknrstwxyz+\n\t\0\xff", 29)) {
        std::string damaged = text;
        damaged.insert(at, 1, c);
        expect_harmless(problem, signals, damaged);
        if (at == text.size()) continue;
        damaged.erase(at + 1, 1);
        expect_harmless(problem, signals, damaged);
      }
    }
  }
}

TEST(TunedPolicy, TextsOfOtherProblemsAreRefused) {
  const DenseProblem line = dense_problem(Shape(256), false), real = dense_problem(Shape(256), true),
                     image = dense_problem(Shape({16, 16}), false),
                     apart = dense_problem(Shape(256), false, 1, {{2, 0, 0}, 512}),
                     pitched = dense_problem(Shape({4, 4, 4}), false, 1, {{32, 8, 1}, 128});
  const TransformPolicy factored = rule_policy(line, true, {16, 16});
  for (const DenseProblem& problem : {real, image, apart, dense_problem(Shape(512), false)})
    EXPECT_EQ(code_of([&] { lay_out({problem}, factored); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] {
              lay_out({pitched}, rule_policy(dense_problem(Shape({4, 4, 4}), false), true));
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { lay_out({image}, TransformPolicy{}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { lay_out({line}, rule_policy(image, true)); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sfft::test::tuned_policy_test
