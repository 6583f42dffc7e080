// SPDX-License-Identifier: Apache-2.0
// Fine detail and levels of each tile, from a few rows of a frame.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "video/guard/layout.hpp"

namespace sfft::video {

inline constexpr int kTileColumns = 6, kTileRows = 4;
inline constexpr int kTiles = kTileColumns * kTileRows;

/// Visits about ten evenly spaced rows per row of tiles, and calls visit(tile, row, left, length) for each
/// tile's part of such a row. The two pixels to the right of each part lie inside the picture.
template <class Visit>
void each_run(std::int64_t height, std::int64_t width, const Visit& visit) {
  constexpr std::int64_t kRowsPerTile = 10;
  for (std::int64_t ty = 0; ty < kTileRows; ++ty) {
    const std::int64_t top = ty * height / kTileRows;
    const std::int64_t rows = (ty + 1) * height / kTileRows - top;
    const std::int64_t read_rows = rows < kRowsPerTile ? rows : kRowsPerTile;
    for (std::int64_t r = 0; r < read_rows; ++r) {
      const std::int64_t row = top + (2 * r + 1) * rows / (2 * read_rows);
      for (std::int64_t tx = 0; tx < kTileColumns; ++tx) {
        const std::int64_t left = tx * width / kTileColumns;
        const std::int64_t length = (tx + 1) * width / kTileColumns - left - (tx == kTileColumns - 1 ? 2 : 0);
        visit(static_cast<std::size_t>(ty * kTileColumns + tx), row, left, length);
      }
    }
  }
}

/// Pixels that represent a picture, as many of each tile, one tile after another.
inline constexpr std::size_t kPixelsPerTile = 60;
using SparsePicture = std::array<std::uint16_t, kPixelsPerTile * kTiles>;
void read_pixels(const SignalView& frame, SparsePicture& pixels);

/// Grey levels are in units of the samples.
struct RowStatistics {
  std::vector<double> detail;    ///< per tile: mean |difference| of pixels two apart, row-major
  std::vector<double> mean;      ///< mean grey level of each tile
  double level = 0, spread = 0;  ///< mean and standard deviation of all pixels read
  double dark = 0, bright = 0;   ///< shares of pixels below 1/16 and above 15/16 of `full`
};

/// `full`: the largest value that samples take, 255 for 8 bits.
RowStatistics read_rows(const SignalView& region, double full);

}  // namespace sfft::video
