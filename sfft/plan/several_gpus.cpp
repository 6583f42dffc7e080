// SPDX-License-Identifier: Apache-2.0
// A plan on several GPUs: each GPU has an executor, and they share the frames of a call.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/platform/thread_pool.hpp"
#include "sfft/plan/plan_executor.hpp"

namespace sfft::detail {

namespace {

template <class Real>
class SharedExecutor final : public PlanExecutor<Real> {
 public:
  using Part = std::unique_ptr<const PlanExecutor<Real>>;

  /// One part per device.
  SharedExecutor(std::vector<Part> parts, const std::vector<int>& devices) : parts_(std::move(parts)) {
    std::string names;
    for (const int device : devices) names += fmt::format("{}{}", names.empty() ? "" : ", ", device);
    const std::set<int> different(devices.begin(), devices.end());
    sharing_ =
        fmt::format("GPUs {} share the frames{}", names,
                    different.size() < devices.size() ? " (one of them named again: good for tests)" : "");
  }

  Backend backend() const noexcept override { return Backend::cuda; }
  std::string describe() const override {
    return fmt::format("{}, each: {}", sharing_, parts_[0]->describe());
  }
  bool takes_reference() const noexcept override { return parts_[0]->takes_reference(); }

  std::shared_ptr<const PlanReference> make_reference(const SignalView& frame,
                                                      std::span<const std::complex<double>> coefficients,
                                                      double error) const override {
    auto reference = std::make_shared<Reference>();
    for (const Part& part : parts_)
      reference->parts.push_back(part->make_reference(frame, coefficients, error));
    return reference;
  }

  std::unique_ptr<PlanWorkspace> make_workspace(int frames, int threads) const override {
    auto workspace = std::make_unique<Workspace>(static_cast<int>(parts_.size()));
    const auto count = static_cast<int>(parts_.size());
    for (const Part& part : parts_)
      workspace->parts.push_back(part->make_workspace((frames + count - 1) / count, threads));
    return workspace;
  }

  std::unique_ptr<PlanWorkspace> refit(std::unique_ptr<PlanWorkspace> old, int frames,
                                       int threads) const override {
    auto* const own = dynamic_cast<Workspace*>(old.get());
    if (own == nullptr || own->parts.size() != parts_.size()) {
      old.reset();
      return make_workspace(frames, threads);
    }
    const auto count = static_cast<int>(parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p)
      own->parts[p] = parts_[p]->refit(std::move(own->parts[p]), (frames + count - 1) / count, threads);
    return old;
  }

  /// Frames are in the memory of the first GPU.
  void enqueue(const DeviceFrames& frames, const typename Plan<Real>::DeviceSpectra& spectra,
               const PlanReference* reference, PlanWorkspace& workspace, CUstream_st* stream) const override {
    parts_[0]->enqueue(frames, spectra, part_of(reference, 0), *static_cast<Workspace&>(workspace).parts[0],
                       stream);
  }

  /// Uses one thread per GPU; the threads of `pool` gather for the first GPU.
  void execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
               const PlanReference* reference, PlanWorkspace& workspace,
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
  std::size_t submit(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
                     const PlanReference* reference, PlanWorkspace& workspace,
                     cpu::ThreadPool* pool) const override {
    auto& own = static_cast<Workspace&>(workspace);
    const std::size_t part = std::max<std::size_t>(1, part_ahead());
    std::size_t begun = 0;
    try {
      while (begun < frames.size()) {
        const std::size_t p = own.next, wanted = std::min(part, frames.size() - begun);
        const std::size_t count =
            parts_[p]->submit(frames.subspan(begun, wanted), spectra.subspan(begun, wanted),
                              part_of(reference, p), *own.parts[p], p == 0 ? pool : nullptr);
        if (count == 0) break;
        own.under_way.push_back({p, count});
        own.next = (p + 1) % parts_.size();
        begun += count;
      }
    } catch (...) {
      cancel(workspace);
      throw;
    }
    return begun;
  }
  bool ready(PlanWorkspace& workspace) const override {
    auto& own = static_cast<Workspace&>(workspace);
    if (own.under_way.empty()) return false;
    const auto [p, count] = own.under_way.front();
    return own.done[p] >= count || parts_[p]->ready(*own.parts[p]);
  }
  std::size_t wait(PlanWorkspace& workspace) const override {
    auto& own = static_cast<Workspace&>(workspace);
    if (own.under_way.empty()) return 0;
    const auto [p, count] = own.under_way.front();
    // A GPU may have reported several of its turns at once.
    while (own.done[p] < count) {
      const std::size_t more = parts_[p]->wait(*own.parts[p]);
      if (more == 0) return 0;
      own.done[p] += more;
    }
    own.done[p] -= count;
    own.under_way.pop_front();
    return count;
  }
  void cancel(PlanWorkspace& workspace) const noexcept override {
    auto& own = static_cast<Workspace&>(workspace);
    for (std::size_t p = 0; p < parts_.size(); ++p) parts_[p]->cancel(*own.parts[p]);
    own.under_way.clear();
    std::ranges::fill(own.done, 0);
    own.next = 0;
  }

