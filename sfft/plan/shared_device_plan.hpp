// SPDX-License-Identifier: Apache-2.0
// A plan on several GPUs: each GPU has a plan, and they share the frames of a call.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/platform/thread_pool.hpp"
#include "sfft/error.hpp"
#include "sfft/plan/device_plan.hpp"

namespace sfft::detail {

template <class Real>
class SharedDevicePlan final : public DevicePlan<Real> {
 public:
  using Part = std::unique_ptr<const DevicePlan<Real>>;

  /// One part per device.
  SharedDevicePlan(std::vector<Part> parts, const std::vector<int>& devices) : parts_(std::move(parts)) {
    std::string names;
    for (const int device : devices) names += fmt::format("{}{}", names.empty() ? "" : ", ", device);
    const std::set<int> different(devices.begin(), devices.end());
    sharing_ =
        fmt::format("GPUs {} share the frames{}", names,
                    different.size() < devices.size() ? " (one of them named again: good for tests)" : "");
  }

  std::string describe() const override {
    return fmt::format("{}, each: {}", sharing_, parts_[0]->describe());
  }
  bool takes_reference() const noexcept override { return parts_[0]->takes_reference(); }

  std::shared_ptr<const DeviceReference> make_reference(const SignalView& frame,
                                                        std::span<const std::complex<double>> coefficients,
                                                        double error) const override {
    auto reference = std::make_shared<Reference>();
    for (const Part& part : parts_)
      reference->parts.push_back(part->make_reference(frame, coefficients, error));
    return reference;
  }

  std::unique_ptr<DeviceWorkspace> make_workspace(int frames) const override {
    auto workspace = std::make_unique<Workspace>(static_cast<int>(parts_.size()));
    const auto count = static_cast<int>(parts_.size());
    for (const Part& part : parts_)
      workspace->parts.push_back(part->make_workspace((frames + count - 1) / count));
    return workspace;
  }

  std::unique_ptr<DeviceWorkspace> refit(std::unique_ptr<DeviceWorkspace> old, int frames) const override {
    auto* const own = dynamic_cast<Workspace*>(old.get());
    if (own == nullptr || own->parts.size() != parts_.size()) {
      old.reset();
      return make_workspace(frames);
    }
    const auto count = static_cast<int>(parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p)
      own->parts[p] = parts_[p]->refit(std::move(own->parts[p]), (frames + count - 1) / count);
    return old;
  }

  /// Frames are in the memory of the first GPU.
  void enqueue(const DeviceFrames& frames, const typename Plan<Real>::DeviceSpectra& spectra,
               const DeviceReference* reference, DeviceWorkspace& workspace,
               CUstream_st* stream) const override {
    parts_[0]->enqueue(frames, spectra, part_of(reference, 0), *static_cast<Workspace&>(workspace).parts[0],
                       stream);
  }

  /// Uses one thread per GPU; the threads of `pool` gather for the first GPU.
  void execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
               const DeviceReference* reference, DeviceWorkspace& workspace,
               cpu::ThreadPool* pool) const override {
    auto& own = static_cast<Workspace&>(workspace);
    const std::size_t count = std::min(frames.size(), parts_.size());
    if (count <= 1) return parts_[0]->execute(frames, spectra, part_of(reference, 0), *own.parts[0], pool);
    cpu::for_each(&own.threads, count, [&](std::size_t p, int) {
      const std::size_t first = frames.size() * p / count, end = frames.size() * (p + 1) / count;
      parts_[p]->execute(frames.subspan(first, end - first), spectra.subspan(first, end - first),
                         part_of(reference, p), *own.parts[p], p == 0 ? pool : nullptr);
    });
  }

