// SPDX-License-Identifier: Apache-2.0
// Allocates all slots or none.
#include "kernels/dense/out_of_core/device_slots.hpp"

#include <fmt/format.h>

#include "kernels/base/log.hpp"
#include "kernels/cpu/platform/large_buffer.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

DeviceSlots::DeviceSlots(OutOfCoreDevice& device, int count, std::int64_t bytes, std::int64_t staging_bytes)
    : in_(device.make_queue()),
      kernels_(device.make_queue()),
      out_(device.make_queue()),
      bytes_(bytes),
      staging_bytes_(staging_bytes) {
  for (int s = 0; s < count; ++s) {
    Slot slot;
    slot.memory = device.allocate(bytes);
    if (staging_bytes > 0) slot.staging = host_memory(device, staging_bytes, &pageable_);
    slot.filled = device.make_event();
    slot.computed = device.make_event();
    for (auto& left : slot.left) left = device.make_event();
    slots_.push_back(std::move(slot));
  }
}

std::shared_ptr<std::byte> DeviceSlots::host_memory(OutOfCoreDevice& device, std::int64_t bytes,
                                                    bool* pageable) {
  try {
    return device.allocate_on_host(bytes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
  }
  if (pageable != nullptr) *pageable = true;
  log_decision("dense", [&] {
    return fmt::format(
        "no page-locked memory of {} bytes: pieces go through pageable memory, which is slower", bytes);
  });
  try {
    return {cpu::make_large_buffer(static_cast<std::size_t>(bytes))};
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{} bytes of host memory are needed to pass pieces to the GPU", bytes));
  }
}

void DeviceSlots::settle() noexcept {
  for (Queue* const queue : {in_.get(), kernels_.get(), out_.get()}) {
    try {
      queue->wait();
    } catch (...) {  // the caller already has the first error
    }
  }
}

}  // namespace sfft::detail
