// SPDX-License-Identifier: Apache-2.0
// Lines as products on tensor cores: which values the lanes of a warp hold, and where points lie in shared
// memory. The host, which makes the tables, and the device code share this file.
//
// A product multiplies a 16×16 matrix by a 16×8 one (mma.m16n8k16). The first matrix has cosines or sines of
// the DFT: its rows are outputs k <= n/2 and its columns are points. The columns of the second matrix are
// lines, and its entries are their real or imaginary parts. Sums and differences of the four products are the
// outputs k and n − k. The length need not have small factors.
//
// NVRTC also compiles this file: C++17 without standard headers.
#pragma once

#include "kernels/dense/tuned/plan/shared_layout.hpp"

namespace sfft::detail::tuned {

class ProductLayout {
 public:
  static constexpr int kRows = 16, kColumns = 8;  ///< rows and columns of a product's result
  static constexpr int kMatrixBytes = 512;        ///< 16 bytes per lane
  static constexpr int kBuffers = 2;              ///< per warp: one is filled while the other is used

  constexpr explicit ProductLayout(const KernelPolicy& policy)
      : points(policy.radices[0]),
        out_tiles((points / 2 + kRows) / kRows),
        in_tiles((points + kRows - 1) / kRows),
        lines(32 / policy.threads_per_transform),
        warps(policy.transforms_per_block / lines),
        row_step(points % 4 == 0     ? 1
                 : in_tiles % 2 == 0 ? 8
                                     : 4),
        pitch(points % 8 == 0 ? points + 4 : points) {}

  int points;
  int out_tiles, in_tiles;  ///< number of matrices along the two edges
  int lines, warps;         ///< lines that a warp transforms at once; warps of a block
  int row_step;             ///< see point()
  int pitch;                ///< words from one line to the next

  /// The i-th point of a line that lane t holds; some are beyond the last point. With this order, lanes read
  /// different banks, except for lengths that are twice an odd number.
  static constexpr int point(int row_step, int t, int i) {
    return row_step * t + i % row_step + 4 * row_step * (i / row_step);
  }
  /// The output in row r of a tile; some are beyond n/2. With this order, lanes store to different banks.
  static constexpr int output(int points, int out_tiles, int tile, int r) {
    if (points % 2 == 0 || out_tiles % 2 != 0) return kRows * tile + r;
    return r % 2 + r / 2 % 4 * 8 + r / 8 * 2 + tile % 2 * 4 + tile / 2 * 32;
  }
  /// The matrices of cosines and of sines alternate.
  constexpr int matrices() const { return 2 * out_tiles * in_tiles; }
  constexpr int buffer_words() const { return (lines * pitch + 3) / 4 * 4; }
  constexpr int shared_bytes() const {
    return matrices() * kMatrixBytes + warps * kBuffers * buffer_words() * 4;
  }
};

}  // namespace sfft::detail::tuned
