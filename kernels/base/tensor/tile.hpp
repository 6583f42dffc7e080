// SPDX-License-Identifier: Apache-2.0
// Where the points of a tile are: a block of threads transforms some lines of 2^kLog points at once, stage by
// stage, and everything is a power of two, so that bits of an index only change places.
//
// Stages: the first has radix 2^kFirstBits (2, 4, 8 or 16), all others 16. A stage multiplies 16 points of a
// column, its rows, by a 16×16 matrix. Where the first radix is smaller, the matrix is F ⊗ I and works on
// neighbours as well. The result takes the place of its input; at the end the digits of the frequency are in
// reverse order. Lines of 2, 4 and 8 points have one stage, whose 16 rows are several lines: the matrix is
// I ⊗ F.
//
// Results go back to shared memory, where pairs of a warp tile change places so that neighbours of the output
// are neighbours, and leave in the output's order: each warp writes whole lines of the cache where the output
// has such runs.
//
// A warp does 16 columns at once. Lane 4g + t holds rows 2t, 2t+1, 2t+8 and 2t+9 (`row_of`) of columns g and
// g + 8, as the operands of mma.m16n8k16 lie.
#pragma once

#include <utility>

#include "kernels/base/tensor/numbers.hpp"

namespace sfft::detail::tensor {

/// batch: contiguous lines in and out. columns: lines side by side in memory, in and out. rows: contiguous
/// lines in, side by side out.
enum class TileKind { batch, columns, rows };

constexpr int kRows = 16, kSlots = 4;

SFFT_HOST_DEVICE constexpr int row_of(int t, int slot) {
  return 2 * t + (slot & 1) + 8 * (slot >> 1);
}

/// Bits of the first stage's radix, for lines of 2^log points.
SFFT_HOST_DEVICE constexpr int first_bits(int log) {
  return log - 4 * ((log + 3) / 4 - 1);
}

template <int kLogPoints, int kLogLinesOfTile, TileKind kKindOfTile>
struct Tile {
  static constexpr TileKind kKind = kKindOfTile;
  static constexpr int kLog = kLogPoints, kLogLines = kLogLinesOfTile, kBits = kLog + kLogLines;
  static constexpr int kStages = (kLog + 3) / 4, kFirstBits = first_bits(kLog);
  /// The rows of a column are several lines.
  static constexpr bool kShort = kLog < 4;
  /// Matrices of 2 and 4 points are exact in fp16 and have no low parts.
  static constexpr bool kExactFirst = kFirstBits <= 2;
  static constexpr bool kColumns = kKind == TileKind::columns;
  /// Bits of a position: of the points, and of the lines.
  static constexpr int kPointShift = kColumns ? kLogLines : 0, kLineShift = kColumns ? 0 : kLog;
  static constexpr unsigned kPointMask = (1u << kLog) - 1, kLineMask = (1u << kLogLines) - 1;
  /// Tiles of 256 points; a warp does some of them, one after the other.
  static constexpr int kWarpTiles = 1 << (kBits - 8), kWarps = 8, kTurns = kWarpTiles / kWarps,
                       kThreads = 32 * kWarps;
  /// Pairs of points that a thread brings in.
  static constexpr int kUnits = (1 << (kBits - 1)) / kThreads;
  /// Lines that have a scale of their own.
  static constexpr int kScales = kColumns ? 1 : 1 << kLogLines;

  static_assert(kLog >= 1 && kBits >= 11 && kBits <= 13 && (kKind == TileKind::batch || !kShort) &&
                (!kColumns || kLogLines >= 1));

  /// Bits of the radix, and the bit of a position where the rows of a stage begin.
  static SFFT_HOST_DEVICE constexpr int radix_bits(int stage) { return stage == 0 ? kFirstBits : 4; }
  static SFFT_HOST_DEVICE constexpr int window(int stage) {
    return kPointShift + (stage > 0 ? kLog - kFirstBits - 4 * stage : kShort ? 0 : kLog - 4);
  }
  /// Loads of the rows (of a stage) or stores of neighbouring columns take two points at once. If the rows
  /// are neighbours in memory, pairs are of rows.
  static SFFT_HOST_DEVICE constexpr bool pairs_of_rows(int stage) { return window(stage) == 0; }
  /// The same for the results.
  static SFFT_HOST_DEVICE constexpr bool stores_pairs_of_rows() {
    return kKind == TileKind::batch && kStages == 1;
  }

