// SPDX-License-Identifier: Apache-2.0
// Checks shapes, types, overlap and workspaces once, then passes each call to the runner that planning chose
// for the CPU or the GPU. Allocates a workspace per call if the caller gives none.
#include "sfft/dense.hpp"

#include <fmt/format.h>

#include "kernels/base/argument_checks.hpp"
#include "kernels/base/region.hpp"
#include "kernels/base/run_scope.hpp"
#include "kernels/base/trace.hpp"
#include "kernels/dense/problem/engine.hpp"
#include "kernels/dense/request/call_checks.hpp"
#include "kernels/dense/request/engine_log.hpp"
#include "kernels/dense/request/runner.hpp"
#include "sfft/error.hpp"
#include "sfft/workspace_access.hpp"

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

using sfft::detail::DenseProblem;

template <class Real>
class Impl {
 public:
  Impl(const Shape& grid, bool is_real, const Options& asked) : options(asked) {
    sfft::detail::refuse_formats(options);
    const sfft::detail::TraceRange range("dense: plan");
    const sfft::detail::DenseRequest request = sfft::detail::make_request(grid, is_real, options);
    problem = request.problem;
    try {
      choice = choose(request);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("no memory to plan a transform of {}", grid.to_string()));
    }
    signal_points = static_cast<std::size_t>(total_points(problem));
    spectrum_points = static_cast<std::size_t>(total_spectrum_points(problem));
    span_points = static_cast<std::size_t>(sfft::detail::span_points(problem));
    strided = !problem.contiguous();
    workspace_bytes = choice.runner->workspace_bytes();
    works_in_place = problem.real
                         ? choice.runner->real_in_place() && sfft::detail::padded_for_spectrum(problem)
                         : !strided;
    sfft::detail::log_engine<Real>(problem, *choice.runner, choice.reason);
  }

  static sfft::detail::DenseChoice<Real> choose(const sfft::detail::DenseRequest& request) {
    if (!sfft::detail::for_gpu(request.options)) return sfft::detail::choose_on_cpu<Real>(request);
    if (auto pieces = sfft::detail::choose_out_of_core<Real>(request)) return std::move(*pieces);
    return request.options.device.several() ? sfft::detail::choose_on_several<Real>(request)
                                            : sfft::detail::choose_on_gpu<Real>(request);
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
  void check_device_call(const void* signals, ElementType type, const std::complex<Real>* spectra,
                         std::span<std::byte> workspace) const {
    sfft::detail::check_queued(choice.runner->on_gpu(), workspace, choice.runner->device_workspace_bytes());
    check_arrays(signals, type, spectra);
    sfft::detail::check_device_alignment(signals, element_bytes(type), "signals");
    sfft::detail::check_device_alignment(spectra, sizeof(*spectra), "spectra");
  }

  template <class T>
  void inverse(std::span<const std::complex<Real>> spectrum, std::span<T> signal,
               std::span<std::byte> workspace) const {
    check_kind(std::is_same_v<T, Real>);
    check_span(spectrum, spectrum_points, "spectrum");
    check_span(signal, span_points, "signal");
    check_arrays(signal.data(), element_type_of<T>::value, spectrum.data());
    const sfft::detail::TraceRange range("dense: inverse");
    const sfft::detail::Scratch scratch(workspace, workspace_bytes);
    sfft::detail::enter_stage("dense transform");
    choice.runner->inverse(spectrum.data(), signal.data(), scratch.data());
  }
  template <class T>
  void enqueue_inverse(const std::complex<Real>* spectra, T* signals, std::span<std::byte> workspace,
                       CUstream_st* stream) const {
    check_kind(std::is_same_v<T, Real>);
    check_device_call(signals, element_type_of<T>::value, spectra, workspace);
    const sfft::detail::TraceRange range("dense: enqueue");
    choice.runner->enqueue_inverse(spectra, signals, workspace.data(), stream);
  }

  Options options;
  DenseProblem problem;
  sfft::detail::DenseChoice<Real> choice;
  std::size_t signal_points = 0, spectrum_points = 0;
  std::size_t span_points = 0;  ///< elements from the first to one past the last
  std::size_t workspace_bytes = 0;
  bool strided = false, works_in_place = false;
};

}  // namespace detail

