// SPDX-License-Identifier: Apache-2.0
// Wisdom about single problems in the user's cache, where other processes find it.
#pragma once

#include <string>

#include "kernels/base/user_cache.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"

namespace sfft::detail {

/// Adds to `wisdom` what the cache knows about the problem, unless a measurement of it is known. `build` is
/// what the kernels depend on in addition to the platform.
void recall_wisdom(const UserCache& cache, const std::string& build, const WisdomPlatform& platform,
                   const WisdomProblem& problem, Wisdom& wisdom);
/// Adds the entry to `wisdom` and to the cache.
void remember_wisdom(const UserCache& cache, const std::string& build, const WisdomPlatform& platform,
                     const WisdomProblem& problem, const WisdomEntry& entry, Wisdom& wisdom);

}  // namespace sfft::detail
