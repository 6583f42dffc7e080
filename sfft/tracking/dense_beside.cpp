// SPDX-License-Identifier: Apache-2.0
// Frames that are begun go round the ring of the dense plan's own workspace, on streams of its own.
#include "sfft/tracking/dense_beside.hpp"

#include <algorithm>
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
  if (done_ < end_) inside(*plan_).design->device->abandon(*workspace_.impl().device);
  first_ = done_ = end_ = 0;
}

/// end_ if it has not been begun.
template <class Real>
std::size_t DenseBeside<Real>::find(const void* samples) noexcept {
  std::size_t at = first_;
  while (at < end_ && begun(at).samples != samples) ++at;
  return at;
}

template <class Real>
void DenseBeside<Real>::begin(const SignalView& frame) noexcept {
  if (!plan_ || end_ - first_ == kMost || find(frame.data()) < end_) return;
  const PlanImpl<Real>& plan = inside(*plan_);
  if (!plan.design->device) return;
  try {
    plan.check(frame);
    Begun& place = begun(end_);
    plan.prepare(place.spectrum);
    WorkspaceImpl<Real>& workspace = workspace_.impl();
    workspace.fit(plan.design);
    workspace.fit_threads(plan.design->threads);
    place.samples = frame.data();
    end_ += plan.design->device->begin(std::span(&frame, 1), std::span(&place.spectrum, 1),
                                       plan.device_reference.get(), *workspace.device, workspace.pool.get());
  } catch (const std::exception&) {  // the frame fails in its turn, if it does
    forget();
  }
}

/// Waits for a frame that was begun. False: it failed, and nothing is under way any more.
template <class Real>
bool DenseBeside<Real>::await(std::size_t at) noexcept {
  try {
    while (done_ <= at) {
      const std::size_t more = inside(*plan_).design->device->finish(*workspace_.impl().device);
      if (more == 0) break;
      done_ += more;
    }
  } catch (const std::exception&) {
  }
  if (done_ > at) return true;
  forget();
  return false;
}

/// Makes room where frames that nobody asks for are done.
template <class Real>
void DenseBeside<Real>::drop_passed() noexcept {
  while (first_ < done_ && begun(first_).samples == nullptr) ++first_;
  if (first_ == end_) first_ = done_ = end_ = 0;
}

template <class Real>
void DenseBeside<Real>::pass(const SignalView& frame) noexcept {
  if (first_ == end_) return;
  const std::size_t at = find(frame.data());
  if (at < end_) begun(at).samples = nullptr;
  drop_passed();
}

template <class Real>
void DenseBeside<Real>::keep_only(std::span<const SignalView> frames) noexcept {
  for (std::size_t at = first_; at < end_; ++at) {
    const auto same = [&](const SignalView& frame) { return frame.data() == begun(at).samples; };
    if (std::ranges::any_of(frames, same)) continue;
    if (!await(at)) return;
    begun(at).samples = nullptr;
  }
  drop_passed();
}

/// False: it was not begun, or failed.
template <class Real>
bool DenseBeside<Real>::take_begun(const SignalView& frame, Spectrum<Real>& spectrum) noexcept {
  begin(frame);  // behind the others
  const std::size_t at = find(frame.data());
  if (at == end_ || !await(at)) return false;
  std::swap(spectrum, begun(at).spectrum);
  begun(at).samples = nullptr;
  drop_passed();
  return true;
}

template <class Real>
void DenseBeside<Real>::make(const Template& tmpl) {
  if (plan_) return;
  plan_.emplace(tmpl, options());
  workspace_ = plan_->make_workspace();
}

template <class Real>
void DenseBeside<Real>::execute(const Template& tmpl, const SignalView& frame, Spectrum<Real>& spectrum) {
  if (++executed_ == kManyDense) renew();
  if (first_ < end_ && take_begun(frame, spectrum)) return;
  forget();
  make(tmpl);
  plan_->execute(frame, spectrum, workspace_);
}

template class DenseBeside<float>;
template class DenseBeside<double>;

}  // namespace sfft::detail
