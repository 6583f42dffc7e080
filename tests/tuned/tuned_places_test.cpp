// SPDX-License-Identifier: Apache-2.0
// Places in shared memory: one for every point, and no bank met twice at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernels/dense/tuned/choice.hpp"
#include "kernels/dense/tuned/places.hpp"

namespace sfft {
namespace {

using detail::tuned::Choice;
using detail::tuned::convolution;
using detail::tuned::Convolution;
using detail::tuned::Method;
using detail::tuned::Step;

/// A step over lines of `points`, a prime.
Step step_of(int points, const std::string& line) {
  const Choice choice = *detail::tuned::parse_choice("once 0 streams 1 blocks 1 chunk 16 split - | " + line);
  Step step;
  step.points = points;
  step.method = Method::rader;
  step.line = choice.lines[0];
  return step;
}

class Table {
 public:
  Table(const std::vector<int>& addresses, int threads, int bytes)
      : addresses_(addresses), threads_(threads), bytes_(bytes) {}
  /// Where a thread's access of this step goes.
  int place(int step, int thread) const {
    const std::size_t pitch = addresses_.size() / static_cast<std::size_t>(threads_);
    const int address = addresses_[static_cast<std::size_t>(thread) * pitch + static_cast<std::size_t>(step)];
    EXPECT_EQ(address % bytes_, 0);
    return address / bytes_;
  }

 private:
  const std::vector<int>& addresses_;
  int threads_, bytes_;
};

/// The places of all points by their numbers; `point` says which one a thread accesses, −1 none.
template <class Point>
std::map<int, int> places_of(const Table& table, int steps, int threads, int banks, const Point& point) {
  std::map<int, int> places;
  for (int step = 0; step < steps; ++step) {
    for (int group = 0; group < threads; group += banks) {
      std::set<int> met;
      for (int thread = group; thread < std::min(threads, group + banks); ++thread) {
        const int own = point(step, thread);
        if (own < 0) continue;
        const int place = table.place(step, thread);
        EXPECT_TRUE(met.insert(place % banks).second) << "step " << step << ", thread " << thread;
        EXPECT_TRUE(places.emplace(own, place).second) << "point " << own;
      }
    }
  }
  return places;
}

void expect_right(int points, const std::string& line, bool single) {
  SCOPED_TRACE(line);
  const Step step = step_of(points, line);
  ASSERT_TRUE(step.has_places());
  const Convolution made = convolution(step);
  const auto placed = placed_permutations(step, made, single);
  const int threads = step.line.threads, banks = single ? 16 : 8, bytes = single ? 8 : 16,
            radix = step.line.radices[0], apart = step.line.length() / radix;
  const int rounds = (apart + threads - 1) / threads, steps = (points + threads - 1) / threads,
            groups = (threads + banks - 1) / banks;
  EXPECT_LE(steps * groups * banks, detail::tuned::places_of(step.line, points, single));
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
    auto memory = places_of(Table(lying, threads, bytes), steps, threads, banks, in_order);
    const auto pass = places_of(Table(held, threads, bytes), rounds * radix, threads, banks, of_pass(order));
    EXPECT_EQ(memory.size(), static_cast<std::size_t>(points));
    EXPECT_EQ(memory[0], 0);
    std::set<int> all;
    for (const auto& [point, place] : memory) {
      EXPECT_TRUE(all.insert(place).second) << point;
      EXPECT_LT(place, steps * groups * banks);
    }
    EXPECT_EQ(pass.size(), static_cast<std::size_t>(points) - 1);
    for (const auto& [point, place] : pass) EXPECT_EQ(place, memory[point]) << point;
  };
  check(placed.store, placed.gather, made.gather);
  check(placed.load, placed.scatter, made.scatter);
}

TEST(TunedPlaces, NoBankIsMetTwice) {
  for (const bool single : {true, false}) {
    expect_right(1021, "3.20.17 t60 l1 c", single);
    expect_right(1021, "5.12.17 t85 l1 c", single);
    expect_right(1021, "17.4.15 t255 l1 c", single);
    expect_right(127, "18.7 t7 l1 c", single);
    expect_right(61, "4.15 t5 l1 c", single);
    expect_right(31, "2.15 t1 l1 c", single);
    expect_right(2311, "7.10.3.11 t231 l1 c", single);
  }
}

/// Primes before which a number has co-prime factors; GPUs with little shared memory and with much.
TEST(TunedPlaces, CandidatesFitTheirBlock) {
  int placed = 0;
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
          kernel.step.line = line;
          EXPECT_LE(kernel.shared_bytes(single), bytes) << n;
          placed += kernel.step.has_places();
        }
      }
    }
  }
  EXPECT_GT(placed, 0);
}

TEST(TunedPlaces, OnlyOfOneStagedLineWithoutTwiddleFactors) {
  EXPECT_TRUE(step_of(1021, "3.20.17 t60 l1 c").has_places());
  EXPECT_FALSE(step_of(1021, "3.20.17 t60 l1").has_places());
  EXPECT_FALSE(step_of(1021, "3.20.17 t60 l2 c").has_places());
  EXPECT_FALSE(step_of(1021, "3.20.17 t20 l16 c x").has_places());
  EXPECT_FALSE(step_of(251, "25.10 t10 l1 c").has_places()) << "factors that are not co-prime";
  Step half = step_of(1021, "3.20.17 t60 l1 c");
  half.out.form = detail::tuned::Form::half_pairs;
  EXPECT_FALSE(half.has_places()) << "half a spectrum of pairs";
}

}  // namespace
}  // namespace sfft
