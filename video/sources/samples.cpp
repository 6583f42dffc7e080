// SPDX-License-Identifier: Apache-2.0
// A part of a frame is a view of the frame's rows.
#include "video/sources/samples.hpp"

#include <fmt/format.h>

#include "sfft/error.hpp"

namespace sfft::video {

SignalView part(const SignalView& frame, const Region& region) {
  const bool inside = region.x >= 0 && region.y >= 0 && region.width > 0 && region.height > 0 &&
                      region.x <= frame.shape()[1] - region.width &&
                      region.y <= frame.shape()[0] - region.height;
  if (!inside)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the region {},{},{},{} goes beyond the frames, which are {}x{}", region.x,
                            region.y, region.width, region.height, frame.shape()[1], frame.shape()[0]));
  return with_samples(frame, [&](const auto* samples) {
    return SignalView::rows(samples + region.y * frame.stride(0) + region.x, {region.height, region.width},
                            frame.stride(0));
  });
}

}  // namespace sfft::video
