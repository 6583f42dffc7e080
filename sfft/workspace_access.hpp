// SPDX-License-Identifier: Apache-2.0
// Workspaces for dense plans.
#pragma once

#include <cstddef>

#include "sfft/workspace.hpp"

namespace sfft::detail {

/// Allocates both parts. `gpu`: that of the device part. Throws Error(out_of_memory, backend_unavailable,
/// device).
Workspace make_dense_workspace(std::size_t host_bytes, std::size_t device_bytes, int gpu);

}  // namespace sfft::detail
