// SPDX-License-Identifier: Apache-2.0
// Launch shapes: threads of a block, and blocks for kernels whose threads stride over an array.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sfft::detail::cuda {

/// Default number of threads per block.
constexpr int kThreads = 256;

/// Blocks of kThreads for `count` elements: enough to fill any GPU, no more.
inline unsigned strided_blocks(std::int64_t count) {
  constexpr std::int64_t kMax = 4096;
  return static_cast<unsigned>(std::clamp<std::int64_t>((count + kThreads - 1) / kThreads, 1, kMax));
}

}  // namespace sfft::detail::cuda
