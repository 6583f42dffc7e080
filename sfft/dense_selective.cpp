// SPDX-License-Identifier: Apache-2.0
// Checks supports, ranges of frequencies, magnitudes and arrays, then passes each call to the runner that
// planning chose.
#include "sfft/dense_selective.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kernels/base/math/elements.hpp"
#include "kernels/runtime/argument_checks.hpp"
#include "sfft/dense_state.hpp"

namespace sfft::dense {

namespace detail {

namespace {

void check_support(std::span<const std::int64_t> support, std::int64_t spectrum) {
  if (support.empty()) throw Error(ErrorCode::invalid_support, "the support is empty: nothing would be kept");
  std::int64_t last = -1;
  for (const std::int64_t element : support) {
    if (element <= last || element >= spectrum) {
      throw Error(ErrorCode::invalid_support,
                  fmt::format("element {} of the support is not above {} and below {}: give elements of one "
                              "spectrum in ascending order, each once",
                              element, last, spectrum));
    }
    last = element;
  }
}

void check_range(const Shape& shape, const char* name, std::int64_t count, std::int64_t max) {
  if (shape.rank() != 1) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}() is for 1D signals, and the shape is {}: give a shape with one extent, and use "
                    "Options::batch for several signals",
                    name, shape.to_string()));
  }
  if (count < 1 || count > max) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}() of {} frequencies: give a count from 1 to {}", name, count, max));
  }
}

/// `x` modulo n, near 0: frequencies are periodic.
double checked_frequency(double x, std::int64_t n, const char* what) {
  if (!std::isfinite(x))
    throw Error(ErrorCode::invalid_argument, fmt::format("the {} of zoom() is {}: give a number", what, x));
  return std::remainder(x, static_cast<double>(n));
}

}  // namespace

using sfft::detail::Direction;
using sfft::detail::SelectedCall;

namespace {

sfft::detail::DenseRequest forward_request(const Shape& shape, Domain domain, const Options& options) {
  sfft::detail::DenseRequest request = sfft::detail::make_request(shape, domain == Domain::real, options);
  sfft::detail::refuse_several(request, "SelectivePlan");
  request.problem.forward_only = true;
  return request;
}

}  // namespace

template <class Real>
class SelectiveState final : public StateOf<SelectedCall<Real>> {
  using State = StateOf<SelectedCall<Real>>;

 public:
  using State::device_workspace_bytes;
  using State::options;
  using State::problem;
  using State::runner;

  SelectiveState(const sfft::detail::DenseRequest& request, const sfft::detail::KeptOutput& output)
      : State(request.options, request.problem), kept(output) {
    this->plan("selective: plan", [&] { return sfft::detail::choose_selected<Real>(request, kept); });
    this->template log<Real>();
  }

  std::string explain() const override {
    return fmt::format("{}: {} of {} transforms of {}, the spectrum is {}", runner->name(),
                       kept.values() == 0 ? std::string("coefficients above a magnitude")
                                          : fmt::format("{} coefficients", kept.values()),
                       options.batch, problem.shape.to_string(),
                       runner->stores_spectrum() ? "stored in the workspace" : "never stored");
  }

  void check(const void* signals, ElementType type, bool wants_support) const {
    if (wants_support == (kept.values() == 0)) {
      throw Error(ErrorCode::invalid_argument, wants_support
                                                   ? "the plan keeps what is above a magnitude: use above()"
                                                   : "the plan keeps a support: use at()");
    }
    if (element_bytes(type) == 0)
      throw Error(ErrorCode::invalid_argument, "the signal's element type is unknown");
    const ElementType own = sfft::detail::own_type<Real>(problem);
    if (type != own && !(sfft::detail::is_integer(type) && is_complex(type) != problem.real)) {
      throw Error(ErrorCode::type_mismatch,
                  fmt::format("{} samples for a selective plan of {} and {}", sfft::to_string(type),
                              sfft::to_string(own), problem.real ? "real integers" : "complex integers"));
    }
    if (runner->on_gpu()) sfft::detail::check_gpu_type(type, "the signal's type");
    if (signals == nullptr) throw Error(ErrorCode::invalid_argument, "the signal is null");
  }
  static void check_magnitude(Real magnitude) {
    if (!(magnitude >= 0))
      throw Error(ErrorCode::invalid_argument, "the magnitude is negative or NaN: give 0 or more");
  }
  void check_device_call(const void* signals, ElementType type, std::span<std::byte> workspace) const {
    sfft::detail::check_queued(runner->on_gpu(), workspace, device_workspace_bytes);
    const std::size_t together = element_bytes(type) * (problem.real ? 2 : 1);
    if (reinterpret_cast<std::uintptr_t>(signals) % together != 0)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the signals are not aligned to {} bytes", together));
  }

  std::size_t values() const noexcept { return kept.values() * static_cast<std::size_t>(problem.batch); }

  sfft::detail::KeptOutput kept;
};

