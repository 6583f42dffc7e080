// SPDX-License-Identifier: Apache-2.0
// What the library asks a GPU for besides transforms, behind functions that exist in every build.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "sfft/plan/device_pictures.hpp"

namespace sfft::detail {

/// What the planner needs to know about the GPU.
struct DeviceTraits {
  std::string name;
  int multiprocessors = 0;
};

/// Why no GPU is usable; empty if one is.
std::string device_problem(int device);
/// Throws backend_unavailable with device_problem().
DeviceTraits device_traits(int device);
/// Throws backend_unavailable unless all devices exist and may share work.
void check_devices(std::span<const int> devices);
/// Page-locked host memory that kernels of every GPU can read. Throws backend_unavailable, out_of_memory.
std::shared_ptr<std::byte> allocate_page_locked(std::size_t bytes, int device);
/// GPU memory. Throws backend_unavailable, device, out_of_memory.
std::shared_ptr<std::byte> allocate_on_device(std::size_t bytes, int device);
/// GPU memory that the host can also read. Throws backend_unavailable, device, out_of_memory.
std::shared_ptr<std::byte> allocate_managed(std::size_t bytes, int device);
/// Writes a plane without gaps; the caller has checked it. Blocks.
void store_plane(const DevicePlane& plane, std::byte* to, int device);

}  // namespace sfft::detail
