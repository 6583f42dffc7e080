// SPDX-License-Identifier: Apache-2.0
// Uninitialised memory for arrays that outgrow the caches.
#pragma once

#include <cstddef>
#include <memory>

namespace sfft::detail::cpu {

struct LargeBufferDelete {
  std::size_t alignment = 0;
  void operator()(std::byte* memory) const noexcept;
};
using LargeBuffer = std::unique_ptr<std::byte, LargeBufferDelete>;

/// At least `bytes`, aligned to 64 bytes or more. Asks the system for large pages where that may help: a
/// fresh array then takes fewer page faults, and strided passes over it fewer translations. Throws
/// std::bad_alloc.
LargeBuffer make_large_buffer(std::size_t bytes);

}  // namespace sfft::detail::cpu
