// SPDX-License-Identifier: Apache-2.0
// What a lane of a warp does with its points besides the matrix products: loads, scales,
// splits, butterflies, twiddle factors. Kernels share it with their CPU emulation. results.hpp
// has the steps after the last stage.
#pragma once

#include "kernels/base/tensor/pass.hpp"
#include "kernels/base/tensor/tile.hpp"

namespace sfft::detail::tensor {

/// Points of some rows in two columns.
template <int kSlots>
struct LanePoints {
  Point at[2][kSlots];
};

/// The left operand of a product: 16 columns by 8 rows of two parts; hi and lo.
struct LaneOperand {
  unsigned hi[4], lo[4];
};

/// The right operands of a stage: for each product and both s two registers.
template <int kProducts>
struct LaneMatrix {
  unsigned at[kProducts][2][2];
};

/// Registers of a lane that are loaded at once.
struct alignas(16) MatrixQuad {
  unsigned at[4];
};

/// Radix 32 has four matrices; smaller radices use every second one, or the first.
constexpr int kMatrices = 4;

template <int kProducts>
SFFT_INLINE LaneMatrix<kProducts> matrix_of(const unsigned* table, int lane, bool low) {
  const auto* quads = reinterpret_cast<const MatrixQuad*>(table) + (low ? 32 : 0) + lane;
  LaneMatrix<kProducts> matrix;
  SFFT_UNROLL
  for (int a = 0; a < kProducts; ++a) {
    const MatrixQuad quad = quads[a * (kMatrices / kProducts) * 64];
    SFFT_UNROLL
    for (int i = 0; i < 4; ++i) matrix.at[a][i >> 1][i & 1] = quad.at[i];
  }
  return matrix;
}

/// The operand of product a.
template <int kSlots>
SFFT_INLINE LaneOperand operand_of(const LanePoints<kSlots>& points, int a) {
  LaneOperand operand;
  SFFT_UNROLL
  for (int s = 0; s < 2; ++s) {
    SFFT_UNROLL
    for (int column = 0; column < 2; ++column) {
      const SplitPoint parts = split(points.at[column][s * (kSlots / 2) + a]);
      operand.hi[2 * s + column] = parts.hi;
      operand.lo[2 * s + column] = parts.lo;
    }
  }
  return operand;
}

/// a + sign·i·b.
SFFT_INLINE Point plus_i_times(Point a, float sign, Point b) {
  return {fused(-sign, b.im, a.re), fused(sign, b.re, a.im)};
}
SFFT_INLINE Point sum(Point a, Point b) {
  return {a.re + b.re, a.im + b.im};
}
SFFT_INLINE Point difference(Point a, Point b) {
  return {a.re - b.re, a.im - b.im};
}

/// Transforms of 2 and of 4 points, in place.
SFFT_INLINE void butterfly(Point& p0, Point& p1) {
  const Point first = p0;
  p0 = sum(first, p1);
  p1 = difference(first, p1);
}
SFFT_INLINE void butterfly(float sign, Point& p0, Point& p1, Point& p2, Point& p3) {
  const Point a = sum(p0, p2), b = difference(p0, p2), c = sum(p1, p3), d = difference(p1, p3);
  p0 = sum(a, c);
  p1 = plus_i_times(b, sign, d);
  p2 = difference(a, c);
  p3 = plus_i_times(b, -sign, d);
}

/// Butterflies after the products: slot R·s + a holds product a, slot R·s + h frequency o + 8h.
template <int kSlots>
SFFT_INLINE void combine(float sign, LanePoints<kSlots>& points) {
  SFFT_UNROLL
  for (int i = 0; i < 4; ++i) {
    Point* const at = points.at[i & 1] + (i >> 1) * (kSlots / 2);
    if constexpr (kSlots == 4) butterfly(at[0], at[1]);
    if constexpr (kSlots == 8) butterfly(sign, at[0], at[1], at[2], at[3]);
  }
}

/// Two points that are neighbours in memory, or just the first.
template <bool kWide>
SFFT_INLINE PointPair load_pair(const Point* at) {
  if constexpr (kWide) return *reinterpret_cast<const PointPair*>(at);
  return {at[0], at[1]};
}
/// A predicated store.
template <bool kWide>
SFFT_INLINE void store_pair(Point* at, Point first, Point second, bool some) {
  if constexpr (!kWide) {
    if (!some) return;
    at[0] = first;
    at[1] = second;
  } else {
#ifdef __CUDA_ARCH__
    // Otherwise the compiler splits the store or branches.
    asm volatile("{\n .reg .pred p;\n setp.ne.s32 p, %5, 0;\n @p st.global.v4.f32 [%0], {%1, %2, %3, %4};\n}"
                 :
                 : "l"(at), "f"(first.re), "f"(first.im), "f"(second.re), "f"(second.im),
                   "r"(static_cast<int>(some))
                 : "memory");
#else
    if (some) *reinterpret_cast<PointPair*>(at) = {first, second};
#endif
  }
}

/// The input offset of a position within a tile, which is linear in its bits.
template <class Tile>
SFFT_HOST_DEVICE std::int64_t place_of(const Pass& pass, unsigned position) {
  // Compile-time distances save arithmetic.
  const std::int64_t line = Tile::kKind == TileKind::batch ? std::int64_t{1} << Tile::kLog
                            : Tile::kColumns               ? 1
                                                           : pass.from_line,
                     point = Tile::kColumns ? pass.point : 1;
  return line_of<Tile>(position) * line + point_of<Tile>(position) * point;
}
template <class Tile>
SFFT_HOST_DEVICE bool has_line(const TileBase& base, unsigned position) {
  return Tile::kKind != TileKind::batch || static_cast<int>(line_of<Tile>(position)) < base.lines;
}

/// The samples of a lane.
template <class Tile, bool kWide>
SFFT_HOST_DEVICE void load_samples(const Pass& pass, const TileBase& base, const Seat<Tile, 0>& seat,
                                   LanePoints<Tile::slots(0)>& points) {
  using Here = Seat<Tile, 0>;
  const Point* const first = pass.from + base.from + place_of<Tile>(pass, seat.of_thread);
  SFFT_UNROLL
  for (int i = 0; i < Here::kSlots; ++i) {
    constexpr bool kRows = Tile::pairs_of_rows(0);
    const int column = kRows ? i & 1 : 0, slot = kRows ? i & ~1 : i;
    const unsigned other = Here::column_offset(column) | Here::row_offset(slot);
    PointPair pair{};
    if (has_line<Tile>(base, seat.position | other))
      pair = load_pair<kWide>(first + place_of<Tile>(pass, seat.of_turn | other));
    points.at[column][slot] = pair.first;
    points.at[kRows ? column : 1][kRows ? slot + 1 : slot] = pair.second;
  }
}

/// Whether several lines share a product.
template <class Tile>
constexpr bool has_short_lines = Tile::kLog < kMatrixBits;

/// The bits of the largest part of some points. NaN is ignored for scales, but reported to lines that share
/// their products with others.
template <class Tile, int kCount>
SFFT_HOST_DEVICE unsigned largest_bits(const Point (&points)[kCount]) {
  if constexpr (!has_short_lines<Tile>) {
    float max = 0;
    SFFT_UNROLL
    for (int i = 0; i < kCount; ++i) max = larger(larger(max, points[i].re), points[i].im);
    return half::bits_of(max);
  }
  unsigned max = 0;
  SFFT_UNROLL
  for (int i = 0; i < 2 * kCount; ++i) {
    const unsigned bits = half::bits_of(i < kCount ? points[i].re : points[i - kCount].im) & 0x7fffffffu;
    max = bits > max ? bits : max;
  }
  return max;
}
/// The largest parts of a lane's columns, which belong to one line or two.
struct LaneLargest {
  unsigned at[2];
};
template <class Tile>
SFFT_HOST_DEVICE LaneLargest own_largest(const LanePoints<Tile::slots(0)>& points) {
  LaneLargest own{{largest_bits<Tile>(points.at[0]), largest_bits<Tile>(points.at[1])}};
  if constexpr (Tile::kLogColumnsOfLine > 0)
    own.at[0] = own.at[1] = own.at[0] > own.at[1] ? own.at[0] : own.at[1];
  return own;
}
/// Where the largest part of a column's line, or of a warp tile's part of it, is kept.
template <class Tile>
SFFT_HOST_DEVICE unsigned largest_place(const Seat<Tile, 0>& seat, int column) {
  if constexpr (Tile::kColumns) return static_cast<unsigned>(seat.warp_tile);
  const unsigned line = line_of<Tile>(seat.position | Seat<Tile, 0>::column_offset(column));
  return line << Tile::kLogParts | (static_cast<unsigned>(seat.warp_tile) & ((1u << Tile::kLogParts) - 1));
}
/// The largest part of the line of a position.
template <class Tile>
SFFT_HOST_DEVICE unsigned largest_of(const unsigned* largest, unsigned position) {
  const unsigned* const of_line = largest + (Tile::kColumns ? 0 : line_of<Tile>(position) << Tile::kLogParts);
  unsigned max = of_line[0];
  SFFT_UNROLL
  for (int i = 1; i < 1 << Tile::kLogParts; ++i) max = of_line[i] > max ? of_line[i] : max;
  return max;
}

/// The scale of a line on its way in, from its largest part.
SFFT_INLINE Scale entry_scale(unsigned largest) {
  return scale_of(scale_exponent(largest), 1);
}
/// Short lines share a matrix with others through its zeros. A line with NaN or infinities goes in as zeros
/// and comes out as NaN.
SFFT_INLINE bool is_spoiled(unsigned largest) {
  return largest >= 0x7f800000u;
}

/// Scales both columns of a lane, which belong to one line unless kTwo.
template <bool kTwo, int kSlots>
SFFT_INLINE void scale_columns(Scale first, Scale second, LanePoints<kSlots>& points) {
  if constexpr (kTwo) {
    scale_all(points.at[0], first);
    scale_all(points.at[1], second);
  } else {
    scale_all(points.at[0], first.first);
    scale_all(points.at[1], first.first);
    if (first.second == 1) return;
    scale_all(points.at[0], first.second);
    scale_all(points.at[1], first.second);
  }
}

/// Scales the points of a lane before the first stage.
template <class Tile>
SFFT_HOST_DEVICE void scale_in(const LaneLargest& largest, LanePoints<Tile::slots(0)>& points) {
  constexpr bool kTwo = Tile::kLogColumnsOfLine == 0;
  scale_columns<kTwo>(entry_scale(largest.at[0]), entry_scale(largest.at[kTwo ? 1 : 0]), points);
  if constexpr (Tile::kShort) {
    SFFT_UNROLL
    for (int column = 0; column < 2; ++column) {
      SFFT_UNROLL
      for (Point& point : points.at[column]) point = is_spoiled(largest.at[column]) ? Point{0, 0} : point;
    }
  }
}

/// Twiddle factors of a lane after the first of two stages.
template <class Tile>
struct LaneTwiddles {
  struct alignas(8 * Tile::kTwiddleColumns) Factors {
    Point of[Tile::kTwiddleColumns];
  };
  Factors at[Tile::slots(0)];
};
template <class Tile>
SFFT_HOST_DEVICE LaneTwiddles<Tile> load_twiddles(const Point* table, int lane, int warp_tile) {
  using Factors = typename LaneTwiddles<Tile>::Factors;
  constexpr int kShift = Tile::twiddle_shift(), kMask = (1 << Tile::twiddle_bits()) - 1,
                kSlots = Tile::slots(0);
  const auto* own = reinterpret_cast<const Factors*>(table) +
                    (warp_tile >> kShift & kMask) * (kSlots * Tile::kTwiddleLanes) + Tile::twiddle_lane(lane);
  LaneTwiddles<Tile> factors;
  SFFT_UNROLL
  for (int slot = 0; slot < kSlots; ++slot) factors.at[slot] = own[slot * Tile::kTwiddleLanes];
  return factors;
}
/// Multiplies by the twiddle factors, which include a division by the radix.
template <class Tile>
SFFT_HOST_DEVICE void twiddle(const LaneTwiddles<Tile>& factors, LanePoints<Tile::slots(0)>& points) {
  SFFT_UNROLL
  for (int slot = 0; slot < Tile::slots(0); ++slot) {
    points.at[0][slot] = times(points.at[0][slot], factors.at[slot].of[0]);
    points.at[1][slot] = times(points.at[1][slot], factors.at[slot].of[Tile::kTwiddleColumns - 1]);
  }
}

/// Points of the first stage to shared memory, and from there to the last stage.
template <class Tile>
SFFT_HOST_DEVICE void store_shared(const Seat<Tile, 0>& seat, const LanePoints<Tile::slots(0)>& points,
                                   Point* shared) {
  static_assert(Seat<Tile, 0>::kPairBit == 0);
  SFFT_UNROLL
  for (int slot = 0; slot < Tile::slots(0); ++slot)
    *reinterpret_cast<PointPair*>(shared + (seat.in_shared ^ swizzled<Tile>(seat.row_offset(slot)))) = {
        points.at[0][slot], points.at[1][slot]};
}

template <class Tile>
SFFT_HOST_DEVICE void load_shared(const Seat<Tile, Tile::kLast>& seat, const Point* shared,
                                  LanePoints<Tile::slots(Tile::kLast)>& points) {
  using Here = Seat<Tile, Tile::kLast>;
  SFFT_UNROLL
  for (int i = 0; i < Here::kSlots; ++i) {
    constexpr bool kRows = Tile::pairs_of_rows(Tile::kLast);
    const int column = kRows ? i & 1 : 0, slot = kRows ? i & ~1 : i;
    const PointPair both = *reinterpret_cast<const PointPair*>(
        shared + (seat.in_shared ^ swizzled<Tile>(Here::column_offset(column) | Here::row_offset(slot))));
    points.at[column][slot] = both.first;
    points.at[kRows ? column : 1][kRows ? slot + 1 : slot] = both.second;
  }
}

}  // namespace sfft::detail::tensor
