// SPDX-License-Identifier: Apache-2.0
// Checks arrays and scales of compact transforms, then passes them to the runner.
#include "sfft/dense_compact.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/dense/cpu/stored_values.hpp"
#include "kernels/runtime/run_scope.hpp"
#include "sfft/dense_state.hpp"

namespace sfft::dense {

using sfft::detail::Direction;

namespace {

void check_size(std::size_t found, std::size_t expected, const char* what, const char* unit) {
  if (found != expected) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("the {} has {} {}, this plan's has {}", what, found, unit, expected));
  }
}

void check_array(std::span<const std::byte> array, std::size_t bytes, Storage storage, const char* what) {
  check_size(array.size(), bytes, what, "bytes");
  if (array.data() == nullptr) throw Error(ErrorCode::invalid_argument, fmt::format("the {} is null", what));
  if (reinterpret_cast<std::uintptr_t>(array.data()) % sfft::detail::storage_alignment(storage) != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the {} is not aligned to its values of {}", what, to_string(storage)));
  }
}

/// Kernels access two parts at once.
void check_device_array(const void* array, Storage storage) {
  if (array == nullptr) throw Error(ErrorCode::invalid_argument, "an array of the call is null");
  if (reinterpret_cast<std::uintptr_t>(array) % (2 * sfft::detail::storage_alignment(storage)) != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("an array of {} in GPU memory is not aligned to {} bytes", to_string(storage),
                            (2 * sfft::detail::storage_alignment(storage))));
  }
}

void check_scale(const CompactScale& scale) {
  constexpr int kMax = 1 << 20;  // far beyond any reported exponent
  if (scale.exponent < -kMax || scale.exponent > kMax || !(scale.relative_error >= 0)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a scale has the exponent {} and the error {}: give what was reported with the "
                            "values, or CompactScale{{}}",
                            scale.exponent, scale.relative_error));
  }
}

void check_scales(std::span<const CompactScale> scales, std::int64_t batch, const char* what) {
  if (!scales.empty()) check_size(scales.size(), static_cast<std::size_t>(batch), what, "scales");
  for (const CompactScale& scale : scales) check_scale(scale);
}

}  // namespace

namespace detail {

using sfft::detail::CompactCall;
using sfft::detail::CompactRequest;

class CompactState final : public StateOf<CompactCall> {
 public:
  explicit CompactState(const CompactRequest& checked)
      : StateOf(checked.dense.options, checked.dense.problem), request(checked) {
    plan("compact: plan", [&] { return sfft::detail::choose_compact(request); });
    sfft::detail::log_decision("dense", [&] {
      return fmt::format("compact {} {}, batch {}: {}: {}", problem.real ? "r2c" : "c2c",
                         problem.shape.to_string(), problem.batch, runner->name(), reason);
    });
  }

  std::string explain() const override {
    const Options::Formats& formats = options.formats;
    return fmt::format("{}\n{} to {}, {} between steps; predicted errors {:.2g} forward, {:.2g} inverse",
                       reason, to_string(formats.signal), to_string(formats.spectrum),
                       to_string(formats.between), info(Direction::forward).predicted_error,
                       info(Direction::inverse).predicted_error);
  }

  /// Real and imaginary parts of one transform.
  std::size_t parts(Direction direction, bool source) const noexcept {
    return static_cast<std::size_t>(source ? source_parts(problem, direction)
                                           : target_parts(problem, direction));
  }
  /// Bytes of the whole batch.
  std::size_t bytes(Direction direction, bool source) const noexcept {
    const Storage storage = source ? request.formats.source(direction) : request.formats.target(direction);
    return static_cast<std::size_t>(problem.batch) * compact_bytes(parts(direction, source), storage);
  }

