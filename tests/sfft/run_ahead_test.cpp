// SPDX-License-Identifier: Apache-2.0
// Tests frames that are transformed ahead. Whatever is begun, abandoned, refused or fails, every frame gets
// the spectrum of its samples by the current plan, and memory that was given back is not read again.
#include "sfft/tracking/frame_pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/sfft/emulated_plan.hpp"
#include "tests/support/throws.hpp"

namespace sfft::detail::run_ahead_test {
namespace {

using test::code_of;
using namespace test_emulation;

/// Number of the first of frames that are no part of the stream.
constexpr std::int64_t kElsewhere = 1000;

/// Takes all frames in pushes of random sizes, with random views of the following frames, as a tracker does,
/// and as it would if everything went wrong.
void take_all(unsigned seed, Events& events) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  Stream stream(300), elsewhere(60);
  const Plan<float> plans[] = {emulated(1, events), emulated(-1, events)};
  std::size_t plan = 0;
  double reference = 0;
  FramePipeline<float> ahead(plans[0]);
  Spectrum<float> spectrum;
  for (std::size_t at = 0; at < stream.views.size(); ++at) {
    const auto rest = std::span<const SignalView>(stream.views).subspan(at);
    const StreamFrames known{rest.first(1 + below(std::min<std::size_t>(rest.size(), 40))),
                             static_cast<std::int64_t>(at)};
    switch (below(24)) {
      case 0:
        ahead.use(plans[plan = 1 - plan]);
        reference = 0;
        break;
      case 6:
      case 7: {
        const std::vector<std::complex<double>> value{reference = static_cast<double>(below(100))};
        ahead.use(plans[plan].with_reference(stream.views[at], value));
        break;
      }
      case 1:  // frames that never come, and whose memory is freed
        ahead.submit({elsewhere.views, kElsewhere}, 1 + below(60));
        ahead.cancel();
        for (Samples& frame : elsewhere.samples) frame.fill(-1e6F);
        break;
      case 2:  // the same, but only the next frame shows it
        ahead.submit({std::span<const SignalView>(elsewhere.views).first(9), kElsewhere}, 9);
        break;
      case 3:
        ahead.cancel();
        break;
      case 4:
        ahead.try_again();
        break;
      case 5:
        ahead.submit(known, below(50));
        ahead.poll();
        break;
      default:
        break;
    }
    ahead.take(known, 1 + below(20), below(6) == 0 ? 1 : below(60), spectrum);
    const float expected = (plan == 0 ? 1.0F : -1.0F) * stream.value(at) + static_cast<float>(reference);
    ASSERT_EQ(spectrum.values.at(0), std::complex<float>(expected)) << "frame " << at << ", seed " << seed;
    // The caller may reuse its memory.
    stream.samples[at].fill(-1e6F);
  }
}

TEST(RunAhead, EveryFrameGetsItsOwnSpectrum) {
  int again = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Events events;
    events.part = 1 + seed % 9;
    events.slots = 1 + seed % 4;
    events.devices = 1 + static_cast<int>(seed % 3);
    take_all(seed, events);
    if (HasFatalFailure()) return;
    EXPECT_GT(events.begun, 100) << "nothing ran ahead";
    EXPECT_GT(events.abandoned, 0);
    again += events.again;
  }
  EXPECT_GT(again, 1000) << "references hardly changed while frames were ahead";
}

TEST(RunAhead, FailuresAheadCostNoFrame) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Events events;
    events.one_in = 2 + seed % 12;
    events.devices = 1 + static_cast<int>(seed % 3);
    events.random.seed(seed);
    take_all(seed, events);
    if (HasFatalFailure()) return;
    EXPECT_GT(events.failed, 0);
    EXPECT_GT(events.executed, 0);
  }
}

TEST(RunAhead, AFrameThatIsRefusedFailsInItsTurn) {
  Events events;
  Stream stream(20);
  const std::vector<float> small(2);
  stream.views[7] = SignalView(small, Shape{2});
  FramePipeline<float> ahead(emulated(1, events));
  Spectrum<float> spectrum;
  for (std::size_t at = 0; at < 20; ++at) {
    const auto take = [&] {
      ahead.take({std::span<const SignalView>(stream.views).subspan(at), static_cast<std::int64_t>(at)}, 20,
                 20, spectrum);
    };
    if (at == 7) {
      EXPECT_EQ(code_of(take), ErrorCode::shape_mismatch);
      ahead.cancel();
      continue;
    }
    take();
    EXPECT_EQ(spectrum.values.at(0), std::complex<float>(stream.value(at))) << at;
  }
  EXPECT_GE(events.begun, 15);
}

TEST(RunAhead, FramesThatMayBeJoinedByMoreWaitForAWholePart) {
  Events events;  // parts of four
  Stream stream(40);
  FramePipeline<float> ahead(emulated(1, events));
  Spectrum<float> spectrum;
  const auto views = std::span<const SignalView>(stream.views);
  ahead.take({views.first(11), 0}, 6, 11, spectrum);
  EXPECT_EQ(events.begun, 8) << "of six that are taken next and five that come later";
  ahead.cancel();
  ahead.take({views.subspan(1, 6), 1}, 6, 6, spectrum);
  EXPECT_EQ(events.begun, 8 + 6) << "nothing comes later";
}

TEST(RunAhead, TheEndWaitsForWhatIsUnderWay) {
  Events events;
  Stream stream(12);
  {
    FramePipeline<float> ahead(emulated(1, events));
    ahead.submit({stream.views, 0}, 12);
  }
  EXPECT_GT(events.begun, 0);
  EXPECT_EQ(events.abandoned, 1);
}

}  // namespace
}  // namespace sfft::detail::run_ahead_test
