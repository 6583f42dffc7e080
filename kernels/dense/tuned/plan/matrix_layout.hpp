// SPDX-License-Identifier: Apache-2.0
// Lines of R1·R2 points as two products on tensor cores: what the lanes of a warp hold, and where points lie
// in shared memory. Shared by the host, which makes the tables, and the device code.
//
// A product is of a matrix of 16×16 real numbers, which are 8 complex outputs times 8 complex points, and of
// 8 columns of 8 complex points (mma.m16n8k16). The first one transforms columns of R1 points that are R2
// apart; lane 4·g + t holds points of column g. Its results are what the second one, over R2 points, takes
// as factors in the same lanes.
//
// Compiled by NVRTC, too: C++17 without standard headers.
#pragma once

#include "kernels/dense/tuned/plan/shared_layout.hpp"

namespace sfft::detail::tuned {

class MatrixLayout {
 public:
  static constexpr int kEdge = 8;             ///< complex numbers along each edge of a matrix
  static constexpr int kFragmentBytes = 512;  ///< of a matrix of 16×16 numbers of f16, 16 of each lane
  static constexpr int kBuffers = 2;          ///< of a warp's lines: one is filled while the other is used

  constexpr explicit MatrixLayout(const KernelPolicy& policy)
      : first(policy.radices[0]),
        second(policy.radices[1]),
        first_tiles((first + kEdge - 1) / kEdge),
        second_tiles((second + kEdge - 1) / kEdge),
        lines(32 / policy.threads_per_transform),
        warps(policy.transforms_per_block / lines),
        row_step(step_of_rows(first_tiles, second)),
        in_pitch(second % 16 == 0 ? second + 8 : second),
        out_pitch(first % 8 == 0 ? first + 4 : first) {}

  int first, second;              ///< radices
  int first_tiles, second_tiles;  ///< matrices along an edge of the DFT's matrix
  int lines, warps;               ///< lines of a warp at once
  /// Points of a column from one lane to the next.
  int row_step;
  /// Words from one row of R2 points to the next as they come, and of R1 points as they leave.
  int in_pitch, out_pitch;

  constexpr int points() const { return first * second; }
  /// The row of the i-th point that lane t holds of a column; some are beyond the last.
  static constexpr int row(int row_step, int t, int i) {
    return row_step * t + i % row_step + 4 * row_step * (i / row_step);
  }
  /// The first radix's output in row g of a product. Neighbours of a column then lie in neighbouring lanes.
  static constexpr int output(int tile, int g) { return kEdge * tile + g / 2 + 4 * (g % 2); }
  /// The point of the second radix that is the i-th one of lane t.
  static constexpr int point(int t, int i) { return kEdge * (i / 2) + 2 * t + i % 2; }

  constexpr int fragments() const {
    return first_tiles * first_tiles + second_tiles * second_tiles + first_tiles * second_tiles;
  }
  constexpr int line_words() const {
    const int in = first * in_pitch, out = second * out_pitch;
    return in > out ? in : out;
  }
  constexpr int buffer_words() const { return (lines * line_words() + 3) / 4 * 4; }
  constexpr int shared_bytes() const {
    return fragments() * kFragmentBytes + warps * kBuffers * buffer_words() * 4;
  }

 private:
  /// The step by which four lanes' rows of eight points meet each of 32 banks once, or comes near to it.
  static constexpr int step_of_rows(int tiles, int row_points) {
    int step = row_points % 8 == 0 ? 1 : row_points % 4 == 0 ? 2 : row_points % 2 == 0 ? 4 : 8;
    while (2 * tiles % step != 0) step /= 2;
    return step;
  }
};

}  // namespace sfft::detail::tuned
