// SPDX-License-Identifier: Apache-2.0
// What a lane of a warp does with its eight points, besides the matrix products: loads, splits, multiplies by
// twiddle factors, stores. Kernels and their emulation on a CPU share it.
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
/// The largest part of two points; NaN has no say in a scale.
SFFT_INLINE float largest_part(const PointPair& pair) {
  return larger(larger(larger(0, pair.first.re), larger(pair.first.im, pair.second.re)),
                larger(pair.second.im, 0));
}

/// The line whose scale a column of a lane has.
template <class Tile, int kStage>
SFFT_HOST_DEVICE unsigned scale_index(const Seat<Tile, kStage>& seat, int column) {
  return Tile::kColumns ? 0 : line_of<Tile>(seat.position | Seat<Tile, kStage>::column_offset(column));
}

/// What multiplies the line on its way in, from its largest part.
SFFT_INLINE Scale entry_scale(unsigned largest) {
  return scale_of(scale_exponent(largest), 1);
}
/// What makes good for that and for the divisions of all stages but the last.
template <class Tile>
SFFT_HOST_DEVICE Scale exit_scale(unsigned largest, float factor) {
  return scale_of(Tile::kLog - 4 - scale_exponent(largest), factor);
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

/// Stores the results of the last stage, two neighbours in memory at once.
template <class Tile>
SFFT_HOST_DEVICE void store_points(const Pass& pass, const TileBase& base,
                                   const Seat<Tile, Tile::kStages - 1>& seat, const LanePoints& points) {
  using Here = Seat<Tile, Tile::kStages - 1>;
  constexpr bool kPairsOfRows = Tile::stores_pairs_of_rows();
  const std::int64_t line = Tile::kKind == TileKind::batch ? std::int64_t{1} << Tile::kLog : 1,
                     point = Tile::kKind == TileKind::batch ? 1 : pass.to_point;
  const auto place = [&](unsigned position) {
    return line_of<Tile>(position) * line + frequency_of<Tile>(point_of<Tile>(position)) * point;
  };
  Point* const to = pass.to + base.to + place(seat.of_thread) + place(seat.of_turn);
  const std::int64_t row = place(1u << Here::kWindow), column = place(Here::column_offset(1));
  SFFT_UNROLL
  for (int i = 0; i < kSlots; ++i) {
    const int first = kPairsOfRows ? i >> 1 : 0, slot = kPairsOfRows ? 2 * (i & 1) : i;
    if (!has_line<Tile>(base, seat.position | Here::column_offset(first))) continue;
    Point* const at = to + first * column + ((slot & 1) + 8 * (slot >> 1)) * row;
    const PointPair both{points.at[first][slot],
                         kPairsOfRows ? points.at[first][slot + 1] : points.at[1][slot]};
    if (pass.wide) {
      *reinterpret_cast<PointPair*>(at) = both;
    } else {
      at[0] = both.first;
      at[1] = both.second;
    }
  }
}

/// Scales the results of the last stage, multiplies them by the factors between passes, and stores them.
/// `largest`: of the line of either column.
template <class Tile>
SFFT_HOST_DEVICE void store_lines(const Pass& pass, const TileBase& base,
                                  const Seat<Tile, Tile::kStages - 1>& seat, const unsigned (&largest)[2],
                                  LanePoints& points) {
  using Here = Seat<Tile, Tile::kStages - 1>;
  SFFT_UNROLL
  for (int column = 0; column < 2; ++column) {
    scale_all(points.at[column], exit_scale<Tile>(largest[column], pass.factor));
  }
  if constexpr (Tile::kColumns) {
    if (pass.log_order > 0) {
      const unsigned mask = (1u << pass.log_order) - 1;
      SFFT_UNROLL
      for (int column = 0; column < 2; ++column) {
        const unsigned place = seat.position | Here::column_offset(column),
                       line = base.first_line + line_of<Tile>(place);
        SFFT_UNROLL
        for (int slot = 0; slot < kSlots; ++slot) {
          const unsigned k = frequency_of<Tile>(point_of<Tile>(place | Here::row_offset(slot)));
          points.at[column][slot] =
              times(points.at[column][slot], root_of(line * k & mask, pass.log_order, pass.sign));
        }
      }
    }
  }
  store_points<Tile>(pass, base, seat, points);
}

}  // namespace sfft::detail::tensor
