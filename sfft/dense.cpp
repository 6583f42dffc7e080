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

void check_values(const void* values, std::size_t count, std::size_t expected, const char* what) {
  if (count != expected) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("the {} has {} values, this plan's has {}", what, count, expected));
  }
  if (values == nullptr) throw Error(ErrorCode::invalid_argument, fmt::format("the {} is null", what));
}

}  // namespace

Layout Options::Layout::of_axes(std::span<const std::int64_t> extents, std::span<const int> axes,
                                Domain domain) {
  constexpr std::size_t kMaxRank = 16;
  const auto rank = static_cast<int>(extents.size());
  if (extents.size() > kMaxRank)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the array has {} dimensions: of_axes() takes up to {}", rank, kMaxRank));
  std::vector<Dimension> dimensions(extents.size());
  std::int64_t signal_stride = 1, spectrum_stride = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    const bool half = domain == Domain::real && !axes.empty() && axes.back() == static_cast<int>(d);
    const std::int64_t kept = half ? extents[d] / 2 + 1 : extents[d];
    dimensions[d] = {extents[d], signal_stride, spectrum_stride};
    if (extents[d] < 1)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("extent {} of the array is {}: extents are 1 or more", d, extents[d]));
    if (__builtin_mul_overflow(signal_stride, extents[d], &signal_stride) ||
        __builtin_mul_overflow(spectrum_stride, kept, &spectrum_stride))
      throw Error(ErrorCode::size_overflow, "the array has more than 2^63 elements");
  }
  Layout layout;
  std::vector<bool> named(extents.size());
  for (const int axis : axes) {
    if (axis < 0 || axis >= rank)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("there is no axis {}: the array's axes are 0 to {}", axis, rank - 1));
    const auto at = static_cast<std::size_t>(axis);
    if (named[at]) throw Error(ErrorCode::invalid_argument, fmt::format("axis {} is named twice", axis));
    named[at] = true;
    layout.transformed.push_back(dimensions[at]);
  }
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (!named[d]) layout.batch.push_back(dimensions[d]);
  return layout;
}

namespace detail {

using sfft::detail::Direction;
using sfft::detail::FullCall;

class FullState final : public StateOf<FullCall> {
 public:
  /// `values`: of each result of a plan that computes no Fourier transform; 0 for one that does.
  FullState(const sfft::detail::DenseRequest& request, bool single, std::int64_t values, bool in_place)
      : StateOf(request.options, request.problem),
        signal_points(static_cast<std::size_t>(total_points(problem))),
        spectrum_points(static_cast<std::size_t>(
            values > 0       ? problem.batch * values
            : request.layout ? sfft::detail::spectrum_span(*request.layout, problem.real)
                             : total_spectrum_points(problem))),
        span_points(static_cast<std::size_t>(request.layout ? sfft::detail::signal_span(*request.layout)
                                                            : sfft::detail::span_points(problem))),
        value_bytes((values > 0 && problem.real ? 1U : 2U) * (single ? sizeof(float) : sizeof(double))),
        own_type(single ? sfft::detail::own_type<float>(problem) : sfft::detail::own_type<double>(problem)),
        strided(request.layout || !problem.contiguous()),
        works_in_place(in_place) {}

  /// Stores the choice that `choose` returns for the precision.
  template <class Choose>
  void choose(bool single, const Choose& choose) {
    plan("dense: plan", [&] { return single ? choose(float()) : choose(double()); });
    single ? log<float>() : log<double>();
  }

