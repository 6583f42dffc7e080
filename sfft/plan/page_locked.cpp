// SPDX-License-Identifier: Apache-2.0
// The public page-locked memory; the build decides what allocates it.
#include "sfft/page_locked.hpp"

#include "sfft/plan/device_memory.hpp"

namespace sfft {

std::shared_ptr<std::byte> allocate_page_locked(std::size_t bytes, int gpu) {
  return bytes == 0 ? nullptr : detail::allocate_page_locked(bytes, gpu);
}

}  // namespace sfft
