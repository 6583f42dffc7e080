// SPDX-License-Identifier: Apache-2.0
// The kernels' arguments.
#pragma once

#include <cstdint>

namespace sfft::technologies {

/// The kernels' arguments. All languages give ten words the same layout.
struct Parameters {
  std::uint32_t threads = 0;   ///< number of threads with work; the last group may have more threads
  std::uint32_t groups_x = 0;  ///< groups in a row of the dispatch, for technologies that limit rows
  std::uint32_t bits = 0, block_bits = 0, stage = 0, dist = 0, columns = 0, rows = 0;
  float sign = -1, scale = 1;
};

}  // namespace sfft::technologies
