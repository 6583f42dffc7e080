// SPDX-License-Identifier: Apache-2.0
// One trip of a batch of transforms through memory: what a kernel, or its emulation, is told.
#pragma once

#include <cstdint>

#include "kernels/base/tensor/numbers.hpp"

namespace sfft::detail::tensor {

/// Tables of one direction. Matrices are the right operands of the products as lanes hold them: for each
/// product for each lane the four registers of its high parts, then for each lane those of the low parts.
struct Tables {
  const unsigned* matrices = nullptr;
  const Point* twiddles = nullptr;  ///< of every stage but the last, one after the other
};

/// Distances are in points. Tile number b is the tile q of the part m of transform t, where
/// b = (t·2^log_parts + m)·2^log_groups + q.
struct Pass {
  const Point* from = nullptr;
  Point* to = nullptr;
  std::int64_t from_transform = 0, from_part = 0, from_group = 0;
  std::int64_t to_transform = 0, to_part = 0, to_group = 0;
  /// Of neighbouring lines (rows) or points (columns) of the input; 1 for the other. Lines of a batch are
  /// contiguous.
  std::int64_t from_line = 0, from_point = 0;
  std::int64_t to_point = 0;  ///< of the output of rows and columns, whose lines are neighbours
  std::int64_t tiles = 0;
  std::int64_t lines = 0;  ///< of all tiles: the last tile of a batch may have fewer than others
  int log_parts = 0, log_groups = 0;
  /// Frequency k of line j of group q is multiplied by exp(∓2πi k·(q·lines + j)/2^log_order); 0: not at all.
  int log_order = 0;
  float sign = -1;    ///< −1 forward, +1 inverse
  float factor = 1;   ///< multiplies the results
  bool wide = true;   ///< pairs of points may be accessed at once: arrays aligned to 16 bytes
  bool split = true;  ///< without it products of fp16 alone, for comparison
  Tables tables;
};

struct TileBase {
  std::int64_t from, to;
  unsigned first_line;  ///< of the group, for twiddle factors
  int lines;            ///< that exist
};

SFFT_INLINE TileBase base_of(const Pass& pass, std::int64_t tile, int log_lines) {
  const std::int64_t group = tile & ((std::int64_t{1} << pass.log_groups) - 1),
                     rest = tile >> pass.log_groups, part = rest & ((std::int64_t{1} << pass.log_parts) - 1),
                     transform = rest >> pass.log_parts;
  const std::int64_t left = pass.lines - (tile << log_lines), all = std::int64_t{1} << log_lines;
  return {transform * pass.from_transform + part * pass.from_part + group * pass.from_group,
          transform * pass.to_transform + part * pass.to_part + group * pass.to_group,
          static_cast<unsigned>(group << log_lines), static_cast<int>(left < all ? left : all)};
}

}  // namespace sfft::detail::tensor
