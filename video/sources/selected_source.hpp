// SPDX-License-Identifier: Apache-2.0
// Part of another source: a stretch of time, every N-th frame, a region of each.
#pragma once

#include <memory>

#include "video/sources/source.hpp"

namespace sfft::video {

/// Throws Error(invalid_argument) for a selection that selects nothing, whatever the source holds.
std::unique_ptr<FrameSource> select_frames(std::unique_ptr<FrameSource> source, const Selection& selection);

}  // namespace sfft::video
