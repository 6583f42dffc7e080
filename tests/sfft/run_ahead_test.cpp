// SPDX-License-Identifier: Apache-2.0
// Frames that are transformed ahead: whatever is begun, given up, refused or fails, every frame gets the
// spectrum of its own samples by the plan in force, and memory that was given back is read no more. A GPU is
// emulated that reads frames as late as it may, or several that take parts in turn.
#include "sfft/tracking/run_ahead.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <numeric>
#include <random>

#include "sfft/error.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/plan/shared_device_plan.hpp"
#include "tests/support/throws.hpp"

namespace sfft::detail {
namespace {

using test::code_of;

constexpr std::size_t kPoints = 4;
const Shape kShape{static_cast<std::int64_t>(kPoints)};
using Samples = std::array<float, kPoints>;

/// What happens on the GPU, and what is to go wrong there.
struct Events {
  int begun = 0, executed = 0, abandoned = 0, failed = 0;
  std::size_t slots = 3, part = 4;
  unsigned one_in = 0;  ///< calls of which one fails; 0: none
  int devices = 1;      ///< GPUs that take parts in turn
  std::mt19937 random{1};

  void may_fail() {
    if (one_in == 0 || random() % one_in != 0) return;
    ++failed;
    throw Error(ErrorCode::out_of_memory, "no memory for this");
  }
};

class EmulatedPlan final : public DevicePlan<float> {
 public:
  EmulatedPlan(float sign, Events& events) : sign_(sign), events_(events) {}

  std::string describe() const override { return "emulated"; }
  bool takes_reference() const noexcept override { return false; }
  std::shared_ptr<const DeviceReference> make_reference(
      const SignalView&, std::span<const std::complex<double>>) const override {
    return nullptr;
  }
  std::unique_ptr<DeviceWorkspace> make_workspace(int) const override { return std::make_unique<Parts>(); }
  void enqueue(const DeviceFrames&, const DeviceSpectra<float>&, const DeviceReference*, DeviceWorkspace&,
               CUstream_st*) const override {}

  void execute(std::span<const SignalView> frames, std::span<Spectrum<float>> spectra, const DeviceReference*,
               DeviceWorkspace& workspace, cpu::ThreadPool*) const override {
    EXPECT_TRUE(static_cast<Parts&>(workspace).under_way.empty()) << "execute() while frames are under way";
    for (std::size_t i = 0; i < frames.size(); ++i) transform(frames[i], spectra[i]);
    events_.executed += static_cast<int>(frames.size());
  }
  std::size_t part_ahead() const noexcept override { return events_.part; }
  std::size_t begin(std::span<const SignalView> frames, std::span<Spectrum<float>> spectra,
                    const DeviceReference*, DeviceWorkspace& workspace, cpu::ThreadPool*) const override {
    auto& parts = static_cast<Parts&>(workspace);
    std::size_t begun = 0;
    while (begun < frames.size() && parts.under_way.size() < events_.slots) {
      try {
        events_.may_fail();
      } catch (const Error&) {
        parts.under_way.clear();
        throw;
      }
      const std::size_t count = std::min(events_.part, frames.size() - begun);
      const auto some = frames.subspan(begun, count);
      parts.under_way.push_back({{some.begin(), some.end()}, spectra.subspan(begun, count)});
      begun += count;
    }
    events_.begun += static_cast<int>(begun);
    return begun;
  }
  bool ready(DeviceWorkspace& workspace) const override {
    return !static_cast<Parts&>(workspace).under_way.empty() && events_.random() % 3 > 0;
  }
  std::size_t finish(DeviceWorkspace& workspace) const override {
    auto& parts = static_cast<Parts&>(workspace);
    if (parts.under_way.empty()) return 0;
    try {
      events_.may_fail();
    } catch (const Error&) {
      parts.under_way.clear();
      throw;
    }
    const auto part = parts.under_way.front();
    parts.under_way.pop_front();
    for (std::size_t i = 0; i < part.frames.size(); ++i) transform(part.frames[i], part.spectra[i]);
    return part.frames.size();
  }
  void abandon(DeviceWorkspace& workspace) const noexcept override {
    static_cast<Parts&>(workspace).under_way.clear();
    ++events_.abandoned;
  }

 private:
  struct Part {
    std::vector<SignalView> frames;
    std::span<Spectrum<float>> spectra;
  };
  struct Parts final : DeviceWorkspace {
    std::deque<Part> under_way;
    std::size_t bytes() const noexcept override { return 0; }
    int capacity() const noexcept override { return 1; }
  };

  void transform(const SignalView& frame, Spectrum<float>& spectrum) const {
    const auto* samples = static_cast<const float*>(frame.data());
    spectrum.values.at(0) = sign_ * std::accumulate(samples, samples + kPoints, 0.0F);
  }

