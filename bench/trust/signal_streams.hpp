// SPDX-License-Identifier: Apache-2.0
// The population of signal streams: families, and parameters drawn from stated distributions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/trust/stream.hpp"

namespace sfft::trust {

const std::vector<std::string>& signal_families();

/// Stream `index` of the population of `seed`: the families in turn. Single events happen within `frames`
/// frames, the time for which the stream is watched.
StreamRecipe signal_recipe(std::uint64_t seed, std::int64_t index, std::int64_t frames);

}  // namespace sfft::trust
