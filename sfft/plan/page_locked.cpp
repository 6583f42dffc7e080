// SPDX-License-Identifier: Apache-2.0
// The public page-locked memory; the build decides what allocates it.
#include "sfft/page_locked.hpp"

#include "sfft/plan/device_plan.hpp"

namespace sfft {

PageLockedMemory::PageLockedMemory(std::size_t bytes, int gpu)
    : data_(detail::allocate_page_locked(bytes, gpu)), bytes_(bytes) {}

}  // namespace sfft
