// SPDX-License-Identifier: Apache-2.0
// Tests slots in shared memory: no two points share one, and no access meets a bank twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernels/dense/tuned/plan/program.hpp"
#include "kernels/dense/tuned/plan/shared_layout.hpp"
#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/run/bank_slots.hpp"
#include "kernels/dense/tuned/search/candidates.hpp"

namespace sfft::tuned_bank_slots_test {
namespace {

using detail::tuned::convolution;
using detail::tuned::Convolution;
using detail::tuned::Method;
using detail::tuned::Step;
using detail::tuned::TransformPolicy;

/// A step over lines of `points`, a prime.
Step step_of(int points, const std::string& line) {
  const TransformPolicy policy = *detail::tuned::parse_policy(line);
  Step step;
  step.points = points;
  step.method = Method::rader;
  step.policy = policy.kernels[0];
  return step;
}

class Table {
 public:
  Table(const std::vector<int>& addresses, int threads, int bytes)
      : addresses_(addresses), threads_(threads), bytes_(bytes) {}
  /// The slot that a thread accesses in this step.
  int slot(int step, int thread) const {
    const std::size_t pitch = addresses_.size() / static_cast<std::size_t>(threads_);
    const int address = addresses_[static_cast<std::size_t>(thread) * pitch + static_cast<std::size_t>(step)];
    EXPECT_EQ(address % bytes_, 0);
    return address / bytes_;
  }

 private:
  const std::vector<int>& addresses_;
  int threads_, bytes_;
};

/// The slots of all points by number. `point` says which one a thread accesses, or −1 for none.
template <class Point>
std::map<int, int> slots_of(const Table& table, int steps, int threads, int banks, const Point& point) {
  std::map<int, int> slots;
  for (int step = 0; step < steps; ++step) {
    for (int group = 0; group < threads; group += banks) {
      std::set<int> met;
      for (int thread = group; thread < std::min(threads, group + banks); ++thread) {
        const int own = point(step, thread);
        if (own < 0) continue;
        const int slot = table.slot(step, thread);
        EXPECT_TRUE(met.insert(slot % banks).second) << "step " << step << ", thread " << thread;
        EXPECT_TRUE(slots.emplace(own, slot).second) << "point " << own;
      }
    }
  }
  return slots;
}

void expect_right(int points, const std::string& line, bool single) {
  SCOPED_TRACE(line);
  const Step step = step_of(points, line);
  ASSERT_TRUE(step.conflict_free());
  const Convolution made = convolution(step);
  const auto tables = slot_tables(step, made, single);
  const int threads = step.policy.threads_per_transform, banks = single ? 16 : 8, bytes = single ? 8 : 16,
            radix = step.policy.radices[0], apart = step.policy.length() / radix;
  const int rounds = (apart + threads - 1) / threads, steps = (points + threads - 1) / threads,
            groups = (threads + banks - 1) / banks;
  EXPECT_LE(steps * groups * banks, detail::tuned::conflict_free_slots(step.policy, points, single));
  const auto in_order = [&](int s, int thread) {
    return s * threads + thread < points ? s * threads + thread : -1;
  };
  const auto of_pass = [&](const std::vector<int>& order) {
    return [&order, threads, radix, apart](int s, int thread) {
      const int butterfly = s / radix * threads + thread;
      return butterfly < apart ? order[static_cast<std::size_t>(butterfly + s % radix * apart)] : -1;
    };
  };
  const auto check = [&](const std::vector<int>& lying, const std::vector<int>& held,
                         const std::vector<int>& order) {
    auto memory = slots_of(Table(lying, threads, bytes), steps, threads, banks, in_order);
    const auto pass = slots_of(Table(held, threads, bytes), rounds * radix, threads, banks, of_pass(order));
    EXPECT_EQ(memory.size(), static_cast<std::size_t>(points));
    EXPECT_EQ(memory[0], 0);
    std::set<int> all;
    for (const auto& [point, slot] : memory) {
      EXPECT_TRUE(all.insert(slot).second) << point;
      EXPECT_LT(slot, steps * groups * banks);
    }
    EXPECT_EQ(pass.size(), static_cast<std::size_t>(points) - 1);
    for (const auto& [point, slot] : pass) EXPECT_EQ(slot, memory[point]) << point;
  };
  check(tables.store, tables.gather, made.gather);
  check(tables.load, tables.scatter, made.scatter);
}

TEST(TunedBankSlots, NoBankIsMetTwice) {
  for (const bool single : {true, false}) {
    expect_right(1021, "kernel radices=3.20.17 threads_per_transform=60 staged=1", single);
    expect_right(1021, "kernel radices=5.12.17 threads_per_transform=85 staged=1", single);
    expect_right(1021, "kernel radices=17.4.15 threads_per_transform=255 staged=1", single);
    expect_right(127, "kernel radices=18.7 threads_per_transform=7 staged=1", single);
    expect_right(61, "kernel radices=4.15 threads_per_transform=5 staged=1", single);
    expect_right(31, "kernel radices=2.15 staged=1", single);
    expect_right(2311, "kernel radices=7.10.3.11 threads_per_transform=231 staged=1", single);
  }
}

/// Takes primes p for which p − 1 has co-prime factors, on GPUs with little and with much shared memory.
TEST(TunedBankSlots, CandidatesFitTheirBlock) {
  int tables = 0;
  for (const int n : {31, 61, 67, 79, 103, 127, 241, 331, 661, 991, 1021, 1531, 2311, 3121, 8191}) {
    for (const bool single : {true, false}) {
      for (const std::size_t bytes : {48u << 10, 64u << 10, 99u << 10, 163u << 10, 227u << 10}) {
        const detail::tuned::LineNeed need{.points = n};
        if (!detail::tuned::fits(n, single, {bytes})) continue;
        for (const auto& line : detail::tuned::candidates(need, single, {bytes}, 8)) {
          if (line.length() != n - 1) continue;
          detail::tuned::Kernel kernel;
          kernel.step.points = n;
          kernel.step.method = Method::rader;
          kernel.step.policy = line;
          EXPECT_LE(kernel.shared_bytes(single), bytes) << n;
          tables += kernel.step.conflict_free();
        }
      }
    }
  }
  EXPECT_GT(tables, 0);
}

TEST(TunedBankSlots, OnlyOfOneStagedTransformWithoutTwiddleFactors) {
  EXPECT_TRUE(step_of(1021, "kernel radices=3.20.17 threads_per_transform=60 staged=1").conflict_free());
  EXPECT_FALSE(step_of(1021, "kernel radices=3.20.17 threads_per_transform=60").conflict_free());
  EXPECT_FALSE(
      step_of(1021, "kernel radices=3.20.17 threads_per_transform=60 transforms_per_block=2 staged=1")
          .conflict_free());
  EXPECT_FALSE(step_of(1021,
                       "kernel radices=3.20.17 threads_per_transform=20 transforms_per_block=16 staged=1 "
                       "interleaved_threads=1")
                   .conflict_free());
  EXPECT_FALSE(step_of(251, "kernel radices=25.10 threads_per_transform=10 staged=1").conflict_free())
      << "factors that are not co-prime";
  Step half = step_of(1021, "kernel radices=3.20.17 threads_per_transform=60 staged=1");
  half.out.form = detail::tuned::Form::half_pairs;
  EXPECT_FALSE(half.conflict_free()) << "half a spectrum of pairs";
}

}  // namespace
}  // namespace sfft::tuned_bank_slots_test