template <class Real>
Plan<Real>::Plan(const Shape& shape, Domain domain, const Options& options)
    : impl_(std::make_shared<const detail::Impl<Real>>(shape, domain == Domain::real, options)) {}

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
  impl_->check_type(type);
  check_span(spectra, impl_->spectrum_points, "spectrum");
  impl_->check_arrays(signals, type, spectra.data());
  const sfft::detail::TraceRange range("dense: forward");
  const sfft::detail::Scratch scratch(workspace, impl_->workspace_bytes);
  sfft::detail::enter_stage("dense transform");
  impl_->choice.runner->forward(signals, type, spectra.data(), scratch.data());
}

template <class Real>
void Plan<Real>::inverse(std::span<const std::complex<Real>> spectrum, std::span<std::complex<Real>> signal,
                         std::span<std::byte> workspace) const {
  impl_->inverse(spectrum, signal, workspace);
}
template <class Real>
void Plan<Real>::inverse(std::span<const std::complex<Real>> spectrum, std::span<Real> signal,
                         std::span<std::byte> workspace) const {
  impl_->inverse(spectrum, signal, workspace);
}

template <class Real>
void Plan<Real>::enqueue_forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                                 std::span<std::byte> workspace, CUstream_st* stream) const {
  impl_->check_type(type);
  impl_->check_device_call(signals, type, spectra, workspace);
  const sfft::detail::TraceRange range("dense: enqueue");
  impl_->choice.runner->enqueue_forward(signals, type, spectra, workspace.data(), stream);
}
template <class Real>
void Plan<Real>::enqueue_inverse(const std::complex<Real>* spectra, std::complex<Real>* signals,
                                 std::span<std::byte> workspace, CUstream_st* stream) const {
  impl_->enqueue_inverse(spectra, signals, workspace, stream);
}
template <class Real>
void Plan<Real>::enqueue_inverse(const std::complex<Real>* spectra, Real* signals,
                                 std::span<std::byte> workspace, CUstream_st* stream) const {
  impl_->enqueue_inverse(spectra, signals, workspace, stream);
}

template <class Real>
std::size_t Plan<Real>::signal_points() const noexcept {
  return impl_->signal_points;
}
template <class Real>
std::size_t Plan<Real>::spectrum_points() const noexcept {
  return impl_->spectrum_points;
}
template <class Real>
std::size_t Plan<Real>::workspace_bytes() const noexcept {
  return impl_->workspace_bytes;
}
template <class Real>
std::size_t Plan<Real>::device_workspace_bytes() const noexcept {
  return impl_->choice.runner->device_workspace_bytes();
}
template <class Real>
Workspace Plan<Real>::make_workspace() const {
  return sfft::detail::make_dense_workspace(workspace_bytes(), device_workspace_bytes(),
                                            options().device.gpu_number());
}

template <class Real>
const Shape& Plan<Real>::shape() const noexcept {
  return impl_->problem.shape;
}
template <class Real>
Domain Plan<Real>::domain() const noexcept {
  return impl_->problem.domain();
}
template <class Real>
const Options& Plan<Real>::options() const noexcept {
  return impl_->options;
}
template <class Real>
Engine Plan<Real>::engine() const noexcept {
  return impl_->choice.engine;
}
template <class Real>
std::string Plan<Real>::engine_name() const {
  return impl_->choice.runner->name();
}
template <class Real>
std::string Plan<Real>::reason() const {
  return impl_->choice.reason;
}
template <class Real>
std::string Plan<Real>::explain() const {
  return fmt::format("{}\n{}", reason(), impl_->choice.runner->explain());
}

template class Plan<float>;
template class Plan<double>;

}  // namespace sfft::dense
