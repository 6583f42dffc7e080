// SPDX-License-Identifier: Apache-2.0
// Allocates all slots or none.
#include "kernels/dense/out_of_core/device_slots.hpp"

#include <fmt/format.h>

#include "kernels/base/log.hpp"
#include "kernels/cpu/platform/large_buffer.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

template <class Real>
DeviceSlots<Real>::DeviceSlots(OutOfCoreDevice<Real>& device, int count, std::size_t bytes,
                               std::size_t staging_bytes)
    : in_(device.make_stream()),
      kernels_(device.make_stream()),
      out_(device.make_stream()),
      bytes_(bytes),
      staging_bytes_(staging_bytes) {
  for (int s = 0; s < count; ++s) {
    Slot slot;
    slot.memory = device.allocate(bytes);
    if (staging_bytes > 0) slot.staging = host_memory(device, staging_bytes, &pageable_);
    slot.filled = device.make_event();
    slot.computed = device.make_event();
    for (std::size_t part = 0; part < kParts; ++part) slot.left.push_back(device.make_event());
    slots_.push_back(std::move(slot));
  }
}

template <class Real>
std::shared_ptr<std::byte> DeviceSlots<Real>::host_memory(OutOfCoreDevice<Real>& device, std::size_t bytes,
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
    return {cpu::make_large_buffer(bytes)};
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{} bytes of host memory are needed to pass pieces to the GPU", bytes));
  }
}

template <class Real>
void DeviceSlots<Real>::settle() noexcept {
  for (OutOfCoreStream* const stream : {in_.get(), kernels_.get(), out_.get()}) {
    try {
      stream->wait();
    } catch (...) {  // the caller already has the first error
    }
  }
}

template class DeviceSlots<float>;
template class DeviceSlots<double>;

}  // namespace sfft::detail
