// SPDX-License-Identifier: Apache-2.0
// How much may be held in memory.
#pragma once

#include <cstdint>

#include "video/source.hpp"

namespace sfft::video {

/// What this process can still allocate without driving anything out of memory: by what the system, the
/// control group and the limits of the process say, the least of them. The largest number where none says
/// anything.
std::int64_t available_memory_bytes();

/// `count` frames of one size are to be held until a template is learned from them. Throws
/// Error(invalid_argument) when they take more than `limit_bytes`; the sentence names how many do not.
void check_held_frames(std::int64_t count, const Frame& frame, std::int64_t limit_bytes);

/// Half of the available memory: learning takes some, too.
std::int64_t held_frames_limit_bytes();

}  // namespace sfft::video
