// SPDX-License-Identifier: Apache-2.0
// Benchmarks recordings in GPU memory, with many frames per call: the input-adaptive experiment of Chen and
// Li (LCPC 2014).
#pragma once

#include "commands.hpp"
#include "frames.hpp"

namespace sfft::apps {

/// Adds rows of the figures video_batched and break_even for every number of frames per call in
/// options.batch. Does nothing for standard input, which can be read only once.
void run_batches(const InputName& name, std::int64_t max, const VideoOptions& options,
                 const CommonOptions& common, Results& results);

}  // namespace sfft::apps