  void check_type(ElementType type) const {
    if (element_bytes(type) == 0)
      throw Error(ErrorCode::invalid_argument, "the signal's element type is unknown");
    if (problem.real && is_complex(type))
      throw Error(ErrorCode::type_mismatch,
                  fmt::format("a {} signal for a real plan: make the plan complex", sfft::to_string(type)));
    if (runner->on_gpu()) sfft::detail::check_gpu_type(type, "the signal's type");
  }
  void check_kind(ElementType type) const {
    if (problem.real == is_complex(type)) {
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
    sfft::detail::check_overlap(signals, span_points * element_bytes(type), spectra,
                                spectrum_points * value_bytes, type == own_type && works_in_place);
  }
  void check_device_call(const FullCall& call, std::span<std::byte> workspace) const {
    const bool forward = call.direction == Direction::forward;
    const void *const signals = forward ? call.from : call.to, *const spectra = forward ? call.to : call.from;
    sfft::detail::check_queued(runner->on_gpu(), workspace, device_workspace_bytes);
    check_arrays(signals, call.type, spectra);
    sfft::detail::check_device_alignment(signals, element_bytes(call.type), "signals");
    sfft::detail::check_device_alignment(spectra, value_bytes, "spectra");
  }

  std::size_t signal_points, spectrum_points;
  std::size_t span_points;  ///< elements from the first to one past the last
  std::size_t value_bytes;  ///< of a value of the spectrum
  ElementType own_type;     ///< of signals in the plan's precision
  bool strided, works_in_place;
};

namespace {

const FullState& full(const std::shared_ptr<const PlanState>& state) noexcept {
  return static_cast<const FullState&>(*state);
}

/// Runs a checked call in the caller's workspace, or in one of its own.
void run(const char* name, const FullState& plan, FullCall call, std::span<std::byte> workspace) {
  const sfft::detail::TraceRange range(name);
  const sfft::detail::Scratch scratch(workspace, plan.workspace_bytes);
  sfft::detail::enter_stage("dense transform");
  call.workspace = scratch.data();
  plan.runner->run(call);
}

void enqueue(const FullState& plan, const FullCall& call, std::span<std::byte> workspace) {
  plan.check_device_call(call, workspace);
  const sfft::detail::TraceRange range("dense: enqueue");
  plan.runner->enqueue(call);
}

}  // namespace

std::shared_ptr<const PlanState> FullPlan::make(const Shape& shape, Domain domain, const Options& options,
                                                bool single, const Other& other) {
  const bool real = domain == Domain::real;
  const auto request = other.layout != nullptr ? sfft::detail::make_request(*other.layout, real, options)
                                               : sfft::detail::make_request(shape, real, options);
  std::shared_ptr<FullState> state;
  if (!other.kinds.empty()) {
    state = std::make_shared<FullState>(request, single, shape.points(), true);
    state->choose(single, [&]<class Real>(Real) {
      return sfft::detail::choose_trigonometric<Real>(request, other.kinds);
    });
  } else if (other.kernel != nullptr) {
    const sfft::detail::ConvolutionRequest convolution{*other.kernel, other.extent, other.correlate};
    const std::int64_t values = sfft::detail::convolution_shape(shape, convolution).points();
    state = std::make_shared<FullState>(request, single, values, false);
    state->choose(single, [&]<class Real>(Real) {
      return sfft::detail::choose_convolution<Real>(request, convolution);
    });
  } else {
    state = std::make_shared<FullState>(request, single, 0, false);
    state->choose(single, [&]<class Real>(Real) { return sfft::detail::choose<Real>(request); });
    state->works_in_place = (!real || state->runner->real_in_place()) &&
                            sfft::detail::layouts_agree(request.whole_layout(), real);
  }
  return state;
}

void FullPlan::run_forward(const SignalView& signal, void* spectrum, std::size_t points,
                           std::span<std::byte> workspace) const {
  if (options().batch != 1 || full(state_).strided)
    throw Error(ErrorCode::invalid_argument,
                "the plan is for a batch or has strides: give forward() a pointer and an element type");
  if (signal.shape() != shape()) {
    throw Error(ErrorCode::shape_mismatch, fmt::format("the signal is {}, the plan is for {}",
                                                       signal.shape().to_string(), shape().to_string()));
  }
  if (signal.contiguous())
    return run_forward(signal.data(), signal.type(), kNotGiven, spectrum, points, workspace);
  const sfft::detail::Scratch copy({}, signal.bytes());
  sfft::detail::copy_elements(signal, copy.data());
  run_forward(copy.data(), signal.type(), kNotGiven, spectrum, points, workspace);
}

void FullPlan::run_forward(const void* signals, ElementType type, std::size_t elements, void* spectra,
                           std::size_t points, std::span<std::byte> workspace) const {
  const FullState& plan = full(state_);
  plan.check_type(type);
  if (elements != kNotGiven) check_values(signals, elements, plan.span_points, "signal");
  check_values(spectra, points, plan.spectrum_points, "spectrum");
  plan.check_arrays(signals, type, spectra);
  run("dense: forward", plan, {Direction::forward, signals, type, spectra}, workspace);
}
void FullPlan::run_inverse(const void* spectra, std::size_t points, void* signals, ElementType type,
                           std::size_t elements, std::span<std::byte> workspace) const {
  const FullState& plan = full(state_);
  plan.check_kind(type);
  check_values(spectra, points, plan.spectrum_points, "spectrum");
  check_values(signals, elements, plan.span_points, "signal");
  plan.check_arrays(signals, type, spectra);
  run("dense: inverse", plan, {Direction::inverse, spectra, type, signals}, workspace);
}

void FullPlan::queue_forward(const void* signals, ElementType type, void* spectra,
                             std::span<std::byte> workspace, CUstream_st* stream) const {
  full(state_).check_type(type);
  enqueue(full(state_), {Direction::forward, signals, type, spectra, workspace.data(), stream}, workspace);
}
void FullPlan::queue_inverse(const void* spectra, void* signals, ElementType type,
                             std::span<std::byte> workspace, CUstream_st* stream) const {
  full(state_).check_kind(type);
  enqueue(full(state_), {Direction::inverse, spectra, type, signals, workspace.data(), stream}, workspace);
}

std::size_t FullPlan::signal_points() const noexcept {
  return full(state_).signal_points;
}
std::size_t FullPlan::spectrum_points() const noexcept {
  return full(state_).spectrum_points;
}

}  // namespace detail

}  // namespace sfft::dense
