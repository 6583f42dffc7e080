// SPDX-License-Identifier: Apache-2.0
// Checks calls and passes them to the runner that planning chose.
#include "sfft/dense_slabs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernels/dense/request/several/slab_runner.hpp"
#include "kernels/dense/slabs/slab_grid.hpp"
#include "kernels/runtime/argument_checks.hpp"
#include "sfft/dense_state.hpp"
#include "sfft/workspace_access.hpp"

namespace sfft::dense {

namespace detail {

using sfft::detail::Direction;
using sfft::detail::SlabCall;

template <class Real>
class SlabImpl final : public StateOf<SlabCall> {
 public:
  explicit SlabImpl(const sfft::detail::DenseRequest& request)
      : StateOf(request.options, request.problem),
        spectrum(sfft::detail::spectrum_shape(problem.shape, problem.real)) {
    plan("slabs: plan", [&] {
      sfft::detail::DistributedChoice choice = sfft::detail::choose_distributed<Real>(request);
      signal_slabs = std::move(choice.signals);
      spectrum_slabs = std::move(choice.spectra);
      slab_workspace_bytes = std::move(choice.workspace_bytes);
      return sfft::detail::Choice<SlabCall>(std::move(choice));
    });
    log<Real>();
  }

  template <class Pointer>
  void check_arrays(std::span<Pointer const> arrays, const char* what) const {
    const std::size_t slabs = signal_slabs.size();
    if (arrays.size() != slabs)
      throw Error(ErrorCode::shape_mismatch,
                  fmt::format("there are {} {}, this plan has {} slabs", arrays.size(), what, slabs));
    if (std::any_of(arrays.begin(), arrays.end(), [](Pointer array) { return array == nullptr; }))
      throw Error(ErrorCode::invalid_argument, fmt::format("one of the {} is null", what));
  }
  void check_type(ElementType type) const {
    if (element_bytes(type) == 0)
      throw Error(ErrorCode::invalid_argument, "the signal's element type is unknown");
    if (problem.real && is_complex(type))
      throw Error(ErrorCode::type_mismatch,
                  fmt::format("{} signals for a real plan: make the plan complex", sfft::to_string(type)));
  }
  void check_kind(bool wants_real) const {
    if (problem.real != wants_real)
      throw Error(ErrorCode::type_mismatch,
                  problem.real ? "the plan is for real signals: give enqueue_inverse() real values"
                               : "the plan is for complex signals: give enqueue_inverse() complex ones");
  }
  /// Checks the arrays of each slab's signals and spectra.
  template <class Signal, class Spectrum>
  void check_apart(std::span<Signal const> signals, ElementType type,
                   std::span<Spectrum const> spectra) const {
    for (std::size_t s = 0; s < signals.size(); ++s) {
      sfft::detail::check_device_alignment(signals[s], element_bytes(type), "signals");
      sfft::detail::check_device_alignment(spectra[s], sizeof(std::complex<Real>), "spectra");
      sfft::detail::check_overlap(
          signals[s], static_cast<std::size_t>(signal_slabs[s].points()) * element_bytes(type), spectra[s],
          static_cast<std::size_t>(spectrum_slabs[s].points()) * sizeof(std::complex<Real>), false);
    }
  }
  std::vector<std::byte*> checked_workspaces(std::span<const std::span<std::byte>> workspaces,
                                             std::span<CUstream_st* const> streams) const {
    const std::size_t slabs = signal_slabs.size();
    if (workspaces.size() != slabs || streams.size() != slabs) {
      throw Error(ErrorCode::shape_mismatch,
                  fmt::format("there are {} workspaces and {} streams, this plan has {} slabs",
                              workspaces.size(), streams.size(), slabs));
    }
    std::vector<std::byte*> data;
    for (std::size_t s = 0; s < slabs; ++s) {
      sfft::detail::check_workspace(workspaces[s], slab_workspace_bytes[s], 256, "device_workspace_bytes()");
      data.push_back(workspaces[s].data());
    }
    return data;
  }
  template <class From, class To>
  void enqueue(Direction direction, std::span<From const> from, ElementType type, std::span<To const> to,
               std::span<const std::span<std::byte>> workspaces,
               std::span<CUstream_st* const> streams) const {
    const std::vector<std::byte*> memory = checked_workspaces(workspaces, streams);
    const std::vector<const void*> inputs(from.begin(), from.end());
    const std::vector<void*> results(to.begin(), to.end());
    const sfft::detail::TraceRange range("slabs: enqueue");
    runner->enqueue({direction, inputs, type, results, memory, streams});
  }
  template <class T>
  void inverse(std::span<const std::complex<Real>* const> spectra, std::span<T* const> signals,
               std::span<const std::span<std::byte>> workspaces,
               std::span<CUstream_st* const> streams) const {
    constexpr ElementType kType = element_type_of<T>::value;
    check_kind(std::is_same_v<T, Real>);
    check_arrays(spectra, "spectra");
    check_arrays(signals, "signals");
    check_apart(signals, kType, spectra);
    enqueue(Direction::inverse, spectra, kType, signals, workspaces, streams);
  }
  static void check_whole(const void* whole) {
    if (whole == nullptr) throw Error(ErrorCode::invalid_argument, "the whole array is null");
  }

