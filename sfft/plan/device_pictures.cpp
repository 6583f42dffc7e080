// SPDX-License-Identifier: Apache-2.0
// GPU memory for decoded pictures: checks arguments, then calls the implementation of this build.
#include "sfft/plan/device_pictures.hpp"

#include <fmt/format.h>

#include "sfft/error.hpp"
#include "sfft/plan/device_memory.hpp"

namespace sfft {

namespace {

bool plausible(const DevicePlane& plane) {
  constexpr std::int64_t kMax = std::int64_t{1} << 20;
  if (plane.data == nullptr || plane.width < 1 || plane.height < 1) return false;
  if (plane.width > kMax || plane.height > kMax) return false;
  if (plane.bits < 1 || plane.bits > 16 || plane.shift < 0) return false;
  const std::int64_t sample = plane.bits > 8 ? 2 : 1;
  return plane.bits + plane.shift <= 8 * sample && plane.pitch_bytes >= sample * plane.width &&
         plane.pitch_bytes % sample == 0;
}

}  // namespace

std::shared_ptr<std::byte> DevicePictures::allocate(std::size_t bytes, int device) {
  return detail::allocate_managed(bytes, device);
}

void DevicePictures::store(const DevicePlane& plane, std::size_t offset) const {
  if (!plausible(plane)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("a plane of {}x{} samples of {} bits, shifted by {}, in rows of {} bytes is not one "
                    "that can be read",
                    plane.width, plane.height, plane.bits, plane.shift, plane.pitch_bytes));
  }
  const std::size_t sample = plane.bits > 8 ? 2 : 1;
  const std::size_t bytes = static_cast<std::size_t>(plane.width * plane.height) * sample;
  if (offset > bytes_ || bytes > bytes_ - offset || offset % sample != 0) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("a plane of {} bytes at offset {} does not fit into {} bytes", bytes, offset, bytes_));
  }
  detail::store_plane(plane, data_.get() + offset, device_);
}

}  // namespace sfft
