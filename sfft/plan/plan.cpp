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
void Plan<Real>::execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
                         Workspace& workspace) const {
  const detail::PlanImpl<Real>& plan = detail::inside(*this);
  if (frames.size() != spectra.size()) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("{} frames but {} spectra", frames.size(), spectra.size()));
  }
  for (const SignalView& frame : frames) plan.check(frame);
  const detail::TraceRange range("execute");
  detail::WorkspaceImpl& own = detail::inside(workspace);
  const detail::Exclusive exclusive(own.in_use, kWorkspaceInUse);
  for (Spectrum<Real>& spectrum : spectra) plan.prepare(spectrum);
  own.fit(plan.design);
  own.fit_threads(plan.design->threads);
  plan.design->executor->execute(frames, spectra, plan.reference.get(), *own.state, own.pool.get());
}

template <class Real>
void Plan<Real>::enqueue(const DeviceView& frames, const DeviceSpectra& spectra, Workspace& workspace,
                         CUstream_st* stream) const {
  const detail::PlanImpl<Real>& plan = detail::inside(*this);
  plan.check(frames, spectra);
  const detail::TraceRange range("enqueue");
  detail::WorkspaceImpl& own = detail::inside(workspace);
  const detail::Exclusive exclusive(own.in_use, kWorkspaceInUse);
  if (own.made_for != plan.design) {
    throw Error(
        ErrorCode::invalid_argument,
        "the workspace was made for another plan, and enqueue() never allocates: use make_workspace()");
  }
  if (frames.count > 0)
    plan.design->executor->enqueue({frames.data, frames.type, frames.count, frames.pitch.value_or(0)},
                                   spectra, plan.reference.get(), *own.state, stream);
}

template <class Real>
Spectrum<Real> Plan<Real>::make_spectrum() const {
  Spectrum<Real> spectrum;
  detail::inside(*this).prepare(spectrum);
  return spectrum;
}

namespace detail {

namespace {

template <class Real>
std::shared_ptr<const PlanState> make_state(const Template& tmpl, const PlanOptions& options) {
  auto impl = std::make_shared<PlanImpl<Real>>();
  impl->design = make_design<Real>(tmpl, options);
  if (impl->design->info.reference) {
    const TemplateData& data = *data_of(tmpl);
    impl->set_reference(SignalView(data.reference.data(), static_cast<std::size_t>(data.shape.points()),
                                   data.reference_type, data.shape),
                        data.values);
  }
  return impl;
}

}  // namespace

AnyPlan::State AnyPlan::make(const Template& tmpl, const PlanOptions& options, bool single) {
  const TraceRange range("plan");
  return single ? make_state<float>(tmpl, options) : make_state<double>(tmpl, options);
}

Workspace AnyPlan::make_workspace() const {
  Workspace workspace;
  state_->fit(inside(workspace));
  return workspace;
}

AnyPlan::State AnyPlan::state_with_reference(const SignalView& frame,
                                             std::span<const std::complex<double>> coefficients) const {
  return state_->with_reference(frame, coefficients);
}
AnyPlan::State AnyPlan::state_without_reference() const {
  return state_->without_reference();
}

Template AnyPlan::keep_in(const Template& tmpl) const {
  if (!same_to_a_planner(*data_of(tmpl), *data_of(source())))
    throw Error(ErrorCode::invalid_argument,
                "the plan was made from another template: keep it in the one that it was made from");
  auto data = std::make_shared<TemplateData>(*data_of(tmpl));
  for (const KeptPlan& decision : state_->any_design().decisions) keep(*data, decision);
  return make_template(std::move(data));
}

const Template& AnyPlan::source() const noexcept {
  return state_->any_design().source;
}
const PlanOptions& AnyPlan::options() const noexcept {
  return state_->any_design().options;
}
const PlanInfo& AnyPlan::info() const noexcept {
  return state_->any_design().info;
}
std::string AnyPlan::explain() const {
  return detail::explain(info(), source());
}

}  // namespace detail

template class Plan<float>;
template class Plan<double>;

}  // namespace sfft
