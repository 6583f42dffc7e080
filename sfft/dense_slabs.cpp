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

class SlabState final : public StateOf<SlabCall> {
 public:
  SlabState(const sfft::detail::DenseRequest& request, bool single)
      : StateOf(request.options, request.problem),
        spectrum(sfft::detail::spectrum_shape(problem.shape, problem.real)),
        value_bytes(single ? sizeof(std::complex<float>) : sizeof(std::complex<double>)) {
    plan("slabs: plan", [&] {
      sfft::detail::DistributedChoice choice = single ? sfft::detail::choose_distributed<float>(request)
                                                      : sfft::detail::choose_distributed<double>(request);
      signal_slabs = std::move(choice.signals);
      spectrum_slabs = std::move(choice.spectra);
      slab_workspace_bytes = std::move(choice.workspace_bytes);
      return sfft::detail::Choice<SlabCall>(std::move(choice));
    });
    single ? log<float>() : log<double>();
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
    sfft::detail::check_gpu_type(type, "the signal's type");
  }
  void check_kind(ElementType type) const {
    if (problem.real == is_complex(type))
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
      sfft::detail::check_device_alignment(spectra[s], value_bytes, "spectra");
      sfft::detail::check_overlap(
          signals[s], static_cast<std::size_t>(signal_slabs[s].points()) * element_bytes(type), spectra[s],
          static_cast<std::size_t>(spectrum_slabs[s].points()) * value_bytes, false);
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
  void enqueue(Direction direction, std::span<const void* const> from, ElementType type,
               std::span<void* const> to, std::span<const std::span<std::byte>> workspaces,
               std::span<CUstream_st* const> streams) const {
    const std::vector<std::byte*> memory = checked_workspaces(workspaces, streams);
    const sfft::detail::TraceRange range("slabs: enqueue");
    runner->enqueue({direction, from, type, to, memory, streams});
  }
  static void check_whole(const void* whole) {
    if (whole == nullptr) throw Error(ErrorCode::invalid_argument, "the whole array is null");
  }

  Shape spectrum;           ///< extents of one spectrum
  std::size_t value_bytes;  ///< of a value of the spectrum
  std::vector<Slab> signal_slabs, spectrum_slabs;
  std::vector<std::size_t> slab_workspace_bytes;
};

namespace {

const SlabState& slabs_of(const std::shared_ptr<const PlanState>& state) noexcept {
  return static_cast<const SlabState&>(*state);
}

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

std::shared_ptr<const PlanState> AnySlabPlan::make(const Shape& shape, Domain domain, const Options& options,
                                                   bool single) {
  return std::make_shared<const SlabState>(slab_request(shape, domain, options), single);
}

std::span<const Slab> AnySlabPlan::signal_slabs() const noexcept {
  return slabs_of(state_).signal_slabs;
}
std::span<const Slab> AnySlabPlan::spectrum_slabs() const noexcept {
  return slabs_of(state_).spectrum_slabs;
}
std::size_t AnySlabPlan::device_workspace_bytes(std::size_t slab) const {
  if (slab >= signal_slabs().size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there is no slab {}: this plan has {}", slab, signal_slabs().size()));
  return slabs_of(state_).slab_workspace_bytes[slab];
}
std::vector<Workspace> AnySlabPlan::make_workspaces() const {
  std::vector<Workspace> workspaces;
  const std::span<const Slab> slabs = signal_slabs();
  for (std::size_t i = 0; i < slabs.size(); ++i)
    workspaces.push_back(sfft::detail::make_dense_workspace(0, device_workspace_bytes(i), slabs[i].gpu));
  return workspaces;
}

void AnySlabPlan::queue_forward(std::span<const void* const> signals, ElementType type,
                                std::span<void* const> spectra,
                                std::span<const std::span<std::byte>> workspaces,
                                std::span<CUstream_st* const> streams) const {
  const SlabState& plan = slabs_of(state_);
  plan.check_type(type);
  plan.check_arrays(signals, "signals");
  plan.check_arrays(spectra, "spectra");
  plan.check_apart(signals, type, spectra);
  plan.enqueue(Direction::forward, signals, type, spectra, workspaces, streams);
}
void AnySlabPlan::queue_inverse(std::span<const void* const> spectra, std::span<void* const> signals,
                                ElementType type, std::span<const std::span<std::byte>> workspaces,
                                std::span<CUstream_st* const> streams) const {
  const SlabState& plan = slabs_of(state_);
  plan.check_kind(type);
  plan.check_arrays(spectra, "spectra");
  plan.check_arrays(signals, "signals");
  plan.check_apart(signals, type, spectra);
  plan.enqueue(Direction::inverse, spectra, type, signals, workspaces, streams);
}

void AnySlabPlan::scatter_signal(const void* whole, ElementType type, std::span<void* const> slabs) const {
  const SlabState& plan = slabs_of(state_);
  plan.check_type(type);
  plan.check_whole(whole);
  plan.check_arrays(slabs, "slabs");
  sfft::detail::copy_to_slabs(whole, shape(), element_bytes(type), plan.signal_slabs, slabs);
}
void AnySlabPlan::gather_signal(std::span<const void* const> slabs, ElementType type, void* whole) const {
  const SlabState& plan = slabs_of(state_);
  plan.check_type(type);
  plan.check_whole(whole);
  plan.check_arrays(slabs, "slabs");
  sfft::detail::copy_from_slabs(whole, shape(), element_bytes(type), plan.signal_slabs, slabs);
}
void AnySlabPlan::to_slabs(const void* spectrum, std::span<void* const> slabs) const {
  const SlabState& plan = slabs_of(state_);
  plan.check_whole(spectrum);
  plan.check_arrays(slabs, "slabs");
  sfft::detail::copy_to_slabs(spectrum, plan.spectrum, plan.value_bytes, plan.spectrum_slabs, slabs);
}
void AnySlabPlan::from_slabs(std::span<const void* const> slabs, void* spectrum) const {
  const SlabState& plan = slabs_of(state_);
  plan.check_whole(spectrum);
  plan.check_arrays(slabs, "slabs");
  sfft::detail::copy_from_slabs(spectrum, plan.spectrum, plan.value_bytes, plan.spectrum_slabs, slabs);
}

}  // namespace detail

}  // namespace sfft::dense