 private:
  /// Frames that a GPU gets in one turn.
  struct Turn {
    std::size_t part = 0, frames = 0;
  };
  struct Reference final : PlanReference {
    std::vector<std::shared_ptr<const PlanReference>> parts;
  };
  struct Workspace final : PlanWorkspace {
    explicit Workspace(int devices) : done(static_cast<std::size_t>(devices), 0), threads(devices) {}

    std::size_t device_bytes() const noexcept override {
      std::size_t total = 0;
      for (const auto& part : parts) total += part->device_bytes();
      return total;
    }
    std::vector<std::unique_ptr<PlanWorkspace>> parts;
    std::deque<Turn> under_way;     ///< the oldest first
    std::size_t next = 0;           ///< whose turn it is
    std::vector<std::size_t> done;  ///< per GPU: frames of turns that wait() has not reported
    cpu::ThreadPool threads;
  };

  static const PlanReference* part_of(const PlanReference* reference, std::size_t part) noexcept {
    return reference == nullptr ? nullptr : static_cast<const Reference*>(reference)->parts[part].get();
  }

  std::vector<Part> parts_;
  std::string sharing_;
};

/// Makes a part for each GPU.
template <class Real>
class SeveralGpuExecutors final : public ExecutorMaker<Real> {
 public:
  using typename ExecutorMaker<Real>::Made;

  Made comb(const CombData& comb, const PlanTables& tables) const override {
    return on_each(tables, [&](const PlanTables& own) { return gpu_executors<Real>().comb(comb, own); });
  }
  Made flat(const FlatPlanData& flat, const PlanTables& tables) const override {
    return on_each(tables, [&](const PlanTables& own) { return gpu_executors<Real>().flat(flat, own); });
  }
  Made direct(const PlanTables& tables) const override {
    return on_each(tables, [](const PlanTables& own) { return gpu_executors<Real>().direct(own); });
  }
  Made dense(const PlanTables& tables) const override {
    return on_each(tables, [](const PlanTables& own) { return gpu_executors<Real>().dense(own); });
  }

 private:
  template <class Make>
  static Made on_each(const PlanTables& tables, const Make& make) {
    const std::span<const int> gpus = tables.options.device.gpus();
    const auto count = static_cast<int>(gpus.size());
    std::vector<Made> parts;
    for (const int gpu : gpus) {
      PlanOptions own = tables.options;
      own.device = Device::gpu(gpu);
      own.batch = std::max(1, (own.batch + count - 1) / count);
      parts.push_back(make({tables.errors, tables.witness, tables.support, tables.data, own}));
    }
    return share_frames<Real>(std::move(parts), {gpus.begin(), gpus.end()});
  }
};

}  // namespace

template <class Real>
const ExecutorMaker<Real>& several_gpu_executors() {
  static const SeveralGpuExecutors<Real> makers;
  return makers;
}
template <class Real>
std::unique_ptr<const PlanExecutor<Real>> share_frames(
    std::vector<std::unique_ptr<const PlanExecutor<Real>>> parts, const std::vector<int>& devices) {
  return std::make_unique<const SharedExecutor<Real>>(std::move(parts), devices);
}

template const ExecutorMaker<float>& several_gpu_executors();
template const ExecutorMaker<double>& several_gpu_executors();
template std::unique_ptr<const PlanExecutor<float>> share_frames(
    std::vector<std::unique_ptr<const PlanExecutor<float>>>, const std::vector<int>&);
template std::unique_ptr<const PlanExecutor<double>> share_frames(
    std::vector<std::unique_ptr<const PlanExecutor<double>>>, const std::vector<int>&);

}  // namespace sfft::detail