  /// The bit of a position that is bit i of a column's number in a stage: 0: the two columns of a lane, 1–3:
  /// of g, then turn and warp. Low ones are neighbours in memory where the stage stores, the last one
  /// globally.
  static SFFT_HOST_DEVICE constexpr int column_bit(int stage, int i) {
    int bits[32] = {}, count = 0;
    const int low = window(stage);
    if (stage == kStages - 1 && !kColumns) {
      if (kKind == TileKind::rows) {
        for (int b = kLog; b < kBits; ++b) bits[count++] = b;
      }
      for (int digit = 0; digit + 1 < kStages; ++digit) {
        const int first = digit == 0 ? kLog - kFirstBits : kLog - kFirstBits - 4 * digit;
        for (int b = 0; b < radix_bits(digit); ++b) bits[count++] = first + b;
      }
      if (kKind == TileKind::batch) {
        for (int b = kShort ? 4 : kLog; b < kBits; ++b) bits[count++] = b;
      }
    } else {
      for (int b = 0; b < kBits; ++b) {
        if (b < low || b >= low + 4) bits[count++] = b;
      }
    }
    // Eight lanes access shared memory at once: those of t and of the lowest bit of g.
    const int taken = pairs_of_rows(stage) ? 1 : low + 1;
    int free = 1;
    while (free < count && !independent(taken, taken + 1, bits[free])) ++free;
    if (free < count) {
      const int chosen = bits[free];
      for (int g = free; g > 1; --g) bits[g] = bits[g - 1];
      bits[1] = chosen;
    }
    return bits[i];
  }

  /// Bit of a position that is bit i of the output's order in the tile, after the results' exchange. The
  /// output's order: lines of a batch one after the other; otherwise lines side by side.
  static SFFT_HOST_DEVICE constexpr int result_bit(int i) {
    const int line = kKind == TileKind::batch ? i - kLog : i,
              frequency = kKind == TileKind::batch ? i : i - kLogLines;
    const bool of_line = kKind == TileKind::batch ? i >= kLog : i < kLogLines;
    const int bit = of_line ? kLineShift + line : kPointShift + point_bit(frequency), other = exchanged_bit();
    return bit == 0 ? other : bit == other ? 0 : bit;
  }
  /// Bit of a point's place that is bit i of its frequency.
  static SFFT_HOST_DEVICE constexpr int point_bit(int i) {
    return i < kFirstBits ? kLog - kFirstBits + i
                          : kLog - kFirstBits - 4 * ((i - kFirstBits) / 4 + 1) + (i - kFirstBits) % 4;
  }
  /// The bit that changes places with bit 0: the lowest of the output's order, which pairs of columns have in
  /// the last stage. 0: none.
  static SFFT_HOST_DEVICE constexpr int exchanged_bit() {
    return kColumns || stores_pairs_of_rows() ? 0 : column_bit(kStages - 1, 0);
  }
  /// Bit of the output's order that is bit i of the number of a pair of results, for i >= 1: in sequence,
  /// except that eight lanes read from different banks.
  static SFFT_HOST_DEVICE constexpr int unit_bit(int i) {
    int bits[32] = {};
    for (int b = 0; b < kBits; ++b) bits[b] = b;
    int free = 3;
    while (free < kBits && !independent(result_bit(1), result_bit(2), result_bit(bits[free]))) ++free;
    if (free < kBits) {
      const int chosen = bits[free];
      for (int b = free; b > 3; --b) bits[b] = bits[b - 1];
      bits[3] = chosen;
    }
    return bits[i];
  }

  /// Logarithm of the points that are left to transform together before a stage.
  static SFFT_HOST_DEVICE constexpr int left(int stage) {
    return stage == 0 ? kLog : kLog - kFirstBits - 4 * (stage - 1);
  }
  /// Twiddle factors after a stage depend on so many bits of a warp tile's number, which is in ascending
  /// order of positions: on those above the lines' and below what is transformed already.
  static SFFT_HOST_DEVICE constexpr int twiddle_shift(int stage) {
    int count = 0;
    for (int i = 4; i < kBits - 4; ++i) {
      if (column_bit(stage, i) < kPointShift) ++count;
    }
    return count;
  }
  static SFFT_HOST_DEVICE constexpr int twiddle_bits(int stage) {
    int count = 0;
    for (int i = 4; i < kBits - 4; ++i) {
      const int bit = column_bit(stage, i);
      if (bit >= kPointShift && bit < kPointShift + left(stage)) ++count;
    }
    return count;
  }
  /// Where the factors of a stage begin.
  static SFFT_HOST_DEVICE constexpr int twiddle_offset(int stage) {
    int offset = 0;
    for (int s = 0; s < stage; ++s) offset += 256 << twiddle_bits(s);
    return offset;
  }

