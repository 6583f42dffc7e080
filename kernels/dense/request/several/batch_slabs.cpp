// SPDX-License-Identifier: Apache-2.0
// A batch shared by several devices: each device runs a plan for its signals, without any exchange.
#include "kernels/dense/request/several/batch_slabs.hpp"

#include <fmt/format.h>

#include "kernels/dense/request/several/several_devices.hpp"

namespace sfft::detail {

template <class Real>
BatchSlabs<Real>::BatchSlabs(const DenseRequest& request, const std::vector<int>& devices, std::string note)
    : problem_(request.problem),
      signals_(batch_slabs(problem_.shape, problem_.batch, devices)),
      spectra_(batch_slabs(spectrum_shape(problem_.shape, problem_.real), problem_.batch, devices)),
      note_(std::move(note)) {
  for (const dense::Slab& slab : signals_) {
    DenseRequest part = request;
    part.options.device = Device::gpu(slab.gpu);
    part.problem.device = slab.gpu;
    part.options.batch = part.problem.batch = slab.signals;
    on_device(slab.gpu, [&] { parts_.push_back(choose_on_gpu<Real>(part)); });
  }
}

template <class Real>
void BatchSlabs<Real>::enqueue_forward(std::span<const void* const> signals, ElementType type,
                                       std::span<std::complex<Real>* const> spectra,
                                       const SlabCall& call) const {
  for (std::size_t s = 0; s < parts_.size(); ++s) {
    on_device(signals_[s].gpu, [&] {
      parts_[s].runner->enqueue_forward(signals[s], type, spectra[s], call.workspaces[s], call.streams[s]);
    });
  }
}

template <class Real>
void BatchSlabs<Real>::enqueue_inverse(std::span<const std::complex<Real>* const> spectra,
                                       std::span<void* const> signals, const SlabCall& call) const {
  for (std::size_t s = 0; s < parts_.size(); ++s) {
    on_device(signals_[s].gpu, [&] {
      parts_[s].runner->enqueue_inverse(spectra[s], signals[s], call.workspaces[s], call.streams[s]);
    });
  }
}

template <class Real>
std::string BatchSlabs<Real>::explain() const {
  std::string text = parts_[0].reason;
  for (std::size_t s = 0; s < parts_.size(); ++s) {
    text +=
        fmt::format("\nGPU {}: {} from number {} on, {}", signals_[s].gpu,
                    signals_[s].signals == 1 ? "1 signal" : fmt::format("{} signals", signals_[s].signals),
                    signals_[s].first_signal, parts_[s].runner->name());
  }
  return text;
}

template class BatchSlabs<float>;
template class BatchSlabs<double>;

}  // namespace sfft::detail
