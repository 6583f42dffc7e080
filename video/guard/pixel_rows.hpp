// SPDX-License-Identifier: Apache-2.0
// What a few rows of a frame say about fine detail and levels, tile by tile.
#pragma once

#include <vector>

#include "video/guard/layout.hpp"

namespace sfft::video {

inline constexpr int kTileColumns = 6, kTileRows = 4;
inline constexpr int kTiles = kTileColumns * kTileRows;

/// Grey levels are in units of the samples.
struct RowStatistics {
  std::vector<double> detail;    ///< mean |difference| of pixels two apart, of each tile, row-major
  std::vector<double> mean;      ///< grey level of each tile
  double level = 0, spread = 0;  ///< of all
  double dark = 0, bright = 0;   ///< shares of pixels below 1/16 and above 15/16 of `full`
};

/// `full`: the largest value that samples take, 255 for 8 bits.
RowStatistics read_rows(const SignalView& region, double full);

}  // namespace sfft::video
