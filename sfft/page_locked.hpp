// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory, for programs that do not use the CUDA runtime themselves.
#pragma once

#include <cstddef>
#include <memory>

#include "sfft/export.hpp"

namespace sfft {

/// Allocates `bytes` of host memory that every GPU of the machine reads in place; the last copy of the
/// pointer frees it. GPU plans transform frames in it without a copy by the host, and adjacent frames of one
/// block share kernel launches: see PlanOptions::Transfer. Allocation takes milliseconds per frame, so keep
/// it while frames come. `gpu`: the GPU whose driver context allocates it, numbered as by the driver. 0
/// bytes: null. Throws backend_unavailable without a usable GPU, and out_of_memory if the system refuses to
/// lock so much.
SFFT_EXPORT std::shared_ptr<std::byte> allocate_page_locked(std::size_t bytes, int gpu = 0);

}  // namespace sfft
