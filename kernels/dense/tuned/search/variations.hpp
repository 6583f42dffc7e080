// SPDX-License-Identifier: Apache-2.0
// The policies that the search tries once it has found a good one: those close to it.
#pragma once

#include <vector>

#include "kernels/dense/tuned/policy/knobs.hpp"

namespace sfft::detail::tuned {

/// Sets the same caching for all kernels.
TransformPolicy with_caching(TransformPolicy policy, Loads loads, bool streaming);
/// One kernel's radices in other orders, with other thread counts, and with other numbers of transforms per
/// block. For a line of three factors, also groups of twice as many outputs.
std::vector<TransformPolicy> neighbours(const TransformPolicy& base);

/// Varies one knob at a time over the values that its row names (knobs.cpp). Omits `base`, and knobs that
/// change nothing for complex or for real transforms.
std::vector<TransformPolicy> refinements(const TransformPolicy& base, bool real, bool single);

}  // namespace sfft::detail::tuned
