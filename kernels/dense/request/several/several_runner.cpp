// SPDX-License-Identifier: Apache-2.0
// GPU memory is allocated on all devices before an array is touched, and kept for the next call.
#include "kernels/dense/request/several/several_runner.hpp"

#include "kernels/cpu/platform/pool_loan.hpp"
#include "kernels/dense/request/several/cuda_slabs.hpp"
#include "kernels/dense/request/several/several_devices.hpp"

namespace sfft::detail {

template <class Real>
std::unique_ptr<const SlabRunner<Real>> make_slab_runner(const DenseRequest& request) {
  const ChosenDevices chosen = choose_devices<Real>(request);
  if (request.problem.batch > 1 || chosen.devices.size() == 1) {
    std::string reason = chosen.reason;
    for (const std::string& note : chosen.notes) reason += "; " + note;
    return std::make_unique<const BatchSlabs<Real>>(request, chosen.devices, reason);
  }
  return std::make_unique<const CudaSlabs<Real>>(request, chosen);
}

template <class Real>
DenseChoice<Real> choose_on_several(const DenseRequest& request) {
  auto slabs = make_slab_runner<Real>(request);
  const dense::Engine engine = slabs->engine();
  std::string reason = slabs->reason();
  if (dynamic_cast<const BatchSlabs<Real>*>(slabs.get()) != nullptr) {
    std::unique_ptr<const BatchSlabs<Real>> batch(static_cast<const BatchSlabs<Real>*>(slabs.release()));
    return {std::make_unique<const SharedBatchRunner<Real>>(request, std::move(batch)), engine, reason};
  }
  return {std::make_unique<const HostSlabsRunner<Real>>(request, std::move(slabs)), engine, reason};
}

template <class Real>
SharedBatchRunner<Real>::SharedBatchRunner(const DenseRequest& request,
                                           std::unique_ptr<const BatchSlabs<Real>> slabs)
    : problem_(request.problem), slabs_(std::move(slabs)) {}

/// Starts one thread per GPU, waits for all, then throws the first failure.
template <class Real>
template <class Job>
void SharedBatchRunner<Real>::on_all(const Job& job) const {
  const auto& shares = slabs_->signal_slabs();
  const cpu::PoolLoan threads(static_cast<int>(shares.size()));
  cpu::for_each(threads.get(), shares.size(), [&](std::size_t s, int) {
    on_device(shares[s].gpu, [&] { job(slabs_->part(s), shares[s].first_signal); });
  });
}

template <class Real>
void SharedBatchRunner<Real>::forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                                      std::byte*) const {
  on_all([&](const DenseRunner<Real>& part, std::int64_t first) {
    const auto* from = static_cast<const std::byte*>(signals) +
                       static_cast<std::size_t>(first * problem_.strides.batch) * element_bytes(type);
    part.forward(from, type, spectra + first * problem_.spectrum_points(), nullptr);
  });
}

template <class Real>
void SharedBatchRunner<Real>::inverse(const std::complex<Real>* spectra, void* signals, std::byte*) const {
  on_all([&](const DenseRunner<Real>& part, std::int64_t first) {
    auto* to = static_cast<std::byte*>(signals) + static_cast<std::size_t>(first * problem_.strides.batch) *
                                                      element_bytes(own_type<Real>(problem_));
    part.inverse(spectra + first * problem_.spectrum_points(), to, nullptr);
  });
}

/// GPU memory for the slabs of one call.
template <class Real>
struct HostSlabsRunner<Real>::Memory {
  struct Part {
    int device = 0;
    cuda::Queue stream;
    cuda::DeviceBuffer signal, spectrum, workspace;
  };
  std::size_t element = 0;
  std::vector<Part> parts;
  std::vector<void*> signals;
  std::vector<std::complex<Real>*> spectra;
  std::vector<std::byte*> workspaces;
  std::vector<CUstream_st*> streams;

