// SPDX-License-Identifier: Apache-2.0
// Queries the driver, and allocates memory that GPUs can read.
#include "sfft/plan/device_memory.hpp"

#include "kernels/cuda/runtime/peers.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/pack.hpp"

namespace sfft::detail {

std::string device_problem(int device) {
  return cuda::unavailable(device);
}

DeviceTraits device_traits(int device) {
  const cuda::DeviceInfo& info = cuda::device_info(device);
  return {info.name, info.multiprocessors};
}

void check_devices(std::span<const int> devices) {
  cuda::check_several({devices.begin(), devices.end()});
}

std::shared_ptr<std::byte> allocate_page_locked(std::size_t bytes, int device) {
  static_cast<void>(cuda::device_info(device));  // throws the reason if there is no GPU
  const cuda::DeviceScope scope(device);
  const auto buffer = std::make_shared<cuda::PinnedBuffer>(bytes);
  return {buffer, buffer->data()};
}

std::shared_ptr<std::byte> allocate_on_device(std::size_t bytes, int device) {
  static_cast<void>(cuda::device_info(device));
  const cuda::DeviceScope scope(device);
  const auto buffer = std::make_shared<cuda::DeviceBuffer>(bytes);
  return {buffer, buffer->data()};
}

std::shared_ptr<std::byte> allocate_managed(std::size_t bytes, int device) {
  static_cast<void>(cuda::device_info(device));
  const cuda::DeviceScope scope(device);
  const auto buffer = std::make_shared<cuda::ManagedBuffer>(bytes);
  return {buffer, buffer->data()};
}

void store_plane(const DevicePlane& plane, std::byte* to, int device) {
  const cuda::DeviceScope scope(device);
  cuda::launch_luma({plane.data, plane.width, plane.height, plane.pitch_bytes, plane.bits, plane.shift,
                     plane.limited_range},
                    to, nullptr);
  cuda::synchronize(nullptr);
}

}  // namespace sfft::detail
