// SPDX-License-Identifier: Apache-2.0
// A GPU plan filters coefficients in the runner, often before they are stored; a CPU plan stores the whole
// spectrum in every call and picks from it here.
#include "sfft/dense_selective.hpp"

#include <fmt/format.h>

#include <optional>

#include "kernels/base/argument_checks.hpp"
#include "kernels/base/memory_budget.hpp"
#include "kernels/base/trace.hpp"
#include "kernels/dense/request/engine_log.hpp"
#include "kernels/dense/request/selective_runner.hpp"
#include "sfft/workspace_access.hpp"

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

}  // namespace

template <class Real>
class SelectiveImpl {
 public:
  SelectiveImpl(const Shape& shape, Domain domain, const Options& asked, bool has_support,
                std::span<const std::int64_t> chosen)
      : options(asked), support(chosen.begin(), chosen.end()) {
    const sfft::detail::TraceRange range("selective: plan");
    sfft::detail::refuse_formats(options);
    sfft::detail::DenseRequest request = sfft::detail::make_request(shape, domain == Domain::real, options);
    sfft::detail::refuse_several(request, "SelectivePlan");
    request.problem.forward_only = true;
    problem = request.problem;
    if (has_support) check_support(support, problem.spectrum_points());
    if (sfft::detail::for_gpu(options)) {
      gpu = sfft::detail::select_on_gpu<Real>(request, support);
      sfft::detail::log_engine<Real>(
          problem, *gpu, gpu->stores_spectrum() ? "stores the spectrum" : "never stores the spectrum");
    } else {
      plan.emplace(shape, domain, options);
    }
  }

  void check(const void* signals, ElementType type, bool wants_support) const {
    if (wants_support == support.empty()) {
      throw Error(ErrorCode::invalid_argument, support.empty()
                                                   ? "the plan keeps what is above a magnitude: use above()"
                                                   : "the plan keeps a support: use at()");
    }
    if (element_bytes(type) == 0)
      throw Error(ErrorCode::invalid_argument, "the signal's element type is unknown");
    const ElementType own = sfft::detail::own_type<Real>(problem);
    const bool camera = problem.real && (type == ElementType::u8 || type == ElementType::u16);
    if (type != own && !camera) {
      throw Error(ErrorCode::type_mismatch,
                  fmt::format("{} samples for a selective plan of {}{}", sfft::to_string(type),
                              sfft::to_string(own), problem.real ? ", u8 and u16" : ""));
    }
    if (signals == nullptr) throw Error(ErrorCode::invalid_argument, "the signal is null");
  }
  static void check_magnitude(Real magnitude) {
    if (!(magnitude >= 0))
      throw Error(ErrorCode::invalid_argument, "the magnitude is negative or NaN: give 0 or more");
  }
  void check_device_call(const void* signals, ElementType type, std::span<std::byte> workspace) const {
    sfft::detail::check_queued(gpu != nullptr, workspace, gpu == nullptr ? 0 : gpu->device_workspace_bytes());
    const std::size_t together = element_bytes(type) * (problem.real ? 2 : 1);
    if (reinterpret_cast<std::uintptr_t>(signals) % together != 0)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the signals are not aligned to {} bytes", together));
  }

  std::size_t kept() const noexcept { return support.size() * static_cast<std::size_t>(problem.batch); }

  /// CPU plans only: the whole spectra of the batch.
  sfft::detail::CountedVector<std::complex<Real>> spectra(const void* signals, ElementType type) const {
    sfft::detail::CountedVector<std::complex<Real>> values;
    try {
      values.resize(plan->spectrum_points());
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("no memory for {} coefficients", plan->spectrum_points()));
    }
    plan->forward(signals, type, values);
    return values;
  }

  Options options;
  sfft::detail::DenseProblem problem;
  std::vector<std::int64_t> support;
  std::optional<Plan<Real>> plan;  ///< CPU plans only
  std::unique_ptr<const sfft::detail::SelectiveRunner<Real>> gpu;
};

}  // namespace detail

template <class Real>
SelectivePlan<Real> SelectivePlan<Real>::above(const Shape& shape, Domain domain, const Options& options) {
  return SelectivePlan(std::make_shared<const detail::SelectiveImpl<Real>>(shape, domain, options, false,
                                                                           std::span<const std::int64_t>{}));
}
template <class Real>
SelectivePlan<Real> SelectivePlan<Real>::at(const Shape& shape, Domain domain,
                                            std::span<const std::int64_t> support, const Options& options) {
  return SelectivePlan(
      std::make_shared<const detail::SelectiveImpl<Real>>(shape, domain, options, true, support));
}

