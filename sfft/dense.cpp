// SPDX-License-Identifier: Apache-2.0
// Checks shapes, types, overlap and workspaces once, then passes each call to the runner that planning chose
// for the CPU or the GPU. Allocates a workspace per call if the caller gives none.
#include "sfft/dense.hpp"

#include <fmt/format.h>

#include "kernels/base/math/region.hpp"
#include "kernels/runtime/argument_checks.hpp"
#include "kernels/runtime/run_scope.hpp"
#include "sfft/dense_state.hpp"

namespace sfft::dense {

namespace {

template <class T>
void check_span(std::span<T> values, std::size_t expected, const char* what) {
  if (values.size() != expected) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("the {} has {} values, this plan's has {}", what, values.size(), expected));
  }
  if (values.data() == nullptr) throw Error(ErrorCode::invalid_argument, fmt::format("the {} is null", what));
}

}  // namespace

namespace detail {

using sfft::detail::Direction;
using sfft::detail::FullCall;

template <class Real>
class Impl final : public StateOf<FullCall> {
 public:
  explicit Impl(const sfft::detail::DenseRequest& request)
      : StateOf(request.options, request.problem),
        signal_points(static_cast<std::size_t>(total_points(problem))),
        spectrum_points(static_cast<std::size_t>(total_spectrum_points(problem))),
        span_points(static_cast<std::size_t>(sfft::detail::span_points(problem))),
        strided(!problem.contiguous()) {
    plan("dense: plan", [&] { return sfft::detail::choose<Real>(request); });
    works_in_place =
        problem.real ? runner->real_in_place() && sfft::detail::padded_for_spectrum(problem) : !strided;
    log<Real>();
  }

  void check_type(ElementType type) const {
    if (element_bytes(type) == 0)
      throw Error(ErrorCode::invalid_argument, "the signal's element type is unknown");
    if (problem.real && is_complex(type))
      throw Error(ErrorCode::type_mismatch,
                  fmt::format("a {} signal for a real plan: make the plan complex", sfft::to_string(type)));
  }
  void check_kind(bool wants_real) const {
    if (problem.real != wants_real) {
      throw Error(ErrorCode::type_mismatch,
                  problem.real ? "the plan is for real signals: give inverse() real values"
                               : "the plan is for complex signals: give inverse() complex values");
    }
  }
  /// Rejects null pointers, and overlapping arrays unless they are identical and the transform
  /// works in place.
  void check_arrays(const void* signals, ElementType type, const void* spectra) const {
    if (signals == nullptr) throw Error(ErrorCode::invalid_argument, "the signal is null");
    if (spectra == nullptr) throw Error(ErrorCode::invalid_argument, "the spectrum is null");
    const bool own_type = type == sfft::detail::own_type<Real>(problem);
    sfft::detail::check_overlap(signals, span_points * element_bytes(type), spectra,
                                spectrum_points * sizeof(std::complex<Real>), own_type && works_in_place);
  }
  void check_device_call(const FullCall& call, std::span<std::byte> workspace) const {
    const bool forward = call.direction == Direction::forward;
    const void *const signals = forward ? call.from : call.to, *const spectra = forward ? call.to : call.from;
    sfft::detail::check_queued(runner->on_gpu(), workspace, device_workspace_bytes);
    check_arrays(signals, call.type, spectra);
    sfft::detail::check_device_alignment(signals, element_bytes(call.type), "signals");
    sfft::detail::check_device_alignment(spectra, sizeof(std::complex<Real>), "spectra");
  }

  /// Checked calls, for run() and for enqueue().
  FullCall forward(const void* signals, ElementType type, std::span<std::complex<Real>> spectra) const {
    check_type(type);
    check_span(spectra, spectrum_points, "spectrum");
    check_arrays(signals, type, spectra.data());
    return {Direction::forward, signals, type, spectra.data()};
  }
  template <class T>
  FullCall inverse(std::span<const std::complex<Real>> spectrum, std::span<T> signal) const {
    check_kind(std::is_same_v<T, Real>);
    check_span(spectrum, spectrum_points, "spectrum");
    check_span(signal, span_points, "signal");
    check_arrays(signal.data(), element_type_of<T>::value, spectrum.data());
    return {Direction::inverse, spectrum.data(), element_type_of<T>::value, signal.data()};
  }
  FullCall forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                   std::span<std::byte> workspace, CUstream_st* stream) const {
    check_type(type);
    const FullCall call{Direction::forward, signals, type, spectra, workspace.data(), stream};
    check_device_call(call, workspace);
    return call;
  }
  template <class T>
  FullCall inverse(const std::complex<Real>* spectra, T* signals, std::span<std::byte> workspace,
                   CUstream_st* stream) const {
    check_kind(std::is_same_v<T, Real>);
    const FullCall call{Direction::inverse, spectra, element_type_of<T>::value, signals,
                        workspace.data(),   stream};
    check_device_call(call, workspace);
    return call;
  }

