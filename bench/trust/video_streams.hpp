// SPDX-License-Identifier: Apache-2.0
// The population of video streams: families, and parameters drawn from stated distributions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/trust/stream.hpp"

namespace sfft::trust {

/// About fifty streams from one seed; another seed gives another population with the same distributions.
/// README.md has the table of families.
std::vector<StreamRecipe> video_population(std::uint64_t seed);

/// A recording through sfft-video's decoder. Throws sfft::video::InputError when it cannot be opened, and
/// sfft::Error in builds without the video library.
StreamRecipe recording(const std::string& path);

}  // namespace sfft::trust
