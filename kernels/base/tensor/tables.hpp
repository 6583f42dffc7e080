// SPDX-License-Identifier: Apache-2.0
// The constants of a tile's stages, computed in double: matrices split into fp16 numbers, twiddle factors.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/base/tensor/passes.hpp"

namespace sfft::detail::tensor {

/// exp(2πi sign·exponent/2^log_order).
inline std::complex<double> exact_root(unsigned exponent, int log_order, int sign) {
  const double turns =
      static_cast<double>(exponent & ((1u << log_order) - 1)) / static_cast<double>(1u << log_order);
  return root_of_turns(sign * turns);
}

/// Which 8-point matrices the lines of 2^log points take, as the logarithm of their points. Radix 32: product
/// a has the 8-point roots w^(o·i) times the 32-point roots w^(a·o). Lines of 2^bits = 2 or 4 points: I ⊗ F,
/// the same for all lines.
constexpr int matrix_bits(int log) {
  return log < kMatrixBits ? log : kMatrixBits;
}

/// The contribution of row `in` to row `out` of product a.
inline std::complex<double> matrix_entry(int a, int out, int in, int bits, int sign) {
  if (bits == kMatrixBits) return exact_root(static_cast<unsigned>(4 * out * in + a * out), 5, sign);
  const int points = (1 << bits) - 1;
  if ((out ^ in) > points) return 0;
  return exact_root(static_cast<unsigned>((out & points) * (in & points)), bits, sign);
}

/// The real and imaginary parts of an input, for part 0 or 1 of the output: a pair of fp16 numbers in one
/// register, and the pair of remainders.
inline SplitPoint entry_registers(std::complex<double> root, int part) {
  const double parts[2] = {part == 0 ? root.real() : root.imag(), part == 0 ? -root.imag() : root.real()};
  SplitPoint both{0, 0};
  for (int i = 0; i < 2; ++i) {
    const F16 hi = to_f16(static_cast<float>(parts[i]));
    const F16 lo = to_f16(static_cast<float>(parts[i] - static_cast<double>(to_float(hi))));
    both.hi |= static_cast<unsigned>(hi.bits) << 16 * i;
    both.lo |= static_cast<unsigned>(lo.bits) << 16 * i;
  }
  return both;
}

/// LaneMatrix of every lane: for each product the high parts, then the low parts. Matrices of 2 and 4 points
/// are exact, so their low parts are zero.
inline std::vector<unsigned> matrix_table(int bits, int sign) {
  constexpr int kRegisters = 4;
  std::vector<unsigned> table(kMatrices * 2 * 32 * kRegisters);
  for (int a = 0; a < kMatrices; ++a) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < kRegisters; ++i) {
        const int g = lane >> 2, in = 2 * (lane & 3) + (i & 1), out = 2 * (g >> 1) + (i >> 1);
        const SplitPoint both = entry_registers(matrix_entry(a, out, in, bits, sign), g & 1);
        const auto at = static_cast<std::size_t>((2 * a * 32 + lane) * kRegisters + i);
        table[at] = both.hi;
        table[at + 32 * kRegisters] = both.lo;
      }
    }
  }
  return table;
}

/// Factors after the first of two stages, in lane order: for each warp tile, slot and lane those of its two
/// columns, or one if they agree. Frequency k of the stage and point i of what is left to transform are
/// multiplied by a root to the power k·i, divided by the radix.
template <class Tile>
std::vector<Point> twiddle_table(int sign) {
  std::vector<Point> table;
  if constexpr (Tile::kStages > 1) {
    constexpr int kBelow = Tile::window(0) - Tile::kPointShift, kButterfly = Tile::butterfly_bits(0);
    for (int warp_tile = 0; warp_tile < 1 << Tile::twiddle_bits(); ++warp_tile) {
      for (int slot = 0; slot < Tile::slots(0); ++slot) {
        for (int i = 0; i < Tile::kTwiddleLanes * Tile::kTwiddleColumns; ++i) {
          const int own = i / Tile::kTwiddleColumns, column = i % Tile::kTwiddleColumns,
                    lane = (own & 3) | (own >> 2) << (2 + Tile::kLineLaneBits);
          const Seat<Tile, 0> seat(lane, warp_tile << Tile::twiddle_shift());
          const unsigned point = point_of<Tile>(seat.position | seat.row_offset(slot) |
                                                seat.column_offset(column)),
                         row = point >> kBelow,
                         frequency = row >> kButterfly | (row & ((1u << kButterfly) - 1)) << kMatrixBits;
          const std::complex<double> root =
              exact_root(frequency * (point & ((1u << kBelow) - 1)), Tile::kLog, sign) /
              static_cast<double>(1 << Tile::radix_bits(0));
          table.push_back({static_cast<float>(root.real()), static_cast<float>(root.imag())});
        }
      }
    }
  }
  return table;
}

}  // namespace sfft::detail::tensor