  /// Checked calls, for run() and for enqueue().
  CompactCall host_call(Direction direction, std::span<const std::byte> from,
                        std::span<const CompactScale> from_scales, std::span<std::byte> to,
                        std::span<CompactScale> to_scales) const {
    const bool forward = direction == Direction::forward;
    check_array(from, bytes(direction, true), request.formats.source(direction),
                forward ? "signal" : "spectrum");
    check_array(to, bytes(direction, false), request.formats.target(direction),
                forward ? "spectrum" : "signal");
    check_scales(from_scales, problem.batch, "input");
    if (!to_scales.empty())
      check_size(to_scales.size(), static_cast<std::size_t>(problem.batch), "output", "scales");
    sfft::detail::check_overlap(from.data(), from.size(), to.data(), to.size(), false);
    CompactCall call{{direction, from.data()}};
    call.to = to.data();
    if (!from_scales.empty()) call.from_scales = from_scales.data();
    if (!to_scales.empty()) call.to_scales = to_scales.data();
    return call;
  }
  CompactCall device_call(CompactCall call, std::span<std::byte> workspace) const {
    sfft::detail::check_queued(runner->on_gpu(), workspace, device_workspace_bytes);
    check_device_array(call.from, request.formats.source(call.direction));
    check_device_array(call.to, request.formats.target(call.direction));
    sfft::detail::check_overlap(call.from, bytes(call.direction, true), call.to, bytes(call.direction, false),
                                false);
    if (call.to_exponents == nullptr && request.formats.needs_exponents(call.direction)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("exponents of these results follow from the data: give `output_exponents`, "
                              "or set {} when planning",
                              call.direction == Direction::forward ? "signal_peak" : "spectrum_peak"));
    }
    call.workspace = workspace.data();
    return call;
  }

  CompactPlan::Info info(Direction direction) const noexcept {
    const auto& formats = request.formats;
    const double handovers = std::sqrt(runner->handovers(direction));
    const bool on_gpu = runner->on_gpu();
    return {std::hypot(sfft::detail::rounding_error(formats.target(direction)),
                       handovers * sfft::detail::rounding_error(formats.between),
                       std::hypot(sfft::detail::arithmetic_error(problem), runner->kernel_error())),
            on_gpu ? exponent_of(request, direction) : 0, on_gpu && formats.source_found(direction)};
  }

  CompactRequest request;
};

namespace {

const CompactState& compact(const std::shared_ptr<const PlanState>& state) noexcept {
  return static_cast<const CompactState&>(*state);
}

/// Runs a call in the caller's workspace, or in one of its own.
void run(const CompactState& plan, CompactCall call, std::span<std::byte> workspace) {
  const sfft::detail::Scratch scratch(workspace, plan.workspace_bytes);
  call.workspace = scratch.data();
  plan.runner->run(call);
}

}  // namespace

}  // namespace detail

std::shared_ptr<const detail::PlanState> CompactPlan::make(const Shape& shape, Domain domain,
                                                           const Options& options) {
  return std::make_shared<const detail::CompactState>(
      sfft::detail::make_compact_request(shape, domain == Domain::real, options));
}

std::size_t CompactPlan::signal_values() const noexcept {
  return detail::compact(state_).parts(Direction::forward, true);
}
std::size_t CompactPlan::spectrum_values() const noexcept {
  return detail::compact(state_).parts(Direction::forward, false);
}
std::size_t CompactPlan::signal_bytes() const noexcept {
  return detail::compact(state_).bytes(Direction::forward, true);
}
std::size_t CompactPlan::spectrum_bytes() const noexcept {
  return detail::compact(state_).bytes(Direction::forward, false);
}

void CompactPlan::forward(std::span<const std::byte> signals, std::span<const CompactScale> signal_scales,
                          std::span<std::byte> spectra, std::span<CompactScale> spectrum_scales,
                          std::span<std::byte> workspace) const {
  const sfft::detail::TraceRange range("compact: forward");
  sfft::detail::enter_stage("dense transform");
  detail::run(
      detail::compact(state_),
      detail::compact(state_).host_call(Direction::forward, signals, signal_scales, spectra, spectrum_scales),
      workspace);
}
void CompactPlan::inverse(std::span<const std::byte> spectra, std::span<const CompactScale> spectrum_scales,
                          std::span<std::byte> signals, std::span<CompactScale> signal_scales,
                          std::span<std::byte> workspace) const {
  const sfft::detail::TraceRange range("compact: inverse");
  sfft::detail::enter_stage("dense transform");
  detail::run(
      detail::compact(state_),
      detail::compact(state_).host_call(Direction::inverse, spectra, spectrum_scales, signals, signal_scales),
      workspace);
}

