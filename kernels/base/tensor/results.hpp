// SPDX-License-Identifier: Apache-2.0
// How results leave a tile: scaled, with the factors between passes, from the lanes to memory. Kernels share
// it with their CPU emulation.
#pragma once

#include "kernels/base/tensor/lane.hpp"

namespace sfft::detail::tensor {

template <class Tile>
using LastPoints = LanePoints<Tile::slots(Tile::kLast)>;
template <class Tile>
using LastSeat = Seat<Tile, Tile::kLast>;

/// Undoes the entry scale and the divisions of all stages but the last.
template <class Tile>
SFFT_HOST_DEVICE Scale exit_scale(unsigned largest, float factor) {
  constexpr int kDivided = Tile::kStages == 1 ? 0 : Tile::kLog - Tile::radix_bits(Tile::kLast);
  return scale_of(kDivided - scale_exponent(largest), factor);
}

/// Whether the columns of a lane belong to two lines in the last stage.
template <class Tile>
constexpr bool leaves_two_lines = Tile::kScales > 1 && LastSeat<Tile>::kPairBit >= Tile::kLineShift;

/// Scales the points of a lane after the last stage, given the largest parts of its columns' lines.
template <class Tile>
SFFT_HOST_DEVICE void scale_out(const LaneLargest& largest, float factor, LastPoints<Tile>& points) {
  constexpr bool kTwo = leaves_two_lines<Tile>;
  scale_columns<kTwo>(exit_scale<Tile>(largest.at[0], factor),
                      exit_scale<Tile>(largest.at[kTwo ? 1 : 0], factor), points);
  if constexpr (Tile::kShort) {
    const float nan = half::from_bits(0x7fffffffu);
    SFFT_UNROLL
    for (int column = 0; column < 2; ++column) {
      SFFT_UNROLL
      for (Point& point : points.at[column]) point = is_spoiled(largest.at[column]) ? Point{nan, nan} : point;
    }
  }
}

/// The factor between passes of frequency k of a tile's line.
SFFT_INLINE Point pass_root(const Pass& pass, const TileBase& base, unsigned line, unsigned k) {
  const unsigned mask = (1u << pass.log_order) - 1;
  return root_of((base.first_line + line) * k & mask, pass.log_order, pass.sign);
}
/// Offset of a slot's frequency from that of the lane's first point.
template <class Tile>
SFFT_HOST_DEVICE unsigned frequency_of_slot(int slot) {
  return frequency_of<Tile>(point_of<Tile>(LastSeat<Tile>::row_offset(slot)));
}
/// The factors between passes for a lane's results: those of its first points times those of the slots.
/// of_slot(line, slot) returns pass_root() of the slot's frequency.
template <class Tile, class OfSlot>
SFFT_HOST_DEVICE LastPoints<Tile> pass_factors(const Pass& pass, const TileBase& base,
                                               const LastSeat<Tile>& seat, const OfSlot& of_slot) {
  using Here = LastSeat<Tile>;
  LastPoints<Tile> factors;
  SFFT_UNROLL
  for (int column = 0; column < 2; ++column) {
    const unsigned place = seat.position | Here::column_offset(column), line = line_of<Tile>(place);
    const Point own = pass_root(pass, base, line, frequency_of<Tile>(point_of<Tile>(place)));
    SFFT_UNROLL
    for (int slot = 0; slot < Here::kSlots; ++slot)
      factors.at[column][slot] = slot == 0 ? own : times(own, of_slot(line, slot));
  }
  return factors;
}
template <int kSlots>
SFFT_INLINE void twiddle_pass(const LanePoints<kSlots>& factors, LanePoints<kSlots>& points) {
  SFFT_UNROLL
  for (int column = 0; column < 2; ++column) {
    SFFT_UNROLL
    for (int slot = 0; slot < kSlots; ++slot)
      points.at[column][slot] = times(points.at[column][slot], factors.at[column][slot]);
  }
}

/// The output offset of the result at a position within a tile, which is linear in its bits.
template <class Tile>
SFFT_HOST_DEVICE std::int64_t result_place(const Pass& pass, unsigned position) {
  const unsigned line = line_of<Tile>(position), frequency = frequency_of<Tile>(point_of<Tile>(position));
  if constexpr (Tile::kKind == TileKind::batch) return frequency | line << Tile::kLog;
  return line + frequency * pass.point;
}

/// Stores the results of a lane to memory.
template <class Tile, bool kWide>
SFFT_HOST_DEVICE void store_results(const Pass& pass, const TileBase& base, const LastSeat<Tile>& seat,
                                    const LastPoints<Tile>& points) {
  using Here = LastSeat<Tile>;
  constexpr bool kRows = Tile::kStoresPairsOfRows;
  constexpr int kButterfly = Here::kButterfly;
  Point* const first = pass.to + base.to + result_place<Tile>(pass, seat.of_thread);
  SFFT_UNROLL
  for (int i = 0; i < Here::kSlots; ++i) {
    const int column = kRows ? i & 1 : 0, slot = kRows ? i >> 1 : i;
    const unsigned other = Here::column_offset(column) | Here::row_offset(slot);
    store_pair<kWide>(first + result_place<Tile>(pass, seat.of_turn | other), points.at[column][slot],
                      points.at[kRows ? column : 1][kRows ? slot + kButterfly : slot],
                      has_line<Tile>(base, seat.position | other));
  }
}

}  // namespace sfft::detail::tensor
