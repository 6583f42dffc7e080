// SPDX-License-Identifier: Apache-2.0
// One pass of a batch of transforms through memory: the parameters of a kernel or its emulation.
#pragma once

#include <cstdint>

#include "kernels/base/tensor/numbers.hpp"

namespace sfft::detail::tensor {

/// Tables of one direction. Matrices are right operands of the products in lane order: for each product four
/// registers per lane of high parts, then four per lane of low parts.
struct Tables {
  const unsigned* matrices = nullptr;
  const Point* twiddles = nullptr;  ///< after the first of two stages
};

/// Distances are in points. Tile number b is tile q of transform t, where b = t·2^log_groups + q.
struct Pass {
  const Point* from = nullptr;
  Point* to = nullptr;
  std::int64_t transform = 0;  ///< distance of transforms, in and out
  std::int64_t from_group = 0, to_group = 0;
  std::int64_t from_line = 0;  ///< of rows: distance of neighbouring lines in the input
  std::int64_t point = 0;      ///< of columns, and in the output of rows: distance of a line's points
  std::int64_t tiles = 0;
  std::int64_t lines = 0;  ///< in all tiles: the last tile of a batch may have fewer
  int log_groups = 0;
  /// Of columns: frequency k of line j of group q is multiplied by exp(∓2πi k·(q·lines + j)/2^log_order).
  int log_order = 0;
  float sign = -1;    ///< −1 forward, +1 inverse
  float factor = 1;   ///< multiplies the results
  bool wide = true;   ///< pairs of points may be accessed at once: arrays are aligned to 16 bytes
  bool split = true;  ///< false: products of fp16 alone, for comparison
  Tables tables;
};

struct TileBase {
  std::int64_t from, to;
  unsigned first_line;  ///< within the group, for twiddle factors
  int lines;            ///< lines that exist
};

SFFT_INLINE TileBase base_of(const Pass& pass, std::int64_t tile, int log_lines) {
  const std::int64_t group = tile & ((std::int64_t{1} << pass.log_groups) - 1),
                     first = (tile >> pass.log_groups) * pass.transform;
  const std::int64_t left = pass.lines - (tile << log_lines), all = std::int64_t{1} << log_lines;
  return {first + group * pass.from_group, first + group * pass.to_group,
          static_cast<unsigned>(group << log_lines), static_cast<int>(left < all ? left : all)};
}

}  // namespace sfft::detail::tensor
