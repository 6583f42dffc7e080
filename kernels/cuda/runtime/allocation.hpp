// SPDX-License-Identifier: Apache-2.0
// Shared by all kinds of GPU memory: allocations are counted, and tests can make one fail.
#pragma once

#include <cstddef>

namespace sfft::detail::cuda {

/// Whether a test wants this allocation to fail.
bool injected_failure() noexcept;
/// Counts an allocation; returns `data`.
void* counted(void* data, std::size_t bytes) noexcept;
void uncount(std::size_t bytes) noexcept;
/// Throws Error(out_of_memory) with the size and kind of memory requested.
[[noreturn]] void out_of_memory(std::size_t bytes, const char* kind);

}  // namespace sfft::detail::cuda
