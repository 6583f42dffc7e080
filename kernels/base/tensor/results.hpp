// SPDX-License-Identifier: Apache-2.0
// How results leave a tile: scaled, exchanged in shared memory so that neighbours of the output are
// neighbours, then in the output's order. Kernels and their emulation on a CPU share it.
#pragma once

#include "kernels/base/tensor/lane.hpp"

namespace sfft::detail::tensor {

/// What makes good for that and for the divisions of all stages but the last.
template <class Tile>
SFFT_HOST_DEVICE Scale exit_scale(unsigned largest, float factor) {
  return scale_of((Tile::kShort ? 0 : Tile::kLog - 4) - scale_exponent(largest), factor);
}

/// Scales the points of a lane after the last stage.
template <class Tile>
SFFT_HOST_DEVICE void scale_out(const Seat<Tile, Tile::kStages - 1>& seat, const unsigned* largest,
                                float factor, LanePoints& points) {
  SFFT_UNROLL
  for (int column = 0; column < 2; ++column) {
    if constexpr (!Tile::kShort) {
      scale_all(points.at[column], exit_scale<Tile>(largest_of(seat, largest, column, 0), factor));
    } else {
      SFFT_UNROLL
      for (int slot = 0; slot < kSlots; ++slot) {
        const unsigned own = largest_of(seat, largest, column, slot);
        const float nan = half::from_bits(0x7fffffffu);
        Point point[1] = {points.at[column][slot]};
        scale_all(point, exit_scale<Tile>(own, factor));
        points.at[column][slot] = is_spoiled(own) ? Point{nan, nan} : point[0];
      }
    }
  }
}

/// Scales the results of the last stage and multiplies them by the factors between passes. `largest`: of
/// every line.
template <class Tile>
SFFT_HOST_DEVICE void finish_lines(const Pass& pass, const TileBase& base,
                                   const Seat<Tile, Tile::kStages - 1>& seat, const unsigned* largest,
                                   LanePoints& points) {
  using Here = Seat<Tile, Tile::kStages - 1>;
  scale_out<Tile>(seat, largest, pass.factor, points);
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
}

/// The results of a lane go to shared memory, to places of the same warp tile: all its lanes must have loaded
/// their points.
template <class Tile>
SFFT_HOST_DEVICE void store_results(const Seat<Tile, Tile::kStages - 1>& seat, const LanePoints& points,
                                    Point* shared) {
  using Here = Seat<Tile, Tile::kStages - 1>;
  constexpr int kExchanged = Tile::exchanged_bit();
  SFFT_UNROLL
  for (int i = 0; i < kSlots; ++i) {
    if constexpr (Tile::stores_pairs_of_rows()) {
      const int column = i >> 1, slot = 2 * (i & 1);
      *reinterpret_cast<PointPair*>(
          shared + (seat.in_shared ^ swizzled(Here::column_offset(column) | Here::row_offset(slot)))) = {
          points.at[column][slot], points.at[column][slot + 1]};
    } else {
      const unsigned row = Here::row_offset(i),
                     place = kExchanged == 0 ? row : (row & ~1u) | (row & 1u) << kExchanged;
      *reinterpret_cast<PointPair*>(shared + (seat.in_shared ^ swizzled(place))) = {points.at[0][i],
                                                                                    points.at[1][i]};
    }
  }
}

/// The first of the two results of unit `number`: where it is in the output's order, and its position.
template <class Tile, int... i>
SFFT_HOST_DEVICE unsigned result_order(unsigned number, std::integer_sequence<int, i...>) {
  return (0u | ... | ((number >> i & 1u) << std::integral_constant<int, Tile::unit_bit(i + 1)>::value));
}
template <class Tile>
SFFT_HOST_DEVICE unsigned result_order(unsigned number) {
  return result_order<Tile>(number, std::make_integer_sequence<int, Tile::kBits - 1>());
}
template <class Tile, int... i>
SFFT_HOST_DEVICE unsigned result_position(unsigned number, std::integer_sequence<int, i...>) {
  return (
      0u | ... |
      ((number >> i & 1u) << std::integral_constant<int, Tile::result_bit(Tile::unit_bit(i + 1))>::value));
}
template <class Tile>
SFFT_HOST_DEVICE unsigned result_position(unsigned number) {
  return result_position<Tile>(number, std::make_integer_sequence<int, Tile::kBits - 1>());
}
/// Where a result is in the output of a tile.
template <class Tile>
SFFT_HOST_DEVICE std::int64_t result_place(const Pass& pass, unsigned order) {
  if constexpr (Tile::kKind == TileKind::batch) return order;
  return (order & Tile::kLineMask) + (order >> Tile::kLogLines) * pass.to_point;
}

/// A thread's unit i of the results, which come from shared memory.
template <class Tile, bool kWide>
SFFT_HOST_DEVICE void store_unit(const Pass& pass, const TileBase& base, const Point* shared, int thread,
                                 int i) {
  const auto number = static_cast<unsigned>(i * Tile::kThreads), own = static_cast<unsigned>(thread);
  const unsigned order = result_order<Tile>(own) | result_order<Tile>(number);
  if (Tile::kKind == TileKind::batch && Tile::kLogLines > 0 &&
      static_cast<int>(order >> Tile::kLog) >= base.lines)
    return;
  const PointPair both = *reinterpret_cast<const PointPair*>(
      shared + (swizzled(result_position<Tile>(own)) ^ swizzled(result_position<Tile>(number))));
  Point* const at = pass.to + base.to + result_place<Tile>(pass, result_order<Tile>(own)) +
                    result_place<Tile>(pass, result_order<Tile>(number));
  if constexpr (kWide) {
    *reinterpret_cast<PointPair*>(at) = both;
  } else {
    at[0] = both.first;
    at[1] = both.second;
  }
}

}  // namespace sfft::detail::tensor