  /// Parts go to the GPUs in turn.
  std::size_t part_ahead() const noexcept override { return parts_[0]->part_ahead(); }
  std::size_t begin(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
                    const DeviceReference* reference, DeviceWorkspace& workspace,
                    cpu::ThreadPool* pool) const override {
    auto& own = static_cast<Workspace&>(workspace);
    const std::size_t part = std::max<std::size_t>(1, part_ahead());
    std::size_t begun = 0;
    try {
      while (begun < frames.size()) {
        const std::size_t p = own.next, wanted = std::min(part, frames.size() - begun);
        const std::size_t count =
            parts_[p]->begin(frames.subspan(begun, wanted), spectra.subspan(begun, wanted),
                             part_of(reference, p), *own.parts[p], p == 0 ? pool : nullptr);
        if (count == 0) break;
        own.under_way.push_back({p, count});
        own.next = (p + 1) % parts_.size();
        begun += count;
      }
    } catch (...) {
      abandon(workspace);
      throw;
    }
    return begun;
  }
  bool ready(DeviceWorkspace& workspace) const override {
    auto& own = static_cast<Workspace&>(workspace);
    if (own.under_way.empty()) return false;
    const auto [p, count] = own.under_way.front();
    return own.done[p] >= count || parts_[p]->ready(*own.parts[p]);
  }
  std::size_t finish(DeviceWorkspace& workspace) const override {
    auto& own = static_cast<Workspace&>(workspace);
    if (own.under_way.empty()) return 0;
    const auto [p, count] = own.under_way.front();
    // A GPU may have reported several of its turns at once.
    while (own.done[p] < count) {
      const std::size_t more = parts_[p]->finish(*own.parts[p]);
      if (more == 0) return 0;
      own.done[p] += more;
    }
    own.done[p] -= count;
    own.under_way.pop_front();
    return count;
  }
  void abandon(DeviceWorkspace& workspace) const noexcept override {
    auto& own = static_cast<Workspace&>(workspace);
    for (std::size_t p = 0; p < parts_.size(); ++p) parts_[p]->abandon(*own.parts[p]);
    own.under_way.clear();
    std::ranges::fill(own.done, 0);
    own.next = 0;
  }

 private:
  /// Frames that a GPU gets in one turn.
  struct Turn {
    std::size_t part = 0, frames = 0;
  };
  struct Reference final : DeviceReference {
    std::vector<std::shared_ptr<const DeviceReference>> parts;
  };
  struct Workspace final : DeviceWorkspace {
    explicit Workspace(int devices) : done(static_cast<std::size_t>(devices), 0), threads(devices) {}

    std::size_t bytes() const noexcept override {
      std::size_t total = 0;
      for (const auto& part : parts) total += part->bytes();
      return total;
    }
    int capacity() const noexcept override {
      int frames = 0;
      for (const auto& part : parts) frames += part->capacity();
      return frames;
    }
    std::vector<std::unique_ptr<DeviceWorkspace>> parts;
    std::deque<Turn> under_way;     ///< the oldest first
    std::size_t next = 0;           ///< whose turn it is
    std::vector<std::size_t> done;  ///< per GPU: frames of turns that finish() has not reported
    cpu::ThreadPool threads;
  };

  static const DeviceReference* part_of(const DeviceReference* reference, std::size_t part) noexcept {
    return reference == nullptr ? nullptr : static_cast<const Reference*>(reference)->parts[part].get();
  }

  std::vector<Part> parts_;
  std::string sharing_;
};

/// Calls make(options) for the GPU of the options, or for each of several.
template <class Real, class Make>
std::unique_ptr<const DevicePlan<Real>> make_on_devices(const PlanOptions& options, const Make& make) {
  if (!options.device.several()) return make(options);
  std::vector<typename SharedDevicePlan<Real>::Part> parts;
  const auto count = static_cast<int>(options.device.gpus().size());
  for (const int gpu : options.device.gpus()) {
    PlanOptions own = options;
    own.device = Device::gpu(gpu);
    own.batch = std::max(1, (options.batch + count - 1) / count);
    parts.push_back(make(own));
  }
  return std::make_unique<const SharedDevicePlan<Real>>(
      std::move(parts), std::vector<int>(options.device.gpus().begin(), options.device.gpus().end()));
}

}  // namespace sfft::detail
