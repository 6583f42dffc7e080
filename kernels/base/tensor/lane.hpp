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

/// One tile's lines in global memory, for a lane's points of a stage.
template <class Tile, int kStage, bool kPairsOfRows>
class GlobalSide {
  using Here = Seat<Tile, kStage>;

 public:
  /// `line` and `point` are the distances; `index` maps a position's point to the one in memory.
  template <class Index>
  SFFT_HOST_DEVICE GlobalSide(const Here& seat, std::int64_t line, std::int64_t point, int lines,
                              const Index& index)
      : offset_(place(seat.position, line, point, index)),
        row_(place(1u << Here::kWindow, line, point, index)),
        column_(place(1u << Here::kPairBit, line, point, index)),
        lines_(lines) {
    first_exists_ = exists(seat.position);
    second_exists_ = exists(seat.position | 1u << Here::kPairBit);
  }

  SFFT_HOST_DEVICE void load(const Point* from, bool wide, LanePoints& points) const {
    wide ? load<true>(from, points) : load<false>(from, points);
  }
  SFFT_HOST_DEVICE void store(Point* to, bool wide, const LanePoints& points) const {
    wide ? store<true>(to, points) : store<false>(to, points);
  }

 private:
  /// Access i of four: the column of its first point, that point's slot, and whether and where it is.
  static SFFT_HOST_DEVICE constexpr int column_of(int i) { return kPairsOfRows ? i >> 1 : 0; }
  static SFFT_HOST_DEVICE constexpr int slot_of(int i) { return kPairsOfRows ? 2 * (i & 1) : i; }
  SFFT_HOST_DEVICE bool has(int i) const { return column_of(i) == 0 ? first_exists_ : second_exists_; }
  SFFT_HOST_DEVICE std::int64_t at(int i) const {
    return offset_ + column_of(i) * column_ + ((slot_of(i) & 1) + 8 * (slot_of(i) >> 1)) * row_;
  }

  template <bool kWide>
  SFFT_HOST_DEVICE void load(const Point* from, LanePoints& points) const {
    SFFT_UNROLL
    for (int i = 0; i < kSlots; ++i) {
      PointPair both{{0, 0}, {0, 0}};
      if (has(i)) {
        if constexpr (kWide) {
          both = *reinterpret_cast<const PointPair*>(from + at(i));
        } else {
          both = {from[at(i)], from[at(i) + (kPairsOfRows ? row_ : column_)]};
        }
      }
      points.at[column_of(i)][slot_of(i)] = both.first;
      (kPairsOfRows ? points.at[column_of(i)][slot_of(i) + 1] : points.at[1][i]) = both.second;
    }
  }
  template <bool kWide>
  SFFT_HOST_DEVICE void store(Point* to, const LanePoints& points) const {
    SFFT_UNROLL
    for (int i = 0; i < kSlots; ++i) {
      if (!has(i)) continue;
      const PointPair both{points.at[column_of(i)][slot_of(i)],
                           kPairsOfRows ? points.at[column_of(i)][slot_of(i) + 1] : points.at[1][i]};
      if constexpr (kWide) {
        *reinterpret_cast<PointPair*>(to + at(i)) = both;
      } else {
        to[at(i)] = both.first;
        to[at(i) + (kPairsOfRows ? row_ : column_)] = both.second;
      }
    }
  }

  template <class Index>
  static SFFT_HOST_DEVICE std::int64_t place(unsigned position, std::int64_t line, std::int64_t point,
                                             const Index& index) {
    return line_of<Tile>(position) * line + index(point_of<Tile>(position)) * point;
  }
  SFFT_HOST_DEVICE bool exists(unsigned position) const {
    return Tile::kKind != TileKind::batch || static_cast<int>(line_of<Tile>(position)) < lines_;
  }

  std::int64_t offset_, row_, column_;
  int lines_;
  bool first_exists_, second_exists_;
};

struct Identity {
  SFFT_HOST_DEVICE unsigned operator()(unsigned point) const { return point; }
};
template <class Tile>
struct ToFrequency {
  SFFT_HOST_DEVICE unsigned operator()(unsigned point) const { return frequency_of<Tile>(point); }
};