  std::size_t signal_points, spectrum_points;
  std::size_t span_points;  ///< elements from the first to one past the last
  bool strided, works_in_place = false;
};

namespace {

/// Runs a checked call in the caller's workspace, or in one of its own.
void run(const char* name, const StateOf<FullCall>& plan, FullCall call, std::span<std::byte> workspace) {
  const sfft::detail::TraceRange range(name);
  const sfft::detail::Scratch scratch(workspace, plan.workspace_bytes);
  sfft::detail::enter_stage("dense transform");
  call.workspace = scratch.data();
  plan.runner->run(call);
}

void enqueue(const StateOf<FullCall>& plan, const FullCall& call) {
  const sfft::detail::TraceRange range("dense: enqueue");
  plan.runner->enqueue(call);
}

}  // namespace

}  // namespace detail

template <class Real>
Plan<Real>::Plan(const Shape& shape, Domain domain, const Options& options)
    : impl_(std::make_shared<const detail::Impl<Real>>(
          sfft::detail::make_request(shape, domain == Domain::real, options))) {
  state_ = impl_.get();
}

template <class Real>
void Plan<Real>::forward(const SignalView& signal, std::span<std::complex<Real>> spectrum,
                         std::span<std::byte> workspace) const {
  if (impl_->options.batch != 1 || impl_->strided)
    throw Error(ErrorCode::invalid_argument,
                "the plan is for a batch or has strides: give forward() a pointer and an element type");
  if (signal.shape() != shape()) {
    throw Error(ErrorCode::shape_mismatch, fmt::format("the signal is {}, the plan is for {}",
                                                       signal.shape().to_string(), shape().to_string()));
  }
  if (signal.contiguous()) return forward(signal.data(), signal.type(), spectrum, workspace);
  const sfft::detail::Scratch copy({}, signal.bytes());
  sfft::detail::copy_elements(signal, copy.data());
  forward(copy.data(), signal.type(), spectrum, workspace);
}

template <class Real>
void Plan<Real>::forward(const void* signals, ElementType type, std::span<std::complex<Real>> spectra,
                         std::span<std::byte> workspace) const {
  detail::run("dense: forward", *impl_, impl_->forward(signals, type, spectra), workspace);
}
template <class Real>
void Plan<Real>::inverse(std::span<const std::complex<Real>> spectrum, std::span<std::complex<Real>> signal,
                         std::span<std::byte> workspace) const {
  detail::run("dense: inverse", *impl_, impl_->inverse(spectrum, signal), workspace);
}
template <class Real>
void Plan<Real>::inverse(std::span<const std::complex<Real>> spectrum, std::span<Real> signal,
                         std::span<std::byte> workspace) const {
  detail::run("dense: inverse", *impl_, impl_->inverse(spectrum, signal), workspace);
}

template <class Real>
void Plan<Real>::enqueue_forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                                 std::span<std::byte> workspace, CUstream_st* stream) const {
  detail::enqueue(*impl_, impl_->forward(signals, type, spectra, workspace, stream));
}
template <class Real>
void Plan<Real>::enqueue_inverse(const std::complex<Real>* spectra, std::complex<Real>* signals,
                                 std::span<std::byte> workspace, CUstream_st* stream) const {
  detail::enqueue(*impl_, impl_->inverse(spectra, signals, workspace, stream));
}
template <class Real>
void Plan<Real>::enqueue_inverse(const std::complex<Real>* spectra, Real* signals,
                                 std::span<std::byte> workspace, CUstream_st* stream) const {
  detail::enqueue(*impl_, impl_->inverse(spectra, signals, workspace, stream));
}

template <class Real>
std::size_t Plan<Real>::signal_points() const noexcept {
  return impl_->signal_points;
}
template <class Real>
std::size_t Plan<Real>::spectrum_points() const noexcept {
  return impl_->spectrum_points;
}

template class Plan<float>;
template class Plan<double>;

}  // namespace sfft::dense
