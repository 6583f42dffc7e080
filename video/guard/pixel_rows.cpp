// SPDX-License-Identifier: Apache-2.0
// Reads about forty evenly spaced rows, in sums over runs of neighbouring pixels, which the compiler
// vectorises.
#include "video/guard/pixel_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <type_traits>

namespace sfft::video {

namespace {

struct Sums {
  std::int64_t difference = 0, sum = 0, squares = 0, dark = 0, bright = 0;
};

template <class T>
Sums sum_run(const T* pixels, std::int64_t count, int black, int white) {
  // Squares of 8-bit values fit into 32 bits for a run of 66,000 pixels. Vectors have twice as many 32-bit
  // lanes.
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
  std::array<Sums, kTiles> tiles{};
  std::array<std::int64_t, kTiles> counts{};
  each_run(height, width, [&](std::size_t at, std::int64_t row, std::int64_t left, std::int64_t length) {
    const Sums sums = sum_run(pixels + row * region.stride(0) + left, length, black, white);
    Sums& tile = tiles[at];
    tile.difference += sums.difference;
    tile.sum += sums.sum;
    counts[at] += length;
    all.sum += sums.sum;
    all.squares += sums.squares;
    all.dark += sums.dark;
    all.bright += sums.bright;
  });
  for (std::size_t at = 0; at < tiles.size(); ++at) {
    const auto pixels_read = static_cast<double>(counts[at]);
    out.detail.push_back(static_cast<double>(tiles[at].difference) / pixels_read);
    out.mean.push_back(static_cast<double>(tiles[at].sum) / pixels_read);
    count += pixels_read;
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

void read_pixels(const SignalView& frame, SparsePicture& pixels) {
  constexpr int kPerRun = 6;
  std::array<std::size_t, kTiles> filled{};
  const auto look = [&](const auto* from) {
    each_run(frame.shape()[0], frame.shape()[1],
             [&](std::size_t tile, std::int64_t row, std::int64_t left, std::int64_t length) {
               for (int i = 0; i < kPerRun && filled[tile] < kPixelsPerTile && length > 0; ++i) {
                 const std::int64_t column = left + (2 * i + 1) * length / (2 * kPerRun);
                 pixels[tile * kPixelsPerTile + filled[tile]++] =
                     static_cast<std::uint16_t>(from[row * frame.stride(0) + column]);
               }
             });
  };
  if (frame.type() == ElementType::u16) {
    look(static_cast<const std::uint16_t*>(frame.data()));
  } else {
    look(static_cast<const std::uint8_t*>(frame.data()));
  }
}

}  // namespace sfft::video
