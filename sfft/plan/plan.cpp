// SPDX-License-Identifier: Apache-2.0
// The public plan: checks its arguments and hands frames to threads or to the GPU.
#include "sfft/plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "kernels/runtime/exclusive.hpp"
#include "kernels/runtime/trace.hpp"
#include "sfft/error.hpp"
#include "sfft/plan/kept.hpp"
#include "sfft/plan/plan_impl.hpp"

namespace sfft {

namespace {
constexpr const char* kWorkspaceInUse =
    "the workspace is in use by another thread: give each thread a workspace of its own, from "
    "make_workspace()";

}  // namespace

template <class Real>
Plan<Real>::Plan(const Template& tmpl, const PlanOptions& options) {
  const detail::TraceRange range("plan");
  auto impl = std::make_shared<detail::PlanImpl<Real>>();
  impl->design = detail::make_design<Real>(tmpl, options);
  if (impl->design->info.reference) {
    const detail::TemplateData& data = *detail::data_of(tmpl);
    impl->set_reference(SignalView(data.reference.data(), static_cast<std::size_t>(data.shape.points()),
                                   data.reference_type, data.shape),
                        data.values);
  }
  impl_ = std::move(impl);
}

template <class Real>
void Plan<Real>::execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
                         Workspace& workspace) const {
  if (frames.size() != spectra.size()) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("{} frames but {} spectra", frames.size(), spectra.size()));
  }
  for (const SignalView& frame : frames) impl_->check(frame);
  const detail::TraceRange range("execute");
  detail::WorkspaceImpl& own = detail::inside(workspace);
  const detail::Exclusive exclusive(own.in_use, kWorkspaceInUse);
  for (Spectrum<Real>& spectrum : spectra) impl_->prepare(spectrum);
  own.fit(impl_->design);
  own.fit_threads(impl_->design->threads);
  impl_->design->executor->execute(frames, spectra, impl_->reference.get(), *own.state, own.pool.get());
}

template <class Real>
void Plan<Real>::execute(const SignalView& frame, Spectrum<Real>& spectrum, Workspace& workspace) const {
  execute(std::span<const SignalView>(&frame, 1), std::span<Spectrum<Real>>(&spectrum, 1), workspace);
}

template <class Real>
Spectrum<Real> Plan<Real>::execute(const SignalView& frame) const {
  Workspace workspace;
  Spectrum<Real> spectrum;
  execute(frame, spectrum, workspace);
  return spectrum;
}

template <class Real>
void Plan<Real>::enqueue(const DeviceView& frames, const DeviceSpectra& spectra, Workspace& workspace,
                         CUstream_st* stream) const {
  impl_->check(frames, spectra);
  const detail::TraceRange range("enqueue");
  detail::WorkspaceImpl& own = detail::inside(workspace);
  const detail::Exclusive exclusive(own.in_use, kWorkspaceInUse);
  if (own.made_for != impl_->design) {
    throw Error(
        ErrorCode::invalid_argument,
        "the workspace was made for another plan, and enqueue() never allocates: use make_workspace()");
  }
  if (frames.count > 0)
    impl_->design->executor->enqueue({frames.data, frames.type, frames.count, frames.pitch.value_or(0)},
                                     spectra, impl_->reference.get(), *own.state, stream);
}

template <class Real>
Workspace Plan<Real>::make_workspace() const {
  Workspace workspace;
  detail::inside(workspace).fit(impl_->design);
  return workspace;
}

template <class Real>
Spectrum<Real> Plan<Real>::make_spectrum() const {
  Spectrum<Real> spectrum;
  impl_->prepare(spectrum);
  return spectrum;
}

template <class Real>
Plan<Real> Plan<Real>::with_reference(const SignalView& frame,
                                      std::span<const std::complex<double>> coefficients) const {
  impl_->check(frame);
  for (const std::complex<double>& value : coefficients) {
    if (!std::isfinite(value.real()) || !std::isfinite(value.imag()))
      throw Error(ErrorCode::invalid_argument, "the reference's coefficients must be finite: one is not");
  }
  const bool compared =
      info().witness_samples > 0 && coefficients.size() == static_cast<std::size_t>(source().k());
  auto impl = std::make_shared<detail::PlanImpl<Real>>();
  impl->design = impl_->design;
  const double error =
      compared ? impl_->error_of_reference(frame, without_reference().execute(frame).values, coefficients)
               : 0;
  impl->set_reference(frame, coefficients, error);
  return Plan(std::move(impl));
}

template <class Real>
Plan<Real> Plan<Real>::without_reference() const {
  auto impl = std::make_shared<detail::PlanImpl<Real>>();
  impl->design = impl_->design;
  return Plan(std::move(impl));
}

template <class Real>
Template Plan<Real>::keep_in(const Template& tmpl) const {
  if (!detail::same_to_a_planner(*detail::data_of(tmpl), *detail::data_of(source())))
    throw Error(ErrorCode::invalid_argument,
                "the plan was made from another template: keep it in the one that it was made from");
  auto data = std::make_shared<detail::TemplateData>(*detail::data_of(tmpl));
  for (const detail::KeptPlan& decision : impl_->design->decisions) detail::keep(*data, decision);
  return detail::make_template(std::move(data));
}

template <class Real>
const Template& Plan<Real>::source() const noexcept {
  return impl_->design->source;
}

template <class Real>
const PlanOptions& Plan<Real>::options() const noexcept {
  return impl_->design->options;
}
template <class Real>
const PlanInfo& Plan<Real>::info() const noexcept {
  return impl_->design->info;
}

template <class Real>
std::string Plan<Real>::explain() const {
  return detail::explain(impl_->design->info, impl_->design->source);
}

template class Plan<float>;
template class Plan<double>;

}  // namespace sfft
