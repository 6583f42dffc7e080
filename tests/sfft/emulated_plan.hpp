// SPDX-License-Identifier: Apache-2.0
// Emulates on the host a GPU that reads frames as late as it may, or several GPUs that take parts in turn.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <numeric>
#include <random>

#include "sfft/error.hpp"
#include "sfft/plan/plan_impl.hpp"

namespace sfft::detail::test_emulation {

constexpr std::size_t kPoints = 4;
inline const Shape kShape{static_cast<std::int64_t>(kPoints)};
using Samples = std::array<float, kPoints>;

/// Records what happens on the GPU, and sets what fails there.
struct Events {
  int begun = 0, executed = 0, again = 0, abandoned = 0, failed = 0;
  std::size_t slots = 3, part = 4;
  unsigned one_in = 0;  ///< one in this many calls fails; 0 means none
  int devices = 1;      ///< GPUs that take parts in turn
  std::mt19937 random{1};

  void may_fail() {
    if (one_in == 0 || random() % one_in != 0) return;
    ++failed;
    throw Error(ErrorCode::out_of_memory, "no memory for this");
  }
};

/// A reference that adds to every spectrum.
struct EmulatedReference final : PlanReference {
  explicit EmulatedReference(float v) : value(v) {}
  float value;
};

class EmulatedPlan final : public PlanExecutor<float> {
 public:
  EmulatedPlan(float sign, Events& events) : sign_(sign), events_(events) {}

  Backend backend() const noexcept override { return Backend::cuda; }
  std::string describe() const override { return "emulated"; }
  bool takes_reference() const noexcept override { return true; }
  std::shared_ptr<const PlanReference> make_reference(const SignalView&,
                                                      std::span<const std::complex<double>> values,
                                                      double) const override {
    return std::make_shared<EmulatedReference>(static_cast<float>(values[0].real()));
  }
  std::unique_ptr<PlanWorkspace> make_workspace(int, int) const override { return std::make_unique<Parts>(); }
  void enqueue(const DeviceFrames&, const Plan<float>::DeviceSpectra&, const PlanReference*, PlanWorkspace&,
               CUstream_st*) const override {}

  void execute(std::span<const SignalView> frames, std::span<Spectrum<float>> spectra,
               const PlanReference* reference, PlanWorkspace& workspace, cpu::ThreadPool*) const override {
    EXPECT_TRUE(static_cast<Parts&>(workspace).under_way.empty()) << "execute() while frames are under way";
    for (std::size_t i = 0; i < frames.size(); ++i) transform(frames[i], spectra[i], reference);
    events_.executed += static_cast<int>(frames.size());
  }
  std::size_t part_ahead() const noexcept override { return events_.part; }
  std::size_t submit(std::span<const SignalView> frames, std::span<Spectrum<float>> spectra,
                     const PlanReference* reference, PlanWorkspace& workspace,
                     cpu::ThreadPool*) const override {
    auto& parts = static_cast<Parts&>(workspace);
    std::size_t begun = 0;
    while (begun < frames.size() && parts.under_way.size() < events_.slots) {
      try {
        events_.may_fail();
      } catch (const Error&) {
        parts.clear();
        throw;
      }
      const std::size_t count = std::min(events_.part, frames.size() - begun);
      const auto some = frames.subspan(begun, count);
      const Part part{{some.begin(), some.end()}, spectra.subspan(begun, count), reference};
      parts.under_way.push_back(part);
      parts.sent.push_back(part);
      if (parts.sent.size() > events_.slots) parts.sent.pop_front();
      begun += count;
    }
    events_.begun += static_cast<int>(begun);
    return begun;
  }
  /// The frames keep the contents that they had when they were first sent.
  std::size_t resubmit(const Spectrum<float>& first, const PlanReference* reference,
                       PlanWorkspace& workspace) const override {
    auto& parts = static_cast<Parts&>(workspace);
    const auto holds = [&](const Part& part) {
      return &first >= part.spectra.data() && &first < part.spectra.data() + part.spectra.size();
    };
    const auto latest = std::ranges::find_if(parts.sent.rbegin(), parts.sent.rend(), holds);
    if (latest == parts.sent.rend()) return 0;
    parts.under_way.assign(latest.base() - 1, parts.sent.end());
    Part& oldest = parts.under_way.front();
    const auto skipped = static_cast<std::size_t>(&first - oldest.spectra.data());
    oldest.frames.erase(oldest.frames.begin(), oldest.frames.begin() + static_cast<std::ptrdiff_t>(skipped));
    oldest.spectra = oldest.spectra.subspan(skipped);
    std::size_t count = 0;
    for (Part& part : parts.under_way) {
      part.reference = reference;
      count += part.frames.size();
    }
    events_.again += static_cast<int>(count);
    return count;
  }
  bool ready(PlanWorkspace& workspace) const override {
    return !static_cast<Parts&>(workspace).under_way.empty() && events_.random() % 3 > 0;
  }
  std::size_t wait(PlanWorkspace& workspace) const override {
    auto& parts = static_cast<Parts&>(workspace);
    if (parts.under_way.empty()) return 0;
    try {
      events_.may_fail();
    } catch (const Error&) {
      parts.clear();
      throw;
    }
    const auto part = parts.under_way.front();
    parts.under_way.pop_front();
    for (std::size_t i = 0; i < part.frames.size(); ++i)
      transform(part.frames[i], part.spectra[i], part.reference);
    return part.frames.size();
  }
  void cancel(PlanWorkspace& workspace) const noexcept override {
    static_cast<Parts&>(workspace).clear();
    ++events_.abandoned;
  }

 private:
  struct Part {
    std::vector<SignalView> frames;
    std::span<Spectrum<float>> spectra;
    const PlanReference* reference = nullptr;
  };
  struct Parts final : PlanWorkspace {
    std::deque<Part> under_way, sent;  ///< oldest first
    void clear() {
      under_way.clear();
      sent.clear();
    }
  };

  void transform(const SignalView& frame, Spectrum<float>& spectrum, const PlanReference* reference) const {
    const auto* samples = static_cast<const float*>(frame.data());
    spectrum.values.at(0) = sign_ * std::accumulate(samples, samples + kPoints, 0.0F);
    if (reference != nullptr) spectrum.values[0] += static_cast<const EmulatedReference*>(reference)->value;
  }

  float sign_;
  Events& events_;
};

/// A plan whose spectra are the sums of the samples, times `sign`.
inline Plan<float> emulated(float sign, Events& events) {
  const std::vector<std::int64_t> support{0};
  auto design = std::make_shared<PlanDesign<float>>(Template::from_support(kShape, Domain::real, support),
                                                    PlanOptions{});
  design->info.path = Path::comb;
  std::vector<std::unique_ptr<const PlanExecutor<float>>> devices;
  for (int i = 0; i < events.devices; ++i) devices.push_back(std::make_unique<EmulatedPlan>(sign, events));
  if (events.devices == 1) {
    design->executor = std::move(devices[0]);
  } else {
    design->executor = share_frames<float>(std::move(devices),
                                           std::vector<int>(static_cast<std::size_t>(events.devices), 0));
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

}  // namespace sfft::detail::test_emulation
