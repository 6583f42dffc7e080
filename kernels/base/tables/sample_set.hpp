// SPDX-License-Identifier: Apache-2.0
// A regular set of samples that host code and kernels gather alike.
#pragma once

#include <cstdint>

#include "kernels/base/math/portable.hpp"

namespace sfft::detail {

/// Sample p = (p0·counts[1] + p1)·counts[2] + p2 of stream s is the element at Σ p_d·strides[d] + offsets[s].
/// Lane l is one stream of complex elements, or two of real ones: streams 2l and 2l + 1 as real and imaginary
/// part. After the gather, lane l of sample p is at [p·lanes + l].
struct SampleSet {
  std::int64_t counts[3];
  std::int64_t strides[3];
  const std::int64_t* offsets;
  std::int64_t lanes;

  SFFT_HOST_DEVICE std::int64_t values() const noexcept { return counts[0] * counts[1] * counts[2] * lanes; }
};

}  // namespace sfft::detail