void CompactPlan::enqueue_forward(const void* signals, void* spectra, std::span<std::byte> workspace,
                                  CUstream_st* stream, const int* input_exponents,
                                  int* output_exponents) const {
  const sfft::detail::TraceRange range("compact: enqueue");
  detail::compact(state_).runner->enqueue(
      detail::compact(state_).device_call({{Direction::forward, signals, {}, spectra, nullptr, stream},
                                           nullptr,
                                           nullptr,
                                           input_exponents,
                                           output_exponents},
                                          workspace));
}
void CompactPlan::enqueue_inverse(const void* spectra, void* signals, std::span<std::byte> workspace,
                                  CUstream_st* stream, const int* input_exponents,
                                  int* output_exponents) const {
  const sfft::detail::TraceRange range("compact: enqueue");
  detail::compact(state_).runner->enqueue(
      detail::compact(state_).device_call({{Direction::inverse, spectra, {}, signals, nullptr, stream},
                                           nullptr,
                                           nullptr,
                                           input_exponents,
                                           output_exponents},
                                          workspace));
}
CompactPlan::Info CompactPlan::forward_info() const noexcept {
  return detail::compact(state_).info(Direction::forward);
}
CompactPlan::Info CompactPlan::inverse_info() const noexcept {
  return detail::compact(state_).info(Direction::inverse);
}

namespace {

void check_values(std::span<const std::byte> stored, Storage storage, const void* values, std::size_t count) {
  sfft::detail::check_storage(storage);
  if (stored.size() != compact_bytes(count, storage)) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("{} values of {} take {} bytes, the array has {}", count, to_string(storage),
                            compact_bytes(count, storage), stored.size()));
  }
  if (values == nullptr) throw Error(ErrorCode::invalid_argument, "the values are null");
  check_array(stored, stored.size(), storage, "array of stored values");
}

template <class Real>
CompactScale store(std::span<const Real> values, Storage storage, std::span<std::byte> stored) {
  check_values(stored, storage, values.data(), values.size());
  sfft::detail::check_overlap(values.data(), values.size_bytes(), stored.data(), stored.size(), false);
  const auto count = static_cast<std::int64_t>(values.size());
  sfft::detail::Census census;
  if constexpr (std::is_same_v<Real, double>) {
    census = sfft::detail::census_of(values.data(), count);
  } else {
    census = sfft::detail::census_of(values.data(), Storage::f32, count);
  }
  CompactScale scale{storing_exponent(census, storage), 0, census.finite};
  scale.relative_error = sfft::detail::write_stored(values.data(), count, scale.exponent, census.exponent,
                                                    storage, stored.data());
  if (!scale.finite) scale.relative_error = std::numeric_limits<double>::infinity();
  return scale;
}

template <class Real>
void load(std::span<const std::byte> stored, Storage storage, const CompactScale& scale,
          std::span<Real> values) {
  check_values(stored, storage, values.data(), values.size());
  check_scale(scale);
  sfft::detail::check_overlap(stored.data(), stored.size(), values.data(), values.size_bytes(), false);
  sfft::detail::read_stored(stored.data(), storage, static_cast<std::int64_t>(values.size()), scale.exponent,
                            values.data());
}

}  // namespace

std::size_t compact_bytes(std::size_t values, Storage storage) noexcept {
  return sfft::detail::storage_bytes(storage, static_cast<std::int64_t>(values));
}
CompactScale store_compact(std::span<const float> values, Storage storage, std::span<std::byte> stored) {
  return store(values, storage, stored);
}
CompactScale store_compact(std::span<const double> values, Storage storage, std::span<std::byte> stored) {
  return store(values, storage, stored);
}
void load_compact(std::span<const std::byte> stored, Storage storage, const CompactScale& scale,
                  std::span<float> values) {
  load(stored, storage, scale, values);
}
void load_compact(std::span<const std::byte> stored, Storage storage, const CompactScale& scale,
                  std::span<double> values) {
  load(stored, storage, scale, values);
}

}  // namespace sfft::dense
