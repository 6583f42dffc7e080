// SPDX-License-Identifier: Apache-2.0
// Tests dense transforms in the background of a stream. In whatever order frames are begun, requested,
// skipped and dropped, and whatever fails, each gets the spectrum of its samples, and memory that was given
// back is not read again.
#include "sfft/tracking/frame_pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/sfft/emulated_plan.hpp"

namespace sfft::detail::background_dense_test {
namespace {

using namespace test_emulation;

void transform_some(unsigned seed, Events& events) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  Stream stream(400);
  const Plan<float> plans[] = {emulated(1, events), emulated(-1, events)};
  std::size_t plan = 0, given_back = 0;
  BackgroundDense<float> dense(PlanOptions{});
  dense.renew(plans[0]);
  Spectrum<float> spectrum;
  for (std::size_t at = 0; at < stream.views.size(); ++at) {
    const auto rest = std::span<const SignalView>(stream.views).subspan(at);
    const auto number = static_cast<std::int64_t>(at);
    for (std::size_t more = below(4); more > 0; --more) {
      const std::size_t next = below(std::min<std::size_t>(rest.size(), 12));
      dense.submit(rest[next], number + static_cast<std::int64_t>(next));
    }
    const std::complex<float> expected((plan == 0 ? 1.0F : -1.0F) * stream.value(at));
    if (const Spectrum<float>* found = dense.found(number)) {
      ASSERT_EQ(found->values.at(0), expected) << "frame " << at << ", seed " << seed;
    }
    if (below(2) == 0) {
      dense.execute(plans[plan].source(), rest[0], number, spectrum);
      ASSERT_EQ(spectrum.values.at(0), expected) << "frame " << at << ", seed " << seed;
    }
    dense.discard(number);
    if (below(10) == 0) dense.renew(plans[plan = 1 - plan]);
    const std::size_t way = below(30);
    if (way > 3) continue;
    if (way == 0)
      dense.cancel();
    else
      dense.keep_only({rest.subspan(1, std::min(below(16), rest.size() - 1)), number + 1});
    // The caller may reuse its memory.
    for (; given_back <= at; ++given_back) stream.samples[given_back].fill(-1e6F);
  }
}

TEST(BackgroundDense, EveryFrameGetsItsOwnSpectrum) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Events events;
    transform_some(seed, events);
    if (HasFatalFailure()) return;
    EXPECT_GT(events.begun, 100) << "nothing ran in the background";
  }
}

TEST(BackgroundDense, BackgroundFailuresLoseNoFrame) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Events events;
    events.one_in = 2 + seed % 9;
    events.random.seed(seed);
    transform_some(seed, events);
    if (HasFatalFailure()) return;
    EXPECT_GT(events.failed, 0);
    EXPECT_GT(events.executed, 0);
  }
}

}  // namespace
}  // namespace sfft::detail::background_dense_test
