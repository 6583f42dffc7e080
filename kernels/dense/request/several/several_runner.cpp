// SPDX-License-Identifier: Apache-2.0
// Plans over several GPUs: batches, whose devices each run a plan for their signals without any exchange, and
// transforms in slabs. The arrays of each are in the memory of the GPUs or in that of the host.
#include <fmt/format.h>

#include <mutex>

#include "kernels/cpu/platform/pool_loan.hpp"
#include "kernels/dense/request/several/cuda_slabs.hpp"
#include "kernels/dense/request/several/several_devices.hpp"
#include "kernels/dense/slabs/slab_grid.hpp"

namespace sfft::detail {

namespace {

/// A batch with arrays in the memory of the devices.
template <class Real>
class BatchSlabs final : public Runner<SlabCall> {
 public:
  /// Uses no more devices than there are signals.
  BatchSlabs(const DenseRequest& request, const ChosenDevices& chosen)
      : signals_(batch_slabs(request.problem.shape, request.problem.batch, chosen.devices)),
        spectra_(batch_slabs(spectrum_shape(request.problem.shape, request.problem.real),
                             request.problem.batch, chosen.devices)),
        reason_(chosen.reason) {
    for (const std::string& note : chosen.notes) reason_ += "; " + note;
    for (const dense::Slab& slab : signals_) {
      DenseRequest part = request;
      part.options.device = Device::gpu(slab.gpu);
      part.problem.device = slab.gpu;
      part.options.batch = part.problem.batch = slab.signals;
      on_device(slab.gpu, [&] { parts_.push_back(choose_on_gpu<Real>(part)); });
    }
  }

  const std::vector<dense::Slab>& signal_slabs() const noexcept { return signals_; }
  const std::vector<dense::Slab>& spectrum_slabs() const noexcept { return spectra_; }
  std::size_t workspace_bytes(std::size_t slab) const noexcept {
    return parts_[slab].runner->device_workspace_bytes();
  }
  dense::Engine engine() const noexcept { return parts_[0].engine; }
  const std::string& reason() const noexcept { return reason_; }
  /// The plan of one device, for signals in host memory.
  const Runner<FullCall>& part(std::size_t slab) const noexcept { return *parts_[slab].runner; }

  void enqueue(const SlabCall& call) const override {
    for (std::size_t s = 0; s < parts_.size(); ++s) {
      on_device(signals_[s].gpu, [&] {
        parts_[s].runner->enqueue(
            {call.direction, call.from[s], call.type, call.to[s], call.workspaces[s], call.streams[s]});
      });
    }
  }
  bool on_gpu() const noexcept override { return true; }
  std::string name() const override { return parts_[0].runner->name(); }
  std::string explain() const override {
    std::string text = parts_[0].reason;
    for (std::size_t s = 0; s < parts_.size(); ++s) {
      text +=
          fmt::format("\nGPU {}: {} from number {} on, {}", signals_[s].gpu,
                      signals_[s].signals == 1 ? "1 signal" : fmt::format("{} signals", signals_[s].signals),
                      signals_[s].first_signal, parts_[s].runner->name());
    }
    return text;
  }

 private:
  std::vector<dense::Slab> signals_, spectra_;
  std::vector<Choice<FullCall>> parts_;
  std::string reason_;
};

/// Arrays in host memory for `Slabs`, whose work is queued in device memory.
template <class Slabs>
class HostArraysRunner : public Runner<FullCall> {
 public:
  HostArraysRunner(const DenseRequest& request, std::unique_ptr<const Slabs> slabs)
      : problem_(request.problem), slabs_(std::move(slabs)) {}

  void enqueue(const FullCall&) const final {
    throw Error(ErrorCode::backend_unavailable,
                "a Plan over several GPUs takes host memory: use SlabPlan for arrays in the memory of GPUs");
  }
  bool on_gpu() const noexcept final { return true; }
  std::string name() const final { return slabs_->name(); }
  std::string explain() const final { return slabs_->explain(); }

