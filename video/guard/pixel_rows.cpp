// SPDX-License-Identifier: Apache-2.0
// Reads about forty rows, spread evenly: sums over runs of neighbouring pixels, which the compiler turns into
// vector code.
#include "video/guard/pixel_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <type_traits>

namespace sfft::video {

namespace {

constexpr std::int64_t kRowsPerTile = 10;

struct Sums {
  std::int64_t difference = 0, sum = 0, squares = 0, dark = 0, bright = 0;
};

template <class T>
Sums sum_run(const T* pixels, std::int64_t count, int black, int white) {
  // Squares of 8 bits fit into 32 for a run of 66,000 pixels; vectors of those are twice as long.
  using Wide = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;
  std::int32_t difference = 0;
  std::int32_t dark = 0;
  std::int32_t bright = 0;
  std::uint32_t sum = 0;
  Wide squares = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const int value = pixels[i];
    difference += std::abs(static_cast<int>(pixels[i + 2]) - value);
    sum += static_cast<std::uint32_t>(value);
    squares += static_cast<Wide>(value) * static_cast<Wide>(value);
    dark += value < black ? 1 : 0;
    bright += value > white ? 1 : 0;
  }
  return {difference, sum, static_cast<std::int64_t>(squares), dark, bright};
}

template <class T>
RowStatistics read(const SignalView& region, double full) {
  const std::int64_t height = region.shape()[0];
  const std::int64_t width = region.shape()[1];
  const auto* pixels = static_cast<const T*>(region.data());
  const auto black = static_cast<int>(full / 16);
  const auto white = static_cast<int>(full - full / 16);
  RowStatistics out;
  Sums all;
  double count = 0;
  for (std::int64_t ty = 0; ty < kTileRows; ++ty) {
    const std::int64_t top = ty * height / kTileRows;
    const std::int64_t rows = (ty + 1) * height / kTileRows - top;
    const std::int64_t read_rows = std::min(rows, kRowsPerTile);
    std::array<Sums, kTileColumns> tiles{};
    for (std::int64_t r = 0; r < read_rows; ++r) {
      const T* row = pixels + (top + (2 * r + 1) * rows / (2 * read_rows)) * region.stride(0);
      for (std::int64_t tx = 0; tx < kTileColumns; ++tx) {
        const std::int64_t left = tx * width / kTileColumns;
        const std::int64_t run = (tx + 1) * width / kTileColumns - left - (tx == kTileColumns - 1 ? 2 : 0);
        const Sums sums = sum_run(row + left, run, black, white);
        Sums& tile = tiles[static_cast<std::size_t>(tx)];
        tile.difference += sums.difference;
        tile.sum += sums.sum;
        all.sum += sums.sum;
        all.squares += sums.squares;
        all.dark += sums.dark;
        all.bright += sums.bright;
      }
    }
    for (std::int64_t tx = 0; tx < kTileColumns; ++tx) {
      const std::int64_t left = tx * width / kTileColumns;
      const std::int64_t run = (tx + 1) * width / kTileColumns - left - (tx == kTileColumns - 1 ? 2 : 0);
      const double pixels_read = static_cast<double>(run * read_rows);
      const Sums& tile = tiles[static_cast<std::size_t>(tx)];
      out.detail.push_back(static_cast<double>(tile.difference) / pixels_read);
      out.mean.push_back(static_cast<double>(tile.sum) / pixels_read);
      count += pixels_read;
    }
  }
  out.level = static_cast<double>(all.sum) / count;
  out.spread = std::sqrt(std::max(0.0, static_cast<double>(all.squares) / count - out.level * out.level));
  out.dark = static_cast<double>(all.dark) / count;
  out.bright = static_cast<double>(all.bright) / count;
  return out;
}

}  // namespace

RowStatistics read_rows(const SignalView& region, double full) {
  return region.type() == ElementType::u16 ? read<std::uint16_t>(region, full)
                                           : read<std::uint8_t>(region, full);
}

}  // namespace sfft::video
