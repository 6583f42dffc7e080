// SPDX-License-Identifier: Apache-2.0
// Elements of a half spectrum that their conjugates represent.
#pragma once

#include "kernels/cuda/spectrum/spectrum_extents.hpp"

namespace sfft::detail::cuda {

/// Whether the conjugate of the first element of `row` is in an earlier row: rows of the planes f_D = 0 and
/// f_D = n_D/2 mirror each other.
__device__ __forceinline__ bool mirrors_earlier_row(const SpectrumExtents& extents, std::int64_t row) {
  const std::int64_t f0 = row / extents.n[1];
  const std::int64_t f1 = row - f0 * extents.n[1];
  const std::int64_t mirrored_row =
      (f0 == 0 ? 0 : extents.n[0] - f0) * extents.n[1] + (f1 == 0 ? 0 : extents.n[1] - f1);
  return mirrored_row < row;
}

/// Whether exclude_conjugates() excludes the element of this row and column.
__device__ __forceinline__ bool conjugate_excluded(const SpectrumExtents& extents, std::int64_t row,
                                                   std::int64_t column) {
  if (!extents.half || (column != 0 && 2 * column != extents.n[2])) return false;
  return mirrors_earlier_row(extents, row);
}

}  // namespace sfft::detail::cuda
