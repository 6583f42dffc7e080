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

/// The 8-point matrices of a tile's stage. Radix 32: product a has the 8-point roots w^(o·i) times the
/// 32-point roots w^(a·o). Lines of 2^bits = 2 or 4 points: I ⊗ F, the same for all lines. `left`: as left
/// operands, for lines that a warp transforms.
struct MatrixKind {
  int bits;
  bool left = false;
  friend bool operator<(const MatrixKind& a, const MatrixKind& b) {
    return a.left != b.left ? b.left : a.bits < b.bits;
  }
};
inline MatrixKind matrix_kind(const TileChoice& tile) {
  return {tile.log < kMatrixBits ? tile.log : kMatrixBits, tile.of_warps()};
}

/// The contribution of row `in` to row `out` of product a.
inline std::complex<double> matrix_entry(int a, int out, int in, const MatrixKind& kind, int sign) {
  if (kind.bits == kMatrixBits) return exact_root(static_cast<unsigned>(4 * out * in + a * out), 5, sign);
  const int points = (1 << kind.bits) - 1;
  if ((out ^ in) > points) return 0;
  return exact_root(static_cast<unsigned>((out & points) * (in & points)), kind.bits, sign);
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

/// LineMatrices of every lane: the 8-point matrix, that of the odd points of 16; high, then low parts.
inline std::vector<unsigned> line_matrix_table(int sign) {
  std::vector<unsigned> table(4 * 128);
  for (int product = 0; product < 2; ++product) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const int in = 2 * (lane & 3) + (i >> 1), out = lane >> 2;
        const SplitPoint both =
            entry_registers(matrix_entry(2 * product, out, in, {kMatrixBits}, sign), i & 1);
        const auto at = static_cast<std::size_t>((2 * product * 32 + lane) * 4 + i);
        table[at] = both.hi;
        table[at + 128] = both.lo;
      }
    }
  }
  return table;
}

/// LaneMatrix of every lane: for each product the high parts, then the low parts. Matrices of 2 and 4 points
/// are exact, so their low parts are zero.
inline std::vector<unsigned> matrix_table(const MatrixKind& kind, int sign) {
  if (kind.left) return line_matrix_table(sign);
  constexpr int kRegisters = 4;
  std::vector<unsigned> table(kMatrices * 2 * 32 * kRegisters);
  for (int a = 0; a < kMatrices; ++a) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < kRegisters; ++i) {
        const int g = lane >> 2, in = 2 * (lane & 3) + (i & 1), out = 2 * (g >> 1) + (i >> 1);
        const SplitPoint both = entry_registers(matrix_entry(a, out, in, kind, sign), g & 1);
        const auto at = static_cast<std::size_t>((2 * a * 32 + lane) * kRegisters + i);
        table[at] = both.hi;
        table[at + 32 * kRegisters] = both.lo;
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
                       point = place >> Tile::dimension_shift(kStage) & ((1u << kLeft) - 1),
                       row = point >> kBelow,
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

/// Factors after every stage of a tile but the last, in lane order: for each warp tile, slot and lane those
/// of its two columns, or one if they agree. Frequency k of a stage and point i of what is left to transform
/// are multiplied by a root to the power k·i, divided by the radix.
template <int kLog, int kLogLines, TileKind kKind, bool kSmall, int kLogRow>
std::vector<Point> twiddle_table(Tile<kLog, kLogLines, kKind, kSmall, kLogRow> tile, int sign) {
  std::vector<Point> table;
  if constexpr (tile.kStages > 1) add_twiddles<decltype(tile), 0>(sign, table);
  return table;
}

/// Factors between the products of a line, then those that join interleaved lines, in lane order.
template <int kLog, int kLogLines, TileKind kKind>
std::vector<Point> twiddle_table(WarpTile<kLog, kLogLines, kKind>, int sign) {
  using Lines = WarpTile<kLog, kLogLines, kKind>;
  std::vector<Point> table;
  const auto add = [&](unsigned exponent, int log_order, double over) {
    const std::complex<double> root = exact_root(exponent, log_order, sign) / over;
    table.push_back({static_cast<float>(root.real()), static_cast<float>(root.imag())});
  };
  constexpr int kWhole = kLog - Lines::kOuter;
  for (int i = 0; i < Lines::kInner / 2; ++i) {
    for (int at = 0; at < 64; ++at) {
      const int lane = at >> 1, h = i & (Lines::kProducts - 1), q = i >> Lines::kSmallBit;
      const int k1 = (lane >> 2) + 8 * h, n2 = (2 * (lane & 3) + (at & 1)) * Lines::kQs + q;
      add(static_cast<unsigned>(k1 * n2), kWhole, 1 << Lines::kFirst);
    }
  }
  for (int j = 1; j < Lines::kRadix; ++j) {
    for (int i = 0; i < Lines::kInner / 2; ++i) {
      for (int at = 0; at < 64; ++at) {
        const unsigned k = Lines::frequency_of_lane(at >> 1) | Lines::frequency_of_slot(2 * i + (at & 1));
        add(static_cast<unsigned>(j) * k, kLog, 1);
      }
    }
  }
  return table;
}

/// Factors of the parts of a line, then those after the butterflies that separate them, as threads need them.
template <int kLog>
std::vector<Point> twiddle_table(JoinedTile<kLog> tile, int sign) {
  std::vector<Point> table = twiddle_table(typename JoinedTile<kLog>::Part{}, sign);
  for (int pair = 0; pair < tile.kPairs; ++pair) {
    for (unsigned part = 1; part < tile.kParts; ++part) {
      for (int at = 0; at < 2 * tile.kThreads; ++at) {
        const std::complex<double> root = exact_root(part * (tile.point_of(0, pair) + at), kLog, sign);
        table.push_back({static_cast<float>(root.real()), static_cast<float>(root.imag())});
      }
    }
  }
  return table;
}

}  // namespace sfft::detail::tensor
