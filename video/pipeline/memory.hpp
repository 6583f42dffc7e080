// SPDX-License-Identifier: Apache-2.0
// Determines how much memory frames may occupy.
#pragma once

#include <cstdint>

#include "video/sources/source.hpp"

namespace sfft::video {

/// Bytes that this process can still allocate without exhausting memory: the minimum of what the system, the
/// control group and the process limits allow. Returns the largest integer if none of them is known.
std::int64_t available_memory_bytes();

/// Checks that `count` frames of the size of `frame`, from which a template is learned, fit into memory.
/// Throws Error(invalid_argument) if they take more than `limit_bytes`; the message says how many fit.
void check_held_frames(std::int64_t count, const Frame& frame, std::int64_t limit_bytes);

/// Half of the available memory, because learning also needs some.
std::int64_t held_frames_limit_bytes();

}  // namespace sfft::video
