// SPDX-License-Identifier: Apache-2.0
// What the search tries once it has found a good policy: others that are close to it.
#pragma once

#include <vector>

#include "kernels/dense/tuned/policy/knobs.hpp"

namespace sfft::detail::tuned {

/// Sets the same caching for all kernels.
TransformPolicy with_caching(TransformPolicy policy, Loads loads, bool streaming);
/// The radices of one kernel in other orders, with other threads, and with other numbers of transforms in a
/// block; for a line of three factors, groups of twice as many outputs.
std::vector<TransformPolicy> neighbours(const TransformPolicy& base);

/// Varies one knob at a time through the values that its row names (knobs.cpp). Leaves out what changes
/// nothing for complex or for real transforms, and `base`.
std::vector<TransformPolicy> refinements(const TransformPolicy& base, bool real, bool single);

}  // namespace sfft::detail::tuned
