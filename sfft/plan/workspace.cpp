// SPDX-License-Identifier: Apache-2.0
// The scratch memory of plans.
#include <new>

#include <fmt/format.h>

#include "sfft/error.hpp"
#include "sfft/plan/device_memory.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/workspace_access.hpp"

namespace sfft {

std::shared_ptr<detail::WorkspaceImpl> Workspace::make() {
  return std::make_shared<detail::WorkspaceImpl>();
}

std::size_t Workspace::host_bytes() const noexcept {
  if (impl_ == nullptr) return 0;
  return impl_->dense_host.size() + (impl_->state ? impl_->state->host_bytes() : 0);
}
std::size_t Workspace::device_bytes() const noexcept {
  if (impl_ == nullptr) return 0;
  return impl_->dense_device_bytes + (impl_->state ? impl_->state->device_bytes() : 0);
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
  if (made_for != nullptr && made_for == design) return;
  made_for.reset();
  const PlanExecutor<Real>& executor = *design->executor;
  const bool on_device = executor.backend() == Backend::cuda;
  if (!on_device) fit_threads(design->threads);
  state = executor.refit(std::move(state), design->batch, pool ? pool->threads() : 1);
  if (on_device) made_for = design;
}

void WorkspaceImpl::fit_threads(int threads) {
  if (threads > 1 && (!pool || pool->threads() < threads)) pool = std::make_unique<cpu::ThreadPool>(threads);
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

}  // namespace detail
}  // namespace sfft