namespace {

template <class Real>
const SelectiveState<Real>& selective(const std::shared_ptr<const PlanState>& state) noexcept {
  return static_cast<const SelectiveState<Real>&>(*state);
}

/// Calls `call` with the state in its precision.
template <class Call>
void in_precision(const std::shared_ptr<const PlanState>& state, const Call& call) {
  if (const auto* single = dynamic_cast<const SelectiveState<float>*>(state.get()))
    call(*single);
  else
    call(selective<double>(state));
}

template <class Real>
std::shared_ptr<const PlanState> make_state(const sfft::detail::DenseRequest& request,
                                            const sfft::detail::KeptOutput& kept) {
  return std::make_shared<const SelectiveState<Real>>(request, kept);
}

}  // namespace

std::shared_ptr<const PlanState> AnySelectivePlan::make(const Shape& shape, Domain domain, const Kept& kept,
                                                        const Options& options, bool single) {
  const sfft::detail::DenseRequest request = forward_request(shape, domain, options);
  const std::int64_t n = shape.points();
  sfft::detail::KeptOutput output;
  if (kept.support) {
    check_support(*kept.support, request.problem.spectrum_points());
    output.support.assign(kept.support->begin(), kept.support->end());
  } else if (kept.band) {
    check_range(shape, "band", kept.count, n);
    const std::int64_t first = kept.first % n;
    output.range = {.start = static_cast<double>(first), .step = 1, .count = kept.count, .bins = true};
  } else if (kept.zoom) {
    constexpr std::int64_t kMax = std::int64_t{1} << 40;
    check_range(shape, "zoom", kept.count, kMax);
    output.range = {.start = checked_frequency(kept.start, n, "start"),
                    .step = checked_frequency(kept.step, n, "step"),
                    .count = kept.count};
  }
  return single ? make_state<float>(request, output) : make_state<double>(request, output);
}

bool AnySelectivePlan::stores_spectrum() const noexcept {
  return state_->any_runner().stores_spectrum();
}

void AnySelectivePlan::run_at(const void* signals, ElementType type, void* values, std::size_t count) const {
  in_precision(state_, [&](const auto& plan) {
    plan.check(signals, type, true);
    if (count != plan.values()) {
      throw Error(ErrorCode::shape_mismatch, fmt::format("{} values for {} signals with a support of {}",
                                                         count, plan.problem.batch, plan.kept.values()));
    }
    const sfft::detail::TraceRange range("selective: forward");
    plan.runner->run({{Direction::forward, signals, type, values}});
  });
}

void AnySelectivePlan::queue_at(const void* signals, ElementType type, void* values,
                                std::span<std::byte> workspace, CUstream_st* stream) const {
  in_precision(state_, [&](const auto& plan) {
    plan.check(signals, type, true);
    plan.check_device_call(signals, type, workspace);
    if (values == nullptr) throw Error(ErrorCode::invalid_argument, "the array for the values is null");
    const sfft::detail::TraceRange range("selective: enqueue");
    plan.runner->enqueue({{Direction::forward, signals, type, values, workspace.data(), stream}});
  });
}

}  // namespace detail

template <class Real>
typename SelectivePlan<Real>::Coefficients SelectivePlan<Real>::forward_above(const void* signals,
                                                                              ElementType type,
                                                                              Real magnitude) const {
  const detail::SelectiveState<Real>& plan = detail::selective<Real>(state_);
  plan.check(signals, type, false);
  plan.check_magnitude(magnitude);
  const sfft::detail::TraceRange range("selective: forward");
  Coefficients kept;
  plan.runner->run({{detail::Direction::forward, signals, type}, magnitude, &kept.indices, &kept.values});
  return kept;
}

template <class Real>
void SelectivePlan<Real>::enqueue_above(const void* signals, ElementType type, Real magnitude,
                                        const DeviceCoefficients<Real>& kept, std::span<std::byte> workspace,
                                        CUstream_st* stream) const {
  const detail::SelectiveState<Real>& plan = detail::selective<Real>(state_);
  plan.check(signals, type, false);
  plan.check_magnitude(magnitude);
  plan.check_device_call(signals, type, workspace);
  const bool arrays = kept.capacity == 0 || (kept.indices != nullptr && kept.values != nullptr);
  if (kept.count == nullptr || kept.capacity < 0 || !arrays)
    throw Error(ErrorCode::invalid_argument,
                "an array for the coefficients is null, or the capacity negative");
  sfft::detail::check_device_alignment(kept.indices, sizeof(*kept.indices), "indices");
  sfft::detail::check_device_alignment(kept.values, sizeof(*kept.values), "values");
  sfft::detail::check_device_alignment(kept.count, sizeof(*kept.count), "count");
  const sfft::detail::TraceRange range("selective: enqueue");
  plan.runner->enqueue({{detail::Direction::forward, signals, type, nullptr, workspace.data(), stream},
                        magnitude,
                        nullptr,
                        nullptr,
                        kept});
}

template class SelectivePlan<float>;
template class SelectivePlan<double>;

}  // namespace sfft::dense
