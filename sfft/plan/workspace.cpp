// SPDX-License-Identifier: Apache-2.0
// The scratch memory of plans.
#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "kernels/base/region.hpp"
#include "sfft/error.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/workspace_access.hpp"

namespace sfft {

Workspace::Workspace() : impl_(std::make_unique<detail::WorkspaceImpl>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

std::size_t Workspace::host_bytes() const noexcept {
  if (impl_ == nullptr) return 0;
  std::size_t total = impl_->dense_host.size();
  for (const detail::AlignedBuffer& buffer : impl_->scratch) total += buffer.size();
  for (const detail::AlignedBuffer& buffer : impl_->copies) total += buffer.size();
  return total;
}
std::size_t Workspace::device_bytes() const noexcept {
  if (impl_ == nullptr) return 0;
  return impl_->dense_device_bytes + (impl_->device ? impl_->device->bytes() : 0);
}
std::span<std::byte> Workspace::host() const noexcept {
  if (impl_ == nullptr) return {};
  return {impl_->dense_host.data(), impl_->dense_host.size()};
}
std::span<std::byte> Workspace::device() const noexcept {
  if (impl_ == nullptr) return {};
  return {impl_->dense_device.get(), impl_->dense_device_bytes};
}

namespace detail {

WorkspaceImpl& WorkspaceAccess::inside(const Workspace& workspace) {
  if (workspace.impl_ == nullptr) {
    throw Error(
        ErrorCode::invalid_argument,
        "the workspace was moved from: use the one it went to, or make another with make_workspace()");
  }
  return *workspace.impl_;
}

template <class Real>
void WorkspaceImpl::fit(const std::shared_ptr<const PlanDesign<Real>>& design) {
  if (design->device) {
    if (device_design == design) return;
    device_design.reset();
    device = design->device->refit(std::move(device), design->batch);
    device_design = design;
    return;
  }
  fit_threads(design->threads);
  const std::size_t scratch_bytes = design->executor->scratch_bytes();
  const auto needed = static_cast<std::size_t>(pool ? pool->threads() : 1);
  if (scratch.size() < needed) scratch.resize(needed);
  for (AlignedBuffer& buffer : scratch) {
    if (buffer.size() < scratch_bytes) buffer = AlignedBuffer(scratch_bytes);
  }
  const std::size_t shared_bytes = design->threads > 1 ? design->executor->shared_scratch_bytes() : 0;
  if (scratch[0].size() < shared_bytes) scratch[0] = AlignedBuffer(shared_bytes);
}

void WorkspaceImpl::fit_threads(int threads) {
  if (threads > 1 && (!pool || pool->threads() < threads)) pool = std::make_unique<cpu::ThreadPool>(threads);
}

template <class Real>
void WorkspaceImpl::fit_copies(const cpu::Executor<Real>& executor, std::span<const SignalView> frames) {
  if (executor.takes_regions()) return;
  std::size_t bytes = 0;
  for (const SignalView& frame : frames) bytes = std::max(bytes, frame.contiguous() ? 0 : frame.bytes());
  if (bytes == 0) return;
  copies.resize(std::max(copies.size(), scratch.size()));
  for (AlignedBuffer& copy : copies) {
    if (copy.size() < bytes) copy = AlignedBuffer(bytes);
  }
}

template <class Real>
SignalView WorkspaceImpl::readable(const cpu::Executor<Real>& executor, const SignalView& frame,
                                   std::size_t thread) const noexcept {
  if (frame.contiguous() || executor.takes_regions()) return frame;
  copy_elements(frame, copies[thread].data());
  return copied(frame, copies[thread].data());
}

Workspace make_dense_workspace(std::size_t host_bytes, std::size_t device_bytes, int gpu) {
  Workspace workspace;
  WorkspaceImpl& own = inside(workspace);
  try {
    if (host_bytes > 0) own.dense_host = AlignedBuffer(host_bytes);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, fmt::format("no memory for a workspace of {} bytes", host_bytes));
  }
  if (device_bytes > 0) own.dense_device = allocate_on_device(device_bytes, gpu);
  own.dense_device_bytes = device_bytes;
  return workspace;
}

template void WorkspaceImpl::fit(const std::shared_ptr<const PlanDesign<float>>&);
template void WorkspaceImpl::fit(const std::shared_ptr<const PlanDesign<double>>&);
template void WorkspaceImpl::fit_copies(const cpu::Executor<float>&, std::span<const SignalView>);
template void WorkspaceImpl::fit_copies(const cpu::Executor<double>&, std::span<const SignalView>);
template SignalView WorkspaceImpl::readable(const cpu::Executor<float>&, const SignalView&,
                                            std::size_t) const noexcept;
template SignalView WorkspaceImpl::readable(const cpu::Executor<double>&, const SignalView&,
                                            std::size_t) const noexcept;

}  // namespace detail
}  // namespace sfft
