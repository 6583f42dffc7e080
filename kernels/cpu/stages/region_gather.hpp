// SPDX-License-Identifier: Apache-2.0
// Gathers single samples from a frame that is a region of a larger array.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/base/math/region.hpp"
#include "kernels/cpu/stages/permute.hpp"

namespace sfft::detail::cpu {

/// Does what PermuteKernels::gather does with count 1, for the samples at the linear indices base +
/// offsets[…].
template <class Real>
void gather_region(const SignalView& region, std::int64_t base, const std::int64_t* offsets,
                   std::int64_t lanes, Real* re, Real* im) noexcept {
  constexpr std::int64_t kLanes = 128;
  const auto gather = permute_kernels<Real>().gather[static_cast<std::size_t>(region.type())];
  const std::int64_t streams = is_complex(region.type()) ? 1 : 2;
  const RegionIndex place(region);
  std::int64_t places[2 * kLanes];
  for (std::int64_t first = 0; first < lanes; first += kLanes) {
    const std::int64_t count = std::min(kLanes, lanes - first);
    for (std::int64_t i = 0; i < count * streams; ++i) places[i] = place(base + offsets[first * streams + i]);
    gather(region.data(), 1, 0, places, count, re + first, im + first);
  }
}

}  // namespace sfft::detail::cpu