  /// Whether positions that differ in these bits are in eight different banks of 16 bytes.
  static SFFT_HOST_DEVICE constexpr bool independent(int a, int b, int c) {
    const int x = bank(a), y = bank(b), z = bank(c);
    return x != 0 && y != 0 && x != y && z != 0 && z != x && z != y && z != (x ^ y);
  }
  /// The bank's bits that a bit of a position flips.
  static SFFT_HOST_DEVICE constexpr int bank(int bit) {
    int power = 1;
    for (int i = 1; i < bit; ++i) power = power << 1 ^ (power >= 4 ? 11 : 0);
    return bit == 0 ? 0 : power;
  }
};

/// Where a position is in shared memory, which is swizzled. Banks are powers of a root of x³ + x + 1 over two
/// elements: bit b, from 1 on, flips those of x^(b−1), so that any three bits in sequence, and most others,
/// reach eight banks. The remainders of x³ … x⁶ are a table of 16 sums.
SFFT_HOST_DEVICE unsigned swizzled(unsigned position) {
  constexpr unsigned long long kRemainders = 0x7412036521475630ull;
  const unsigned upper = position >> 8, folded = (position >> 4 ^ upper >> 3) & 15u;
  return position ^ ((static_cast<unsigned>(kRemainders >> (4 * folded)) ^ upper) & 7u) << 1;
}

/// The tile's bits from `first` on that a number has in a stage.
template <class Tile, int kStage, int kFirst, int... i>
SFFT_HOST_DEVICE unsigned scattered(unsigned number, std::integer_sequence<int, i...>) {
  return (0u | ... |
          ((number >> i & 1u) << std::integral_constant<int, Tile::column_bit(kStage, kFirst + i)>::value));
}

/// A lane's place in a stage: the position of its first column's row 2t, and what its other points add.
template <class Tile, int kStage>
struct Seat {
  static constexpr int kWindow = Tile::window(kStage), kPairBit = Tile::column_bit(kStage, 0);

  /// Of the warp tile first + turn, where `first` is a multiple of kTurns. What depends on the turn alone is
  /// known when a kernel is compiled, and everything is linear in the bits.
  SFFT_HOST_DEVICE Seat(int own_lane, int first, int turn = 0)
      : lane(own_lane),
        warp_tile(first | turn),
        of_thread(static_cast<unsigned>(2 * (own_lane & 3)) << kWindow |
                  scattered<Tile, kStage, 1>(static_cast<unsigned>(own_lane) >> 2,
                                             std::make_integer_sequence<int, 3>()) |
                  of_tile(first)),
        of_turn(of_tile(turn)),
        position(of_thread | of_turn),
        in_shared(swizzled(of_thread) ^ swizzled(of_turn)) {}

  static SFFT_HOST_DEVICE unsigned of_tile(int tile) {
    return scattered<Tile, kStage, 4>(static_cast<unsigned>(tile),
                                      std::make_integer_sequence<int, Tile::kBits - 8>());
  }

  /// Of a slot's row above the first, and of the second column.
  static SFFT_HOST_DEVICE constexpr unsigned row_offset(int slot) {
    return static_cast<unsigned>((slot & 1) + 8 * (slot >> 1)) << kWindow;
  }
  static SFFT_HOST_DEVICE constexpr unsigned column_offset(int column) {
    return static_cast<unsigned>(column) << kPairBit;
  }

  int lane, warp_tile;
  unsigned of_thread, of_turn, position;
  unsigned in_shared;  ///< the position in shared memory
};

template <class Tile>
SFFT_HOST_DEVICE unsigned point_of(unsigned position) {
  return position >> Tile::kPointShift & Tile::kPointMask;
}
template <class Tile>
SFFT_HOST_DEVICE unsigned line_of(unsigned position) {
  return position >> Tile::kLineShift & Tile::kLineMask;
}

/// The frequency at a point's place after all stages: digits in reverse order.
template <class Tile>
SFFT_HOST_DEVICE unsigned frequency_of(unsigned point) {
  unsigned frequency = point >> (Tile::kLog - Tile::kFirstBits);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int stage = 1; stage < Tile::kStages; ++stage) {
    const int low = Tile::kLog - Tile::kFirstBits - 4 * stage;
    frequency |= (point >> low & 15u) << (Tile::kFirstBits + 4 * (stage - 1));
  }
  return frequency;
}

}  // namespace sfft::detail::tensor
