// SPDX-License-Identifier: Apache-2.0
// The constants of a tile's stages, computed in double: matrices split into fp16 numbers, twiddle factors.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "kernels/base/tensor/tile.hpp"
#include "kernels/base/turns.hpp"

namespace sfft::detail::tensor {

/// exp(2πi sign·exponent/2^log_order).
inline std::complex<double> exact_root(unsigned exponent, int log_order, int sign) {
  const double turns =
      static_cast<double>(exponent & ((1u << log_order) - 1)) / static_cast<double>(1u << log_order);
  return root_of_turns(sign * turns);
}

/// A 16×16 matrix that transforms rows: F of 2^bits points on the upper bits of their numbers (F ⊗ I), or on
/// the lower ones (I ⊗ F), the same for all other bits.
struct MatrixKind {
  int bits;
  bool lower = false;
  friend bool operator<(const MatrixKind& a, const MatrixKind& b) {
    return a.bits != b.bits ? a.bits < b.bits : a.lower < b.lower;
  }
};
/// Of the first stage of lines of 2^log points.
inline MatrixKind first_matrix(int log) {
  return {first_bits(log), log < 4};
}
constexpr MatrixKind kMatrix16{4};

/// What row `in` contributes to row `out`.
inline std::complex<double> matrix_entry(int out, int in, const MatrixKind& kind, int sign) {
  const int shift = kind.lower ? 0 : 4 - kind.bits, points = (1 << kind.bits) - 1;
  if (((out ^ in) & ~(points << shift)) != 0) return 0;
  return exact_root(static_cast<unsigned>((out >> shift & points) * (in >> shift & points)), kind.bits, sign);
}

/// LaneMatrix of every lane: high parts, then low parts. Those of 2 and 4 points are exact, and their low
/// parts zero.
inline std::vector<unsigned> matrix_table(const MatrixKind& kind, int sign) {
  std::vector<unsigned> table(2 * 512);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 16; ++i) {
      const int half = i >> 3, tile = i >> 1 & 3, upper = i & 1, g = lane >> 2;
      const int in = row_of(lane & 3, 2 * half + upper), out = row_of(g >> 1, tile);
      const std::complex<double> root = matrix_entry(out, in, kind, sign);
      // The real and the imaginary part of the input, for that part of the output which is g & 1.
      const double parts[2] = {(g & 1) == 0 ? root.real() : root.imag(),
                               (g & 1) == 0 ? -root.imag() : root.real()};
      const auto at = static_cast<std::size_t>(128 * (i >> 2) + 4 * lane + (i & 3));
      for (int part = 0; part < 2; ++part) {
        const F16 hi = to_f16(static_cast<float>(parts[part]));
        const F16 lo = to_f16(static_cast<float>(parts[part] - static_cast<double>(to_float(hi))));
        table[at] |= static_cast<unsigned>(hi.bits) << 16 * part;
        table[512 + at] |= static_cast<unsigned>(lo.bits) << 16 * part;
      }
    }
  }
  return table;
}

template <class Tile, int kStage>
void add_twiddles(int sign, std::vector<Point>& table) {
  constexpr int kLeft = Tile::left(kStage), kBits = Tile::radix_bits(kStage), kBelow = kLeft - kBits;
  for (int warp_tile = 0; warp_tile < 1 << Tile::twiddle_bits(kStage); ++warp_tile) {
    for (int i = 0; i < kSlots * 64; ++i) {
      const Seat<Tile, kStage> seat(i >> 1 & 31, warp_tile << Tile::twiddle_shift(kStage));
      const unsigned place = seat.position | seat.row_offset(i >> 6) | seat.column_offset(i & 1),
                     point = point_of<Tile>(place) & ((1u << kLeft) - 1);
      const std::complex<double> root =
          exact_root((point >> kBelow) * (point & ((1u << kBelow) - 1)), kLeft, sign) /
          static_cast<double>(1 << kBits);
      table.push_back({static_cast<float>(root.real()), static_cast<float>(root.imag())});
    }
  }
  if constexpr (kStage + 2 < Tile::kStages) add_twiddles<Tile, kStage + 1>(sign, table);
}

/// Factors that follow the stages of a tile, but for the last, as lanes need them: for each warp tile, slot
/// and lane those of its two columns. Frequency k of a stage and point i of what is left to transform are
/// multiplied by a root to the power k·i, over the radix.
template <class Tile>
std::vector<Point> twiddle_table(int sign) {
  std::vector<Point> table;
  if constexpr (Tile::kStages > 1) add_twiddles<Tile, 0>(sign, table);
  return table;
}

}  // namespace sfft::detail::tensor
