// SPDX-License-Identifier: Apache-2.0
// The constants of a tile's stages, computed in double: matrices split into fp16 numbers, twiddle factors.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "kernels/base/tensor/lane.hpp"
#include "kernels/base/turns.hpp"

namespace sfft::detail::tensor {

/// exp(2πi sign·exponent/2^log_order).
inline std::complex<double> exact_root(unsigned exponent, int log_order, int sign) {
  const double turns =
      static_cast<double>(exponent & ((1u << log_order) - 1)) / static_cast<double>(1u << log_order);
  return root_of_turns(sign * turns);
}

/// Which matrices of 8 points a tile's stages have: those of radix 32, product a of which has w^(o·i) of 8
/// points times w^(a·o) of 32; or for lines of 2^bits = 2 or 4 points I ⊗ F, the same for all lines.
struct MatrixKind {
  int bits;
  friend bool operator<(const MatrixKind& a, const MatrixKind& b) { return a.bits < b.bits; }
};
inline MatrixKind matrix_kind(int log) {
  return {log < kMatrixBits ? log : kMatrixBits};
}

/// What row `in` contributes to row `out` of product a.
inline std::complex<double> matrix_entry(int a, int out, int in, const MatrixKind& kind, int sign) {
  if (kind.bits == kMatrixBits) return exact_root(static_cast<unsigned>(4 * out * in + a * out), 5, sign);
  const int points = (1 << kind.bits) - 1;
  if ((out ^ in) > points) return 0;
  return exact_root(static_cast<unsigned>((out & points) * (in & points)), kind.bits, sign);
}

/// LaneMatrix of every lane, for each product the high parts and the low parts. Those of 2 and 4 points are
/// exact, and their low parts zero.
inline std::vector<unsigned> matrix_table(const MatrixKind& kind, int sign) {
  constexpr int kRegisters = 4;
  std::vector<unsigned> table(kMatrices * 2 * 32 * kRegisters);
  for (int a = 0; a < kMatrices; ++a) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < kRegisters; ++i) {
        const int g = lane >> 2, in = 2 * (lane & 3) + (i & 1), out = 2 * (g >> 1) + (i >> 1);
        const std::complex<double> root = matrix_entry(a, out, in, kind, sign);
        // The real and the imaginary part of the input, for that part of the output which is g & 1.
        const double parts[2] = {(g & 1) == 0 ? root.real() : root.imag(),
                                 (g & 1) == 0 ? -root.imag() : root.real()};
        const auto at = static_cast<std::size_t>((2 * a * 32 + lane) * kRegisters + i);
        for (int part = 0; part < 2; ++part) {
          const F16 hi = to_f16(static_cast<float>(parts[part]));
          const F16 lo = to_f16(static_cast<float>(parts[part] - static_cast<double>(to_float(hi))));
          table[at] |= static_cast<unsigned>(hi.bits) << 16 * part;
          table[at + 32 * kRegisters] |= static_cast<unsigned>(lo.bits) << 16 * part;
        }
      }
    }
  }
  return table;
}

template <class Tile, int kStage>
void add_twiddles(int sign, std::vector<Point>& table) {
  constexpr int kLeft = Tile::left(kStage), kBits = Tile::radix_bits(kStage), kBelow = kLeft - kBits,
                kButterfly = Tile::butterfly_bits(kStage);
  for (int warp_tile = 0; warp_tile < 1 << Tile::twiddle_bits(kStage); ++warp_tile) {
    for (int slot = 0; slot < Tile::slots(kStage); ++slot) {
      for (int i = 0; i < Tile::kTwiddleLanes * Tile::kTwiddleColumns; ++i) {
        const int own = i / Tile::kTwiddleColumns, column = i % Tile::kTwiddleColumns,
                  lane = (own & 3) | (own >> 2) << (2 + Tile::kLineLaneBits);
        const Seat<Tile, kStage> seat(lane, warp_tile << Tile::twiddle_shift(kStage));
        const unsigned place = seat.position | seat.row_offset(slot) | seat.column_offset(column),
                       point = point_of<Tile>(place) & ((1u << kLeft) - 1), row = point >> kBelow,
                       frequency = row >> kButterfly | (row & ((1u << kButterfly) - 1)) << kMatrixBits;
        const std::complex<double> root =
            exact_root(frequency * (point & ((1u << kBelow) - 1)), kLeft, sign) /
            static_cast<double>(1 << kBits);
        table.push_back({static_cast<float>(root.real()), static_cast<float>(root.imag())});
      }
    }
  }
  if constexpr (kStage + 2 < Tile::kStages) add_twiddles<Tile, kStage + 1>(sign, table);
}

/// Factors that follow the stages of a tile, but for the last, as lanes need them: for each warp tile, slot
/// and lane those of its two columns, or of one if it is the same for both. Frequency k of a stage and point
/// i of what is left to transform are multiplied by a root to the power k·i, over the radix.
template <class Tile>
std::vector<Point> twiddle_table(int sign) {
  std::vector<Point> table;
  if constexpr (Tile::kStages > 1) add_twiddles<Tile, 0>(sign, table);
  return table;
}

}  // namespace sfft::detail::tensor
