// SPDX-License-Identifier: Apache-2.0
// The size of a coded frame, from the header that it begins with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace sfft::video {

struct FrameSize {
  std::int64_t width = 0, height = 0;
  friend bool operator==(const FrameSize&, const FrameSize&) = default;
};

/// From the frame header of a JPEG image. Nothing where there is none.
std::optional<FrameSize> jpeg_size(std::span<const std::uint8_t> image);

/// From a VP9 frame that names a size: every key frame, and others whose size is not that of a frame before.
std::optional<FrameSize> vp9_size(std::span<const std::uint8_t> frame);

}  // namespace sfft::video
