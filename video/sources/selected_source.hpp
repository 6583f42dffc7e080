// SPDX-License-Identifier: Apache-2.0
// Selects part of another source: a time range, every N-th frame, a region of each frame.
#pragma once

#include <memory>

#include "video/sources/source.hpp"

namespace sfft::video {

/// Throws Error(invalid_argument) for a selection that is empty for any source.
std::unique_ptr<FrameSource> select_frames(std::unique_ptr<FrameSource> source, const Selection& selection);

}  // namespace sfft::video