  Shape spectrum;  ///< extents of one spectrum
  std::vector<Slab> signal_slabs, spectrum_slabs;
  std::vector<std::size_t> slab_workspace_bytes;
};

namespace {

sfft::detail::DenseRequest slab_request(const Shape& shape, Domain domain, const Options& options) {
  if (options.device.backend() != Backend::cuda) {
    throw Error(ErrorCode::invalid_argument,
                "a SlabPlan needs the GPUs to run on: set Options::device to Device::gpus({...})");
  }
  if (options.device_memory || options.host_share) {
    throw Error(
        ErrorCode::invalid_argument,
        "a SlabPlan's arrays are in GPU memory: leave device_memory and host_share as they are, or use "
        "Plan for arrays that go through the GPUs in pieces");
  }
  sfft::detail::DenseRequest request = sfft::detail::make_request(shape, domain == Domain::real, options);
  if (!request.problem.contiguous()) {
    throw Error(ErrorCode::backend_unavailable,
                "a SlabPlan takes contiguous signals: leave the strides at 0, or use Plan for host memory");
  }
  return request;
}

}  // namespace

}  // namespace detail

template <class Real>
SlabPlan<Real>::SlabPlan(const Shape& shape, Domain domain, const Options& options)
    : impl_(std::make_shared<const detail::SlabImpl<Real>>(detail::slab_request(shape, domain, options))) {
  state_ = impl_.get();
}

template <class Real>
std::span<const Slab> SlabPlan<Real>::signal_slabs() const noexcept {
  return impl_->signal_slabs;
}
template <class Real>
std::span<const Slab> SlabPlan<Real>::spectrum_slabs() const noexcept {
  return impl_->spectrum_slabs;
}
template <class Real>
std::size_t SlabPlan<Real>::device_workspace_bytes(std::size_t slab) const {
  if (slab >= signal_slabs().size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there is no slab {}: this plan has {}", slab, signal_slabs().size()));
  return impl_->slab_workspace_bytes[slab];
}

template <class Real>
void SlabPlan<Real>::enqueue_forward(std::span<const void* const> signals, ElementType type,
                                     std::span<std::complex<Real>* const> spectra,
                                     std::span<const std::span<std::byte>> workspaces,
                                     std::span<CUstream_st* const> streams) const {
  impl_->check_type(type);
  impl_->check_arrays(signals, "signals");
  impl_->check_arrays(spectra, "spectra");
  impl_->check_apart(signals, type, spectra);
  impl_->enqueue(detail::Direction::forward, signals, type, spectra, workspaces, streams);
}
template <class Real>
void SlabPlan<Real>::enqueue_inverse(std::span<const std::complex<Real>* const> spectra,
                                     std::span<std::complex<Real>* const> signals,
                                     std::span<const std::span<std::byte>> workspaces,
                                     std::span<CUstream_st* const> streams) const {
  impl_->inverse(spectra, signals, workspaces, streams);
}
template <class Real>
void SlabPlan<Real>::enqueue_inverse(std::span<const std::complex<Real>* const> spectra,
                                     std::span<Real* const> signals,
                                     std::span<const std::span<std::byte>> workspaces,
                                     std::span<CUstream_st* const> streams) const {
  impl_->inverse(spectra, signals, workspaces, streams);
}

template <class Real>
void SlabPlan<Real>::scatter_signal(const void* whole, ElementType type, std::span<void* const> slabs) const {
  impl_->check_type(type);
  impl_->check_whole(whole);
  impl_->check_arrays(slabs, "slabs");
  sfft::detail::copy_to_slabs(whole, shape(), element_bytes(type), impl_->signal_slabs, slabs);
}
template <class Real>
void SlabPlan<Real>::gather_signal(std::span<const void* const> slabs, ElementType type, void* whole) const {
  impl_->check_type(type);
  impl_->check_whole(whole);
  impl_->check_arrays(slabs, "slabs");
  sfft::detail::copy_from_slabs(whole, shape(), element_bytes(type), impl_->signal_slabs, slabs);
}
template <class Real>
void SlabPlan<Real>::scatter_spectrum(const std::complex<Real>* whole,
                                      std::span<std::complex<Real>* const> slabs) const {
  impl_->check_whole(whole);
  impl_->check_arrays(slabs, "slabs");
  const std::vector<void*> parts(slabs.begin(), slabs.end());
  sfft::detail::copy_to_slabs(whole, impl_->spectrum, sizeof(std::complex<Real>), impl_->spectrum_slabs,
                              parts);
}
template <class Real>
void SlabPlan<Real>::gather_spectrum(std::span<const std::complex<Real>* const> slabs,
                                     std::complex<Real>* whole) const {
  impl_->check_whole(whole);
  impl_->check_arrays(slabs, "slabs");
  const std::vector<const void*> parts(slabs.begin(), slabs.end());
  sfft::detail::copy_from_slabs(whole, impl_->spectrum, sizeof(std::complex<Real>), impl_->spectrum_slabs,
                                parts);
}

template <class Real>
std::vector<Workspace> SlabPlan<Real>::make_workspaces() const {
  std::vector<Workspace> workspaces;
  const std::span<const Slab> slabs = signal_slabs();
  for (std::size_t i = 0; i < slabs.size(); ++i)
    workspaces.push_back(sfft::detail::make_dense_workspace(0, device_workspace_bytes(i), slabs[i].gpu));
  return workspaces;
}

template class SlabPlan<float>;
template class SlabPlan<double>;

}  // namespace sfft::dense
