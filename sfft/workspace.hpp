// SPDX-License-Identifier: Apache-2.0
// Scratch memory of plans.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "sfft/export.hpp"

namespace sfft {

namespace detail {
struct WorkspaceImpl;
struct WorkspaceAccess;
}  // namespace detail

/// Scratch memory of one thread's executions, from make_workspace() of any plan. Threads that run at the same
/// time must not share one, nor may streams. That of a sparse Plan also owns the worker threads of plans with
/// threads > 1, and a GPU plan's stream, ring of page-locked buffers and device scratch. Calls of that Plan
/// throw in_use if another thread is using the workspace, and invalid_argument if it was moved from. No
/// workspace tracks work that an enqueue function left on a stream.
class Workspace {
 public:
  /// Empty: the first Plan::execute() sizes it. Plan::enqueue() never allocates and refuses it.
  Workspace() : impl_(make()) {}
  /// Leaves the other one unusable.
  Workspace(Workspace&&) noexcept = default;
  /// Leaves the other one unusable.
  Workspace& operator=(Workspace&&) noexcept = default;

  SFFT_EXPORT std::size_t host_bytes() const noexcept;  ///< size of the host part; 0 when moved from
  SFFT_EXPORT std::size_t device_bytes()
      const noexcept;  ///< size of the part in GPU memory; 0 when moved from
  /// The host part for forward() and inverse() of a dense plan, 64-byte aligned. Empty for a sparse Plan,
  /// which takes the whole workspace.
  SFFT_EXPORT std::span<std::byte> host() const noexcept;
  /// The part in GPU memory for enqueued calls of a dense plan, 256-byte aligned. Empty for a sparse Plan.
  SFFT_EXPORT std::span<std::byte> device() const noexcept;

 private:
  friend struct detail::WorkspaceAccess;
  SFFT_EXPORT static std::shared_ptr<detail::WorkspaceImpl> make();
  std::shared_ptr<detail::WorkspaceImpl> impl_;  ///< not shared: its type is incomplete here
};

}  // namespace sfft
