// SPDX-License-Identifier: Apache-2.0
// What all kinds of GPU memory have in common: they are counted, and tests can make an allocation fail.
#pragma once

#include <cstddef>

namespace sfft::detail::cuda {

/// Whether a test wants this allocation to fail.
bool injected_failure() noexcept;
/// Counts an allocation; returns `data`.
void* counted(void* data, std::size_t bytes) noexcept;
void uncount(std::size_t bytes) noexcept;
/// Throws Error(out_of_memory) that says how much of which kind was asked for.
[[noreturn]] void out_of_memory(std::size_t bytes, const char* kind);

}  // namespace sfft::detail::cuda
