// SPDX-License-Identifier: Apache-2.0
// Recordings in GPU memory, transformed many frames at a time: the input-adaptive experiment of Chen and Li
// (LCPC 2014).
#pragma once

#include "commands.hpp"
#include "frames.hpp"

namespace sfft::apps {

/// Adds rows of the figures video_batched and break_even for every number of frames per call in
/// options.batch.
void run_batches(const InputName& name, std::int64_t max, const VideoOptions& options,
                 const CommonOptions& common, Results& results);

}  // namespace sfft::apps
