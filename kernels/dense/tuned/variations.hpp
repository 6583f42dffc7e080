// SPDX-License-Identifier: Apache-2.0
// What the tuner tries once it has found a good choice: others that are close to it.
#pragma once

#include <vector>

#include "kernels/dense/tuned/choice.hpp"

namespace sfft::detail::tuned {

/// The same for all steps.
Choice with_caching(Choice choice, const Caching& caching);
/// The factors of one step in other orders, with other threads, and with other lines of a tile; groups of
/// twice as many lines of a line of three factors.
std::vector<Choice> neighbours(const Choice& base);
/// Whether a block that holds such a tile has a multiprocessor for itself, or nearly so: nothing hides its
/// loads but what it does about it.
bool alone_on_multiprocessor(const LineChoice& line, bool single);
constexpr int kUsualDistance = 25, kUsualSpread = 14000;  ///< what it does

/// One thing at a time: registers, caches, twiddle factors, padding, blocks, prefetching, beginning early,
/// reading ahead; together with prefetching, when blocks begin.
/// Without what changes nothing for complex or real transforms, and without `base`.
std::vector<Choice> refinements(const Choice& base, bool real, bool single);

}  // namespace sfft::detail::tuned
