// SPDX-License-Identifier: Apache-2.0
// Memory for frames that a GPU decodes. It is exported for sfft-video and not part of the installed API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sfft/export.hpp"

namespace sfft {

/// A plane of samples in GPU memory, as hardware decoders leave it.
struct DevicePlane {
  /// The first sample, in GPU memory.
  const void* data = nullptr;
  /// Extents of the plane.
  std::int64_t width = 0, height = 0;  ///< samples
  std::int64_t pitch_bytes = 0;        ///< from one row's start to the next
  int bits = 8;                        ///< bits of a sample: up to 8 in one byte, up to 16 in two
  int shift = 0;                       ///< zero bits below a sample of more than 8 bits: 6 in P010
  bool limited_range = false;          ///< 8-bit levels 16 … 235, to be stretched to 0 … 255 and clipped
};

/// GPU memory for frames that the host can also read: pages migrate to the host when it reads them. A plan on
/// that GPU transforms frames in place, as in page-locked memory, but nothing crosses the bus.
class DevicePictures {
 public:
  DevicePictures() = default;  ///< holds nothing
  /// Throws backend_unavailable without a usable GPU, out_of_memory, and device if the host cannot read such
  /// memory while the GPU is busy.
  explicit DevicePictures(std::size_t bytes, int device = 0)
      : data_(allocate(bytes, device)), bytes_(bytes), device_(device) {}

  /// The first byte; null if empty.
  std::byte* data() const noexcept { return data_.get(); }
  /// Size of the memory.
  std::size_t bytes() const noexcept { return bytes_; }

  /// Writes the plane's samples at an offset in bytes, row after row without gaps: u8, or u16 for
  /// more than 8 bits. The plane is in memory of the same GPU and primary context, and earlier work
  /// in the legacy default stream has written it. Blocks until it has been read. Throws
  /// invalid_argument for a plane that does not fit.
  SFFT_EXPORT void store(const DevicePlane& plane, std::size_t offset) const;

 private:
  SFFT_EXPORT static std::shared_ptr<std::byte> allocate(std::size_t bytes, int device);

  std::shared_ptr<std::byte> data_;
  std::size_t bytes_ = 0;
  int device_ = 0;
};

}  // namespace sfft
