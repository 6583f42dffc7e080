// SPDX-License-Identifier: Apache-2.0
// Tests that the change from a kept frame to others equals a sum over their difference, whether it or the
// copy of the kept frame runs in the background, and that memory that was given back is not read again.
#include "sfft/tracking/stream_memory.hpp"

#include <gtest/gtest.h>

#include <future>
#include <random>
#include <stdexcept>
#include <vector>

namespace sfft::detail::stream_memory_test {
namespace {

// Large enough for copies in the background.
const Shape kShape{1024, 640};
using Samples = std::vector<std::uint8_t>;

double distance(const Samples& a, const Samples& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

TEST(StreamMemory, ChangesAreTheSameInTheBackground) {
  std::mt19937 random(5);
  std::vector<Samples> frames(12, Samples(static_cast<std::size_t>(kShape.points())));
  for (Samples& frame : frames) {
    for (std::uint8_t& sample : frame) sample = static_cast<std::uint8_t>(random());
  }
  const std::vector<std::complex<double>> values{{3, 4}};
  const std::vector<double> multiplicity{1};
  StreamMemory memory;
  Samples kept;
  std::vector<Samples> memories(4);  // hold the caller's frames in turn
  const auto place = [&](std::size_t i) -> SignalView {
    memories[i % 4] = frames[i % frames.size()];
    return {memories[i % 4], kShape};
  };
  for (std::size_t i = 0; i < 60; ++i) {
    std::vector<SignalView> views;
    for (std::size_t j = 0; j < 4; ++j) views.push_back(place(4 * i + j));
    const auto number = [&](std::size_t j) { return static_cast<std::int64_t>(4 * i + j); };
    for (std::size_t j = 0; j < 4; ++j) {
      if (random() % 2 == 0) memory.begin(views[j], number(j));
    }
    for (std::size_t j = 0; j < 4; ++j) {
      const Samples& frame = frames[(4 * i + j) % frames.size()];
      if (!memory.empty() && random() % 3 > 0) {
        const auto change = memory.change(views[j], number(j), values, multiplicity);
        EXPECT_EQ(change.support, 0);
        EXPECT_EQ(change.outside, static_cast<double>(kShape.points()) * distance(frame, kept));
      }
      if (random() % 6 > 0) continue;
      memory.keep(views[j], values, random() % 2 == 0);
      kept = frame;
      for (std::size_t other = 0; other < 4; ++other) {
        if (random() % 3 == 0)
          memory.begin(views[other], number(other));  // while the kept frame is being copied
      }
    }
    random() % 4 == 0 ? memory.settle() : memory.keep_only(0, 0);
    for (Samples& one : memories) std::ranges::fill(one, std::uint8_t{0});
  }
  memory.forget();
  EXPECT_TRUE(memory.empty());
}

TEST(Worker, DoesItsJobsInTurnAndAllBeforeItEnds) {
  std::vector<int> done;
  std::future<int> sum;
  {
    Worker worker;
    for (int i = 0; i < 200; ++i) worker.give([&done, i] { done.push_back(i); });
    sum = worker.ask([&done] { return static_cast<int>(done.size()); });
    EXPECT_EQ(sum.get(), 200);
    EXPECT_THROW(worker.ask([]() -> int { throw std::runtime_error("a job"); }).get(), std::runtime_error);
    for (int i = 200; i < 300; ++i) worker.give([&done, i] { done.push_back(i); });
  }
  ASSERT_EQ(done.size(), 300u);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace sfft::detail::stream_memory_test
