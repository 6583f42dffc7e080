// SPDX-License-Identifier: Apache-2.0
// Cells of one axis of a spectrum, logarithmic in |f| with two per octave: [0,0], [1,1], [2,2], [3,3], [4,5],
// [6,7], [8,11], … up to n/2.
#pragma once

#include <cstdint>

#include "kernels/base/math/portable.hpp"

namespace sfft::detail {

/// Smallest |f| of a cell.
SFFT_HOST_DEVICE std::int64_t log_cell_first(int cell) noexcept {
  return cell < 2 ? cell : std::int64_t{2 + (cell & 1)} << (cell / 2 - 1);
}

/// Number of cells of an axis.
SFFT_HOST_DEVICE int log_cells(std::int64_t extent) noexcept {
  int cells = 1;
  while (log_cell_first(cells) <= extent / 2) ++cells;
  return cells;
}

/// The f in [0, extent) of one cell: those up to n/2 and, unless only these are stored (`half`), their
/// negatives.
struct LogCellMembers {
  std::int64_t positive_first, positive_count;
  std::int64_t negative_first, negative_count;

  SFFT_HOST_DEVICE std::int64_t count() const noexcept { return positive_count + negative_count; }
  /// The i-th member, ascending; i in [0, count()).
  SFFT_HOST_DEVICE std::int64_t operator[](std::int64_t i) const noexcept {
    return i < positive_count ? positive_first + i : negative_first + (i - positive_count);
  }
};

SFFT_HOST_DEVICE LogCellMembers log_cell_members(int cell, std::int64_t extent, bool half) noexcept {
  const std::int64_t half_extent = extent / 2;
  const std::int64_t low = log_cell_first(cell);
  const std::int64_t next = log_cell_first(cell + 1);
  const std::int64_t high = next <= half_extent ? next : half_extent + 1;
  LogCellMembers members{low, high - low, 0, 0};
  if (half || low == 0) return members;
  // Do not count n/2 twice.
  const std::int64_t mirrored = extent - high + 1;
  members.negative_first = mirrored > half_extent ? mirrored : half_extent + 1;
  const std::int64_t count = extent - low + 1 - members.negative_first;
  members.negative_count = count > 0 ? count : 0;
  return members;
}

}  // namespace sfft::detail
