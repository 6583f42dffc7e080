// SPDX-License-Identifier: Apache-2.0
// Finds out how much memory may be used to hold frames.
#pragma once

#include <cstdint>

#include "video/sources/source.hpp"

namespace sfft::video {

/// Bytes that this process can still allocate without exhausting memory: the least that the system, the
/// control group and the limits of the process allow. The largest number if none of them says anything.
std::int64_t available_memory_bytes();

/// `count` frames of one size are to be held until a template is learned from them. Throws
/// Error(invalid_argument) when they take more than `limit_bytes`; the message names how many fit.
void check_held_frames(std::int64_t count, const Frame& frame, std::int64_t limit_bytes);

/// Half of the available memory, because learning needs some, too.
std::int64_t held_frames_limit_bytes();

}  // namespace sfft::video