 protected:
  DenseProblem problem_;
  std::unique_ptr<const Slabs> slabs_;
};

/// A batch. Each GPU has a plan that transfers and transforms its signals, and a host thread.
template <class Real>
class SharedBatchRunner final : public HostArraysRunner<BatchSlabs<Real>> {
 public:
  using HostArraysRunner<BatchSlabs<Real>>::HostArraysRunner;

  /// Starts one thread per GPU, waits for all, then throws the first failure.
  void run(const FullCall& call) const override {
    const bool forward = call.direction == Direction::forward;
    const DenseProblem& problem = this->problem_;
    const std::size_t sample = element_bytes(forward ? call.type : own_type<Real>(problem));
    const auto& shares = this->slabs_->signal_slabs();
    const cpu::PoolLoan threads(static_cast<int>(shares.size()));
    cpu::for_each(threads.get(), shares.size(), [&](std::size_t s, int) {
      const std::int64_t first = shares[s].first_signal;
      const std::size_t signals = static_cast<std::size_t>(first * problem.strides.batch) * sample,
                        spectra = static_cast<std::size_t>(first * problem.spectrum_points()) *
                                  sizeof(std::complex<Real>);
      on_device(shares[s].gpu, [&] {
        this->slabs_->part(s).run(
            {call.direction, static_cast<const std::byte*>(call.from) + (forward ? signals : spectra),
             call.type, static_cast<std::byte*>(call.to) + (forward ? spectra : signals)});
      });
    });
  }
};

/// GPU memory for the slabs of one call.
template <class Real>
struct SlabMemory {
  struct Part {
    int device = 0;
    cuda::Queue stream;
    cuda::DeviceBuffer signal, spectrum, workspace;
  };

  std::size_t element = 0;  ///< bytes of a signal's element, at most
  std::vector<Part> parts;
  std::vector<void*> signals, spectra;
  std::vector<std::byte*> workspaces;
  std::vector<CUstream_st*> streams;

  /// Allocates on all devices.
  SlabMemory(const CudaSlabs<Real>& slabs, std::size_t element_bytes) : SlabMemory(element_bytes) {
    const auto &signal_slabs = slabs.signal_slabs(), &spectrum_slabs = slabs.spectrum_slabs();
    for (std::size_t s = 0; s < signal_slabs.size(); ++s) {
      on_device(signal_slabs[s].gpu, [&] {
        Part part;
        part.device = signal_slabs[s].gpu;
        part.signal = cuda::DeviceBuffer(static_cast<std::size_t>(signal_slabs[s].points()) * element);
        part.spectrum = cuda::DeviceBuffer(static_cast<std::size_t>(spectrum_slabs[s].points()) *
                                           sizeof(std::complex<Real>));
        part.workspace = cuda::DeviceBuffer(slabs.workspace_bytes(s));
        parts.push_back(std::move(part));
      });
      const Part& part = parts.back();
      signals.push_back(part.signal.data());
      spectra.push_back(part.spectrum.data());
      workspaces.push_back(part.workspace.data());
      streams.push_back(part.stream.get());
    }
  }
  ~SlabMemory() {
    while (!parts.empty()) {
      try {
        const cuda::DeviceScope scope(parts.back().device);
        parts.pop_back();
      } catch (...) {  // the GPU is gone, and its memory with it
        parts.pop_back();
      }
    }
  }
  SlabMemory(const SlabMemory&) = delete;
  SlabMemory& operator=(const SlabMemory&) = delete;

  void finish() const {
    for (const Part& part : parts) on_device(part.device, [&] { cuda::synchronize(part.stream.get()); });
  }

 private:
  /// Complete before the allocations, whose failure then runs the destructor.
  explicit SlabMemory(std::size_t element_bytes) : element(element_bytes) {}
};

/// One transform in slabs, which are copied to the GPUs and back. GPU memory is allocated on all devices
/// before an array is touched, and kept for the next call. Concurrent calls run one after another.
template <class Real>
class HostSlabsRunner final : public HostArraysRunner<CudaSlabs<Real>> {
 public:
  using HostArraysRunner<CudaSlabs<Real>>::HostArraysRunner;