template <class Real>
typename SelectivePlan<Real>::Coefficients SelectivePlan<Real>::forward_above(const void* signals,
                                                                              ElementType type,
                                                                              Real magnitude) const {
  impl_->check(signals, type, false);
  impl_->check_magnitude(magnitude);
  const sfft::detail::TraceRange range("selective: forward");
  Coefficients kept;
  if (impl_->gpu != nullptr) {
    impl_->gpu->above(signals, type, magnitude, kept.indices, kept.values);
    return kept;
  }
  const auto spectra = impl_->spectra(signals, type);
  for (std::size_t i = 0; i < spectra.size(); ++i) {
    const Real re = spectra[i].real(), im = spectra[i].imag();
    if (re * re + im * im <= magnitude * magnitude) continue;
    kept.indices.push_back(static_cast<std::int64_t>(i));
    kept.values.push_back(spectra[i]);
  }
  return kept;
}

template <class Real>
void SelectivePlan<Real>::forward_at(const void* signals, ElementType type,
                                     std::span<std::complex<Real>> values) const {
  impl_->check(signals, type, true);
  if (values.size() != impl_->kept()) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("{} values for {} signals with a support of {}", values.size(),
                            impl_->problem.batch, impl_->support.size()));
  }
  const sfft::detail::TraceRange range("selective: forward");
  if (impl_->gpu != nullptr) return impl_->gpu->at(signals, type, values);
  const auto spectra = impl_->spectra(signals, type);
  const auto spectrum = static_cast<std::size_t>(impl_->problem.spectrum_points());
  std::size_t next = 0;
  for (std::size_t start = 0; start < spectra.size(); start += spectrum) {
    for (const std::int64_t element : impl_->support)
      values[next++] = spectra[start + static_cast<std::size_t>(element)];
  }
}

template <class Real>
std::size_t SelectivePlan<Real>::device_workspace_bytes() const noexcept {
  return impl_->gpu == nullptr ? 0 : impl_->gpu->device_workspace_bytes();
}

template <class Real>
void SelectivePlan<Real>::enqueue_above(const void* signals, ElementType type, Real magnitude,
                                        const DeviceCoefficients<Real>& kept, std::span<std::byte> workspace,
                                        CUstream_st* stream) const {
  impl_->check(signals, type, false);
  impl_->check_magnitude(magnitude);
  impl_->check_device_call(signals, type, workspace);
  const bool arrays = kept.capacity == 0 || (kept.indices != nullptr && kept.values != nullptr);
  if (kept.count == nullptr || kept.capacity < 0 || !arrays)
    throw Error(ErrorCode::invalid_argument,
                "an array for the coefficients is null, or the capacity negative");
  sfft::detail::check_device_alignment(kept.indices, sizeof(*kept.indices), "indices");
  sfft::detail::check_device_alignment(kept.values, sizeof(*kept.values), "values");
  sfft::detail::check_device_alignment(kept.count, sizeof(*kept.count), "count");
  const sfft::detail::TraceRange range("selective: enqueue");
  impl_->gpu->enqueue_above(signals, type, magnitude, kept, workspace.data(), stream);
}

template <class Real>
void SelectivePlan<Real>::enqueue_at(const void* signals, ElementType type, std::complex<Real>* values,
                                     std::span<std::byte> workspace, CUstream_st* stream) const {
  impl_->check(signals, type, true);
  impl_->check_device_call(signals, type, workspace);
  if (values == nullptr) throw Error(ErrorCode::invalid_argument, "the array for the values is null");
  const sfft::detail::TraceRange range("selective: enqueue");
  impl_->gpu->enqueue_at(signals, type, values, workspace.data(), stream);
}

template <class Real>
bool SelectivePlan<Real>::stores_spectrum() const noexcept {
  return impl_->gpu == nullptr || impl_->gpu->stores_spectrum();
}
template <class Real>
Workspace SelectivePlan<Real>::make_workspace() const {
  return sfft::detail::make_dense_workspace(0, device_workspace_bytes(), options().device.gpu_number());
}

template <class Real>
const Shape& SelectivePlan<Real>::shape() const noexcept {
  return impl_->problem.shape;
}
template <class Real>
Domain SelectivePlan<Real>::domain() const noexcept {
  return impl_->problem.domain();
}
template <class Real>
const Options& SelectivePlan<Real>::options() const noexcept {
  return impl_->options;
}
template <class Real>
std::string SelectivePlan<Real>::explain() const {
  return fmt::format("{}: {} of {} transforms of {}, the spectrum is {}", engine_name(),
                     impl_->support.empty() ? std::string("coefficients above a magnitude")
                                            : fmt::format("{} coefficients", impl_->support.size()),
                     options().batch, shape().to_string(),
                     stores_spectrum() ? "stored in the workspace" : "never stored");
}
template <class Real>
Engine SelectivePlan<Real>::engine() const noexcept {
  return impl_->gpu == nullptr ? impl_->plan->engine() : impl_->gpu->engine();
}
template <class Real>
std::string SelectivePlan<Real>::engine_name() const {
  return impl_->gpu == nullptr ? impl_->plan->engine_name() : impl_->gpu->name();
}

template class SelectivePlan<float>;
template class SelectivePlan<double>;

}  // namespace sfft::dense