  float sign_;
  Events& events_;
};

Plan<float> emulated(float sign, Events& events) {
  const std::vector<std::int64_t> support{0};
  auto design = std::make_shared<PlanDesign<float>>(Template::from_support(kShape, true, support));
  design->info.path = Path::comb;
  std::vector<std::unique_ptr<const DevicePlan<float>>> devices;
  for (int i = 0; i < events.devices; ++i) devices.push_back(std::make_unique<EmulatedPlan>(sign, events));
  if (events.devices == 1) {
    design->device = std::move(devices[0]);
  } else {
    design->device = std::make_unique<SharedDevicePlan<float>>(
        std::move(devices), std::vector<int>(static_cast<std::size_t>(events.devices), 0));
  }
  auto plan = std::make_shared<PlanImpl<float>>();
  plan->design = std::move(design);
  return PlanAccess<float>::plan_of(std::move(plan));
}

struct Stream {
  explicit Stream(std::size_t frames) : samples(frames) {
    for (std::size_t i = 0; i < frames; ++i) samples[i] = {static_cast<float>(i), 1, 2, 3};
    for (const Samples& frame : samples) views.emplace_back(std::span<const float>(frame), kShape);
  }
  float value(std::size_t i) const { return static_cast<float>(i) + 6; }

  std::vector<Samples> samples;
  std::vector<SignalView> views;
};

/// Takes all frames, in pushes of random sizes with random views of what comes, as a tracker does and as it
/// would if everything went wrong.
void take_all(unsigned seed, Events& events) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  Stream stream(300), elsewhere(60);
  const Plan<float> plans[] = {emulated(1, events), emulated(-1, events)};
  std::size_t plan = 0;
  RunAhead<float> ahead(plans[0]);
  Spectrum<float> spectrum;
  for (std::size_t at = 0; at < stream.views.size(); ++at) {
    const auto rest = std::span<const SignalView>(stream.views).subspan(at);
    const auto known = rest.first(1 + below(std::min<std::size_t>(rest.size(), 40)));
    switch (below(24)) {
      case 0:
        ahead.use(plans[plan = 1 - plan]);
        break;
      case 1:  // frames that never come, and whose memory goes
        ahead.begin(elsewhere.views, 1 + below(60));
        ahead.forget();
        for (Samples& frame : elsewhere.samples) frame.fill(-1e6F);
        break;
      case 2:  // the same, but the next frame is the first to say so
        ahead.begin(std::span<const SignalView>(elsewhere.views).first(9), 9);
        break;
      case 3:
        ahead.forget();
        break;
      case 4:
        ahead.try_again();
        break;
      case 5:
        ahead.begin(known, below(50));
        ahead.collect();
        break;
      default:
        break;
    }
    ahead.take(known, 1 + below(20), below(6) == 0 ? 1 : below(60), spectrum);
    const float expected = (plan == 0 ? 1.0F : -1.0F) * stream.value(at);
    ASSERT_EQ(spectrum.values.at(0), std::complex<float>(expected)) << "frame " << at << ", seed " << seed;
    // The caller may use its memory again.
    stream.samples[at].fill(-1e6F);
  }
}

TEST(RunAhead, EveryFrameGetsItsOwnSpectrum) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Events events;
    events.part = 1 + seed % 9;
    events.slots = 1 + seed % 4;
    events.devices = 1 + static_cast<int>(seed % 3);
    take_all(seed, events);
    if (HasFatalFailure()) return;
    EXPECT_GT(events.begun, 100) << "nothing ran ahead";
    EXPECT_GT(events.abandoned, 0);
  }
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
  RunAhead<float> ahead(emulated(1, events));
  Spectrum<float> spectrum;
  for (std::size_t at = 0; at < 20; ++at) {
    const auto take = [&] {
      ahead.take(std::span<const SignalView>(stream.views).subspan(at), 20, 20, spectrum);
    };
    if (at == 7) {
      EXPECT_EQ(code_of(take), ErrorCode::shape_mismatch);
      ahead.forget();
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
  RunAhead<float> ahead(emulated(1, events));
  Spectrum<float> spectrum;
  const auto views = std::span<const SignalView>(stream.views);
  ahead.take(views.first(11), 6, 11, spectrum);
  EXPECT_EQ(events.begun, 8) << "of six that are taken next and five that come later";
  ahead.forget();
  ahead.take(views.subspan(1, 6), 6, 6, spectrum);
  EXPECT_EQ(events.begun, 8 + 6) << "nothing comes later";
}

TEST(RunAhead, TheEndWaitsForWhatIsUnderWay) {
  Events events;
  Stream stream(12);
  {
    RunAhead<float> ahead(emulated(1, events));
    ahead.begin(stream.views, 12);
  }
  EXPECT_GT(events.begun, 0);
  EXPECT_EQ(events.abandoned, 1);
}

}  // namespace
}  // namespace sfft::detail