  void run(const FullCall& call) const override {
    const DenseProblem& problem = this->problem_;
    const CudaSlabs<Real>& slabs = *this->slabs_;
    const bool forward = call.direction == Direction::forward;
    const ElementType type = forward ? call.type : own_type<Real>(problem);
    const Shape spectrum = spectrum_shape(problem.shape, problem.real);
    const std::size_t sample = element_bytes(type), value = sizeof(std::complex<Real>);
    const std::lock_guard lock(mutex_);
    const SlabMemory<Real>& on = memory(sample);
    const auto &from = forward ? on.signals : on.spectra, &to = forward ? on.spectra : on.signals;
    const auto &from_slabs = forward ? slabs.signal_slabs() : slabs.spectrum_slabs(),
               &to_slabs = forward ? slabs.spectrum_slabs() : slabs.signal_slabs();
    copy_to_slabs(call.from, forward ? problem.shape : spectrum, forward ? sample : value, from_slabs, from);
    const std::vector<const void*> inputs(from.begin(), from.end()), results(to.begin(), to.end());
    slabs.enqueue({call.direction, inputs, type, to, on.workspaces, on.streams});
    on.finish();
    copy_from_slabs(call.to, forward ? spectrum : problem.shape, forward ? value : sample, to_slabs, results);
  }

 private:
  /// Memory for signals with elements of this size. If it throws, no array has been modified.
  const SlabMemory<Real>& memory(std::size_t element) const {
    if (memory_ == nullptr || memory_->element < element) {
      memory_ = nullptr;
      memory_ = std::make_unique<const SlabMemory<Real>>(*this->slabs_, element);
    }
    return *memory_;
  }

  mutable std::mutex mutex_;
  mutable std::unique_ptr<const SlabMemory<Real>> memory_;
};

/// Whether devices get whole signals. Otherwise one transform is in slabs.
bool shares_signals(const DenseRequest& request, const ChosenDevices& chosen) {
  return request.problem.batch > 1 || chosen.devices.size() == 1;
}

template <class Slabs>
DistributedChoice distributed(std::unique_ptr<const Slabs> slabs) {
  DistributedChoice choice{
      {nullptr, slabs->engine(), slabs->reason()}, slabs->signal_slabs(), slabs->spectrum_slabs(), {}};
  for (std::size_t s = 0; s < choice.signals.size(); ++s)
    choice.workspace_bytes.push_back(slabs->workspace_bytes(s));
  choice.runner = std::move(slabs);
  return choice;
}

template <template <class> class HostRunner, class Real, class Slabs>
Choice<FullCall> in_host_memory(const DenseRequest& request, std::unique_ptr<const Slabs> slabs) {
  const dense::Engine engine = slabs->engine();
  std::string reason = slabs->reason();
  return {std::make_unique<const HostRunner<Real>>(request, std::move(slabs)), engine, std::move(reason)};
}

}  // namespace

template <class Real>
DistributedChoice choose_distributed(const DenseRequest& request) {
  const ChosenDevices chosen = choose_devices<Real>(request);
  if (shares_signals(request, chosen))
    return distributed(std::make_unique<const BatchSlabs<Real>>(request, chosen));
  return distributed(std::make_unique<const CudaSlabs<Real>>(request, chosen));
}

template <class Real>
Choice<FullCall> choose_on_several(const DenseRequest& request) {
  const ChosenDevices chosen = choose_devices<Real>(request);
  if (shares_signals(request, chosen))
    return in_host_memory<SharedBatchRunner, Real>(request,
                                                   std::make_unique<const BatchSlabs<Real>>(request, chosen));
  return in_host_memory<HostSlabsRunner, Real>(request,
                                               std::make_unique<const CudaSlabs<Real>>(request, chosen));
}

template DistributedChoice choose_distributed<float>(const DenseRequest&);
template DistributedChoice choose_distributed<double>(const DenseRequest&);
template Choice<FullCall> choose_on_several<float>(const DenseRequest&);
template Choice<FullCall> choose_on_several<double>(const DenseRequest&);

}  // namespace sfft::detail
