// SPDX-License-Identifier: Apache-2.0
// A frame that is begun goes round the ring of the dense plan's own workspace, on streams of its own.
#include "sfft/tracking/dense_beside.hpp"

#include <exception>
#include <utility>

#include "sfft/plan/plan_impl.hpp"

namespace sfft::detail {

namespace {

/// Dense transforms of a stream for which a GPU's fastest engine pays, however long it takes to make.
constexpr std::int64_t kManyDense = 1024;

template <class Real>
const PlanImpl<Real>& inside(const Plan<Real>& plan) noexcept {
  return PlanAccess<Real>::inside(plan);
}

}  // namespace

template <class Real>
PlanOptions DenseBeside<Real>::options() const {
  PlanOptions options;
  options.backend = where_.backend;
  options.device = where_.device;
  if (!where_.devices.empty()) {
    options.backend = Backend::cuda;
    options.device = where_.devices.front();
  }
  options.path = Path::dense;
  // Compiling kernels takes a quarter of a second, longer than some thousand comparisons without them.
  if (executed_ < kManyDense) options.effort = PlanEffort::quick;
  options.threads = where_.threads;
  return options;
}

template <class Real>
void DenseBeside<Real>::renew() noexcept {
  forget();
  plan_.reset();
}

template <class Real>
void DenseBeside<Real>::forget() noexcept {
  if (std::exchange(under_way_, nullptr) == nullptr) return;
  inside(*plan_).design->device->abandon(*workspace_.impl().device);
}

template <class Real>
void DenseBeside<Real>::begin(const SignalView& frame) noexcept {
  if (under_way_ != nullptr || !plan_) return;
  const PlanImpl<Real>& plan = inside(*plan_);
  if (!plan.design->device) return;
  try {
    plan.check(frame);
    spectra_.resize(1);
    plan.prepare(spectra_[0]);
    WorkspaceImpl<Real>& workspace = workspace_.impl();
    workspace.fit(plan.design);
    workspace.fit_threads(plan.design->threads);
    const std::size_t begun = plan.design->device->begin(
        std::span(&frame, 1), spectra_, plan.device_reference.get(), *workspace.device, workspace.pool.get());
    if (begun > 0) under_way_ = frame.data();
  } catch (const std::exception&) {  // the frame fails in its turn, if it does
  }
}

/// False: it was another frame, or failed.
template <class Real>
bool DenseBeside<Real>::take_begun(const SignalView& frame, Spectrum<Real>& spectrum) noexcept {
  if (under_way_ != frame.data()) return false;
  try {
    if (inside(*plan_).design->device->finish(*workspace_.impl().device) == 0) return false;
  } catch (const std::exception&) {
    return false;
  }
  under_way_ = nullptr;
  std::swap(spectrum, spectra_[0]);
  return true;
}

template <class Real>
void DenseBeside<Real>::execute(const Template& tmpl, const SignalView& frame, Spectrum<Real>& spectrum) {
  if (++executed_ == kManyDense) renew();
  if (take_begun(frame, spectrum)) return;
  forget();
  if (!plan_) {
    plan_.emplace(tmpl, options());
    workspace_ = plan_->make_workspace();
  }
  plan_->execute(frame, spectrum, workspace_);
}

template class DenseBeside<float>;
template class DenseBeside<double>;

}  // namespace sfft::detail
