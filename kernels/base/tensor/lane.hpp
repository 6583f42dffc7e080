// SPDX-License-Identifier: Apache-2.0
// What a lane of a warp does with its eight points, besides the matrix products: loads, splits, multiplies by
// twiddle factors. Kernels and their emulation on a CPU share it. results.hpp has what follows the last
// stage.
#pragma once

#include "kernels/base/tensor/pass.hpp"
#include "kernels/base/tensor/tile.hpp"

#ifdef __CUDA_ARCH__
#define SFFT_UNROLL _Pragma("unroll")
#else
#define SFFT_UNROLL
#endif

namespace sfft::detail::tensor {

/// Four rows of two columns.
struct LanePoints {
  Point at[2][kSlots];
};

/// The left operand of the products: 16 columns by 16 parts, twice; hi and lo.
struct LaneOperand {
  unsigned hi[2][4], lo[2][4];
};

/// The right operand: for both halves of the rows and four tiles of eight columns two registers.
struct LaneMatrix {
  unsigned at[2][4][2];
};

/// Registers of a lane that are loaded at once.
struct alignas(16) MatrixQuad {
  unsigned at[4];
};

SFFT_INLINE LaneMatrix matrix_of(const unsigned* table, int lane, bool low) {
  const auto* quads = reinterpret_cast<const MatrixQuad*>(table) + (low ? 128 : 0) + lane;
  LaneMatrix matrix;
  SFFT_UNROLL
  for (int i = 0; i < 16; i += 4) {
    const MatrixQuad quad = quads[8 * i];
    SFFT_UNROLL
    for (int j = 0; j < 4; ++j) matrix.at[i >> 3][(i + j) >> 1 & 3][j & 1] = quad.at[j];
  }
  return matrix;
}

/// The same for F of 16 points, where most registers hold what others hold: outputs 1 apart see rows 8 apart
/// with the same or the other sign, and outputs 8 apart rows 1 apart.
SFFT_INLINE LaneMatrix matrix16_of(const unsigned* table, int lane, bool low) {
  LaneMatrix matrix = matrix_of(table, lane, low);
  for (int i = 0; i < 2; ++i) {
    matrix.at[1][0][i] = matrix.at[0][0][i];
    matrix.at[1][2][i] = matrix.at[0][2][i];
  }
  matrix.at[0][2][0] = matrix.at[1][2][0] = matrix.at[0][0][0];
  matrix.at[0][3][0] = matrix.at[0][1][0];
  matrix.at[1][3][0] = matrix.at[1][1][0];
  matrix.at[0][3][1] = matrix.at[1][1][1];
  matrix.at[1][3][1] = matrix.at[0][1][1];
  return matrix;
}

SFFT_INLINE LaneOperand operand_of(const LanePoints& points) {
  LaneOperand operand;
  SFFT_UNROLL
  for (int slot = 0; slot < kSlots; ++slot) {
    SFFT_UNROLL
    for (int column = 0; column < 2; ++column) {
      const SplitPoint parts = split(points.at[column][slot]);
      operand.hi[slot >> 1][2 * (slot & 1) + column] = parts.hi;
      operand.lo[slot >> 1][2 * (slot & 1) + column] = parts.lo;
    }
  }
  return operand;
}

/// The position of a thread's unit i, two points that are neighbours in memory; threads take neighbours.
template <class Tile>
SFFT_HOST_DEVICE unsigned unit_position(int thread, int i) {
  return static_cast<unsigned>(2 * (i * Tile::kThreads + thread));
}
/// Where a position's point is in the input of a tile, which is linear in the bits.
template <class Tile>
SFFT_HOST_DEVICE std::int64_t place_of(const Pass& pass, unsigned position) {
  // Known distances save arithmetic.
  const std::int64_t line = Tile::kKind == TileKind::batch ? std::int64_t{1} << Tile::kLog
                            : Tile::kColumns               ? 1
                                                           : pass.from_line,
                     point = Tile::kColumns ? pass.from_point : 1;
  return line_of<Tile>(position) * line + point_of<Tile>(position) * point;
}
template <class Tile>
SFFT_HOST_DEVICE bool has_line(const TileBase& base, unsigned position) {
  return Tile::kKind != TileKind::batch || Tile::kLogLines == 0 ||
         static_cast<int>(line_of<Tile>(position)) < base.lines;
}

/// A thread's unit i; `first` is where its first one is.
template <class Tile, bool kWide>
SFFT_HOST_DEVICE PointPair load_unit(const Pass& pass, const TileBase& base, const Point* first, int thread,
                                     int i) {
  if (!has_line<Tile>(base, unit_position<Tile>(thread, i))) return {{0, 0}, {0, 0}};
  const Point* at = first + place_of<Tile>(pass, unit_position<Tile>(0, i));
  if constexpr (kWide) {
    return *reinterpret_cast<const PointPair*>(at);
  } else {
    return {at[0], at[1]};
  }
}
template <class Tile>
SFFT_HOST_DEVICE const Point* first_unit(const Pass& pass, const TileBase& base, int thread) {
  return pass.from + base.from + place_of<Tile>(pass, unit_position<Tile>(thread, 0));
}

/// The line whose scale a unit has.
template <class Tile>
SFFT_HOST_DEVICE unsigned unit_scale(unsigned position) {
  return Tile::kColumns ? 0 : line_of<Tile>(position);
}
/// The bits of the largest part of two points. NaN has no say in a scale; lines that share their products
/// with others have to know of it.
template <class Tile>
SFFT_HOST_DEVICE unsigned largest_bits(const PointPair& pair) {
  const Point a = pair.first, b = pair.second;
  if constexpr (!Tile::kShort)
    return half::bits_of(larger(larger(larger(0, a.re), larger(a.im, b.re)), larger(b.im, 0)));
  const float parts[4] = {a.re, a.im, b.re, b.im};
  unsigned most = 0;
  SFFT_UNROLL
  for (int i = 0; i < 4; ++i) {
    const unsigned bits = half::bits_of(parts[i]) & 0x7fffffffu;
    most = bits > most ? bits : most;
  }
  return most;
}

/// The largest part of the line of a slot's point, by which its scale is chosen.
template <class Tile, int kStage>
SFFT_HOST_DEVICE unsigned largest_of(const Seat<Tile, kStage>& seat, const unsigned* largest, int column,
                                     int slot) {
  using Here = Seat<Tile, kStage>;
  if constexpr (Tile::kColumns) return largest[0];
  // All rows are of one line unless lines are short.
  const unsigned row = Tile::kShort ? Here::row_offset(slot) : 0;
  return largest[line_of<Tile>(seat.position | Here::column_offset(column) | row)];
}

/// What multiplies the line on its way in, from its largest part.
SFFT_INLINE Scale entry_scale(unsigned largest) {
  return scale_of(scale_exponent(largest), 1);
}
/// Short lines meet others in the zeros of a matrix: one with a number that is none goes in as zeros, and
/// comes out as NaN.
SFFT_INLINE bool is_spoiled(unsigned largest) {
  return largest >= 0x7f800000u;
}

/// Scales the points of a lane before the first stage.
template <class Tile>
SFFT_HOST_DEVICE void scale_in(const Seat<Tile, 0>& seat, const unsigned* largest, LanePoints& points) {
  SFFT_UNROLL
  for (int column = 0; column < 2; ++column) {
    if constexpr (!Tile::kShort) {
      scale_all(points.at[column], entry_scale(largest_of(seat, largest, column, 0)));
    } else {
      SFFT_UNROLL
      for (int slot = 0; slot < kSlots; ++slot) {
        const unsigned own = largest_of(seat, largest, column, slot);
        Point point[1] = {points.at[column][slot]};
        scale_all(point, entry_scale(own));
        points.at[column][slot] = is_spoiled(own) ? Point{0, 0} : point[0];
      }
    }
  }
}
/// Multiplies by the twiddle factors that follow a stage, which also divide by its radix.
template <class Tile, int kStage>
SFFT_HOST_DEVICE void twiddle(const Seat<Tile, kStage>& seat, const Point* tables, LanePoints& points) {
  const auto* table = reinterpret_cast<const PointPair*>(
      tables + std::integral_constant<int, Tile::twiddle_offset(kStage)>::value);
  constexpr int kShift = Tile::twiddle_shift(kStage), kMask = (1 << Tile::twiddle_bits(kStage)) - 1;
  SFFT_UNROLL
  for (int slot = 0; slot < kSlots; ++slot) {
    const PointPair factors = table[((seat.warp_tile >> kShift & kMask) * kSlots + slot) * 32 + seat.lane];
    points.at[0][slot] = times(points.at[0][slot], factors.first);
    points.at[1][slot] = times(points.at[1][slot], factors.second);
  }
}

template <class Tile, int kStage>
SFFT_HOST_DEVICE void store_shared(const Seat<Tile, kStage>& seat, const LanePoints& points, Point* shared) {
  static_assert(Seat<Tile, kStage>::kPairBit == 0);
  SFFT_UNROLL
  for (int slot = 0; slot < kSlots; ++slot)
    *reinterpret_cast<PointPair*>(shared +
                                  (seat.in_shared ^ swizzled(Seat<Tile, kStage>::row_offset(slot)))) = {
        points.at[0][slot], points.at[1][slot]};
}

template <class Tile, int kStage>
SFFT_HOST_DEVICE LanePoints load_shared(const Seat<Tile, kStage>& seat, const Point* shared) {
  using Here = Seat<Tile, kStage>;
  LanePoints points;
  SFFT_UNROLL
  for (int i = 0; i < kSlots; ++i) {
    if constexpr (Tile::pairs_of_rows(kStage)) {
      const int column = i >> 1, slot = 2 * (i & 1);
      const PointPair both = *reinterpret_cast<const PointPair*>(
          shared + (seat.in_shared ^ swizzled(Here::column_offset(column) | Here::row_offset(slot))));
      points.at[column][slot] = both.first;
      points.at[column][slot + 1] = both.second;
    } else {
      const PointPair both =
          *reinterpret_cast<const PointPair*>(shared + (seat.in_shared ^ swizzled(Here::row_offset(i))));
      points.at[0][i] = both.first;
      points.at[1][i] = both.second;
    }
  }
  return points;
}

}  // namespace sfft::detail::tensor