  ~Memory() {
    while (!parts.empty()) {
      try {
        const cuda::DeviceScope scope(parts.back().device);
        parts.pop_back();
      } catch (...) {  // the GPU is gone, and its memory with it
        parts.pop_back();
      }
    }
  }
  SlabCall call() const noexcept { return {workspaces, streams}; }
  void finish() const {
    for (const Part& part : parts) on_device(part.device, [&] { cuda::synchronize(part.stream.get()); });
  }
};

template <class Real>
HostSlabsRunner<Real>::HostSlabsRunner(const DenseRequest& request,
                                       std::unique_ptr<const SlabRunner<Real>> slabs)
    : problem_(request.problem),
      spectrum_(spectrum_shape(problem_.shape, problem_.real)),
      slabs_(std::move(slabs)) {}

template <class Real>
HostSlabsRunner<Real>::~HostSlabsRunner() = default;

template <class Real>
typename HostSlabsRunner<Real>::Memory& HostSlabsRunner<Real>::memory(std::size_t element) const {
  if (memory_ != nullptr && memory_->element >= element) return *memory_;
  memory_ = nullptr;
  auto made = std::make_unique<Memory>();
  made->element = element;
  const auto &signals = slabs_->signal_slabs(), &spectra = slabs_->spectrum_slabs();
  for (std::size_t s = 0; s < signals.size(); ++s) {
    on_device(signals[s].gpu, [&] {
      typename Memory::Part part;
      part.device = signals[s].gpu;
      part.signal = cuda::DeviceBuffer(static_cast<std::size_t>(signals[s].points()) * element);
      part.spectrum =
          cuda::DeviceBuffer(static_cast<std::size_t>(spectra[s].points()) * sizeof(std::complex<Real>));
      part.workspace = cuda::DeviceBuffer(slabs_->workspace_bytes(s));
      made->parts.push_back(std::move(part));
    });
    const auto& part = made->parts.back();
    made->signals.push_back(part.signal.data());
    made->spectra.push_back(part.spectrum.template as<std::complex<Real>>());
    made->workspaces.push_back(part.workspace.data());
    made->streams.push_back(part.stream.get());
  }
  memory_ = std::move(made);
  return *memory_;
}

template <class Real>
void HostSlabsRunner<Real>::forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                                    std::byte*) const {
  const std::lock_guard lock(mutex_);
  Memory& on = memory(element_bytes(type));
  copy_to_slabs(signals, problem_.shape, element_bytes(type), slabs_->signal_slabs(), on.signals);
  const std::vector<const void*> from(on.signals.begin(), on.signals.end());
  slabs_->enqueue_forward(from, type, on.spectra, on.call());
  on.finish();
  const std::vector<const void*> results(on.spectra.begin(), on.spectra.end());
  copy_from_slabs(spectra, spectrum_, sizeof(std::complex<Real>), slabs_->spectrum_slabs(), results);
}

template <class Real>
void HostSlabsRunner<Real>::inverse(const std::complex<Real>* spectra, void* signals, std::byte*) const {
  const std::lock_guard lock(mutex_);
  const std::size_t element = element_bytes(own_type<Real>(problem_));
  Memory& on = memory(element);
  const std::vector<void*> to(on.spectra.begin(), on.spectra.end());
  copy_to_slabs(spectra, spectrum_, sizeof(std::complex<Real>), slabs_->spectrum_slabs(), to);
  const std::vector<const std::complex<Real>*> from(on.spectra.begin(), on.spectra.end());
  slabs_->enqueue_inverse(from, on.signals, on.call());
  on.finish();
  const std::vector<const void*> results(on.signals.begin(), on.signals.end());
  copy_from_slabs(signals, problem_.shape, element, slabs_->signal_slabs(), results);
}

template class SharedBatchRunner<float>;
template class SharedBatchRunner<double>;
template class HostSlabsRunner<float>;
template class HostSlabsRunner<double>;
template std::unique_ptr<const SlabRunner<float>> make_slab_runner(const DenseRequest&);
template std::unique_ptr<const SlabRunner<double>> make_slab_runner(const DenseRequest&);
template DenseChoice<float> choose_on_several(const DenseRequest&);
template DenseChoice<double> choose_on_several(const DenseRequest&);

}  // namespace sfft::detail
