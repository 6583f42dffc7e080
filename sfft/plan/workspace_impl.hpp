// SPDX-License-Identifier: Apache-2.0
// Behind sfft::Workspace.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "kernels/base/aligned_buffer.hpp"
#include "kernels/cpu/executors/executor.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "sfft/plan/device_plan.hpp"
#include "sfft/workspace.hpp"

namespace sfft::detail {

template <class Real>
struct PlanDesign;

struct WorkspaceImpl {
  std::unique_ptr<cpu::ThreadPool> pool;  ///< nullptr for one thread
  std::vector<AlignedBuffer> scratch;     ///< one per thread
  std::unique_ptr<DeviceWorkspace> device;
  std::shared_ptr<const void> device_design;  ///< the PlanDesign that the device part was made for
  std::vector<AlignedBuffer> copies;  ///< one per thread: regions, for executors that need them contiguous
  AlignedBuffer dense_host;           ///< for a dense plan
  std::shared_ptr<std::byte> dense_device;  ///< GPU memory for a dense plan
  std::size_t dense_device_bytes = 0;
  std::atomic<bool> in_use{false};  ///< set during a call

  template <class Real>
  void fit(const std::shared_ptr<const PlanDesign<Real>>& design);
  /// On a GPU, only frames in host memory need threads; the first such frame starts them.
  void fit_threads(int threads);
  /// Makes room in each thread for a copy of any one frame, if the executor needs copies.
  template <class Real>
  void fit_copies(const cpu::Executor<Real>& executor, std::span<const SignalView> frames);
  /// The frame, or the thread's copy of it.
  template <class Real>
  SignalView readable(const cpu::Executor<Real>& executor, const SignalView& frame,
                      std::size_t thread) const noexcept;
};

struct WorkspaceAccess {
  /// Throws invalid_argument for a workspace that was moved from.
  static WorkspaceImpl& inside(const Workspace& workspace);
};

inline WorkspaceImpl& inside(const Workspace& workspace) {
  return WorkspaceAccess::inside(workspace);
}

}  // namespace sfft::detail