template <class Tile>
SFFT_HOST_DEVICE LanePoints load_lines(const Pass& pass, const TileBase& base, int lane, int warp_tile) {
  const Seat<Tile, 0> seat(lane, warp_tile);
  LanePoints points;
  // Known distances save arithmetic.
  const std::int64_t line = Tile::kKind == TileKind::batch ? std::int64_t{1} << Tile::kLog
                            : Tile::kColumns               ? 1
                                                           : pass.from_line,
                     point = Tile::kColumns ? pass.from_point : 1;
  const GlobalSide<Tile, 0, Tile::pairs_of_rows(0)> side(seat, line, point, base.lines, Identity{});
  side.load(pass.from + base.from, pass.wide, points);
  return points;
}

/// The largest part of the points, and of each of the lane's two columns if they are of two lines.
SFFT_INLINE unsigned largest_bits(const Point (&points)[kSlots]) {
  unsigned largest = 0;
  SFFT_UNROLL
  for (int slot = 0; slot < kSlots; ++slot) {
    const unsigned re = magnitude_bits(points[slot].re), im = magnitude_bits(points[slot].im);
    largest = largest > re ? largest : re;
    largest = largest > im ? largest : im;
  }
  return largest;
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
  using Here = Seat<Tile, kStage>;
  // The transforms that are left have 2^kLeft points; their tables lie one after the other.
  constexpr int kLeft = kStage == 0 ? Tile::kLog : Tile::kLog - Tile::kFirstBits - 4 * (kStage - 1);
  constexpr unsigned kMask = (1u << kLeft) - 1;
  const Point* table = tables;
  SFFT_UNROLL
  for (int stage = 0; stage < kStage; ++stage)
    table += 1u << (stage == 0 ? Tile::kLog : Tile::kLog - Tile::kFirstBits - 4 * (stage - 1));
  SFFT_UNROLL
  for (int slot = 0; slot < kSlots; ++slot) {
    const unsigned at = point_of<Tile>(seat.position | Here::row_offset(slot)) & kMask;
    if constexpr (Tile::kColumns && Here::kPairBit < Tile::kPointShift) {
      const Point factor = table[at];
      points.at[0][slot] = times(points.at[0][slot], factor);
      points.at[1][slot] = times(points.at[1][slot], factor);
    } else {
      static_assert(Here::kPairBit == 0);
      const PointPair factors = *reinterpret_cast<const PointPair*>(table + at);
      points.at[0][slot] = times(points.at[0][slot], factors.first);
      points.at[1][slot] = times(points.at[1][slot], factors.second);
    }
  }
}

template <class Tile, int kStage>
SFFT_HOST_DEVICE void store_shared(const Seat<Tile, kStage>& seat, const LanePoints& points, Point* shared) {
  static_assert(Seat<Tile, kStage>::kPairBit == 0);
  SFFT_UNROLL
  for (int slot = 0; slot < kSlots; ++slot)
    *reinterpret_cast<PointPair*>(shared + swizzled(seat.position | Seat<Tile, kStage>::row_offset(slot))) = {
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
          shared + swizzled(seat.position | Here::column_offset(column) | Here::row_offset(slot)));
      points.at[column][slot] = both.first;
      points.at[column][slot + 1] = both.second;
    } else {
      const PointPair both =
          *reinterpret_cast<const PointPair*>(shared + swizzled(seat.position | Here::row_offset(i)));
      points.at[0][i] = both.first;
      points.at[1][i] = both.second;
    }
  }
  return points;
}

/// Scales the results of the last stage, multiplies them by the factors between passes, and stores them.
/// `largest`: of the line of either column.
template <class Tile>
SFFT_HOST_DEVICE void store_lines(const Pass& pass, const TileBase& base, int lane, int warp_tile,
                                  const unsigned (&largest)[2], LanePoints& points) {
  constexpr int kLast = Tile::kStages - 1;
  using Here = Seat<Tile, kLast>;
  const Here seat(lane, warp_tile);
  SFFT_UNROLL
  for (int column = 0; column < 2; ++column) {
    const Scale scale = exit_scale<Tile>(largest[column], pass.factor);
    SFFT_UNROLL
    for (int slot = 0; slot < kSlots; ++slot)
      points.at[column][slot] = scaled(points.at[column][slot], scale);
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
  const std::int64_t line = Tile::kKind == TileKind::batch ? std::int64_t{1} << Tile::kLog : 1,
                     point = Tile::kKind == TileKind::batch ? 1 : pass.to_point;
  const GlobalSide<Tile, kLast, Tile::stores_pairs_of_rows()> side(seat, line, point, base.lines,
                                                                   ToFrequency<Tile>{});
  side.store(pass.to + base.to, pass.wide, points);
}

}  // namespace sfft::detail::tensor
