// SPDX-License-Identifier: Apache-2.0
// Reads the size of a coded frame from the header at its beginning.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace sfft::video {

struct FrameSize {
  std::int64_t width = 0, height = 0;
  friend bool operator==(const FrameSize&, const FrameSize&) = default;
};

/// From the frame header of a JPEG image; nothing if there is none.
std::optional<FrameSize> jpeg_size(std::span<const std::uint8_t> image);

/// From a VP9 frame that states a size: every key frame, and others whose size is not taken from an earlier
/// frame.
std::optional<FrameSize> vp9_size(std::span<const std::uint8_t> frame);

}  // namespace sfft::video
