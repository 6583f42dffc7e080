// SPDX-License-Identifier: Apache-2.0
// Lines as products on tensor cores: what the lanes of a warp hold, and where points lie in shared memory.
// Shared by the host, which makes the tables, and the device code.
//
// A product is of a matrix of 16×16 numbers and one of 16×8 (mma.m16n8k16). The first one has cosines or
// sines of the DFT: its rows are outputs k <= n/2, its columns points. The columns of the second one are
// lines, its numbers their real parts or their imaginary ones. Sums and differences of the four products are
// the outputs k and n − k. The length needs no factors.
//
// Compiled by NVRTC, too: C++17 without standard headers.
#pragma once

#include "kernels/dense/tuned/plan/shared_layout.hpp"

namespace sfft::detail::tuned {

class ProductLayout {
 public:
  static constexpr int kRows = 16, kColumns = 8;  ///< of a product
  static constexpr int kMatrixBytes = 512;        ///< 16 of each lane
  static constexpr int kBuffers = 2;              ///< of a warp: one is filled while the other is used

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
  int out_tiles, in_tiles;  ///< matrices along the edges
  int lines, warps;         ///< lines of a warp at once
  int row_step;             ///< point()
  int pitch;                ///< words from line to line

  /// The i-th point that lane t holds of a line; some are beyond the last. Lanes then read different banks,
  /// but for lengths that are twice an odd number.
  static constexpr int point(int row_step, int t, int i) {
    return row_step * t + i % row_step + 4 * row_step * (i / row_step);
  }
  /// The output in row r of a tile, some of which are beyond n/2. Lanes then store to different banks.
  static constexpr int output(int points, int out_tiles, int tile, int r) {
    if (points % 2 == 0 || out_tiles % 2 != 0) return kRows * tile + r;
    return r % 2 + r / 2 % 4 * 8 + r / 8 * 2 + tile % 2 * 4 + tile / 2 * 32;
  }
  /// Matrices of cosines and of sines, in turn.
  constexpr int matrices() const { return 2 * out_tiles * in_tiles; }
  constexpr int buffer_words() const { return (lines * pitch + 3) / 4 * 4; }
  constexpr int shared_bytes() const {
    return matrices() * kMatrixBytes + warps * kBuffers * buffer_words() * 4;
  }
};

}  // namespace sfft::detail::tuned
