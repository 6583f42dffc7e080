// SPDX-License-Identifier: Apache-2.0
// Where the points of a tile are: a block of threads transforms some lines of 2^kLog points at once, stage by
// stage, and everything is a power of two, so that bits of an index only change places.
//
// Stages: the first has radix 2^kFirstBits (2, 4, 8 or 16), all others 16. A stage multiplies 16 points of a
// column, its rows, by a 16×16 matrix. Where the first radix is smaller, the matrix is F ⊗ I and works on
// neighbours as well. The result takes the place of its input; at the end the digits of the frequency are in
// reverse order.
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

  static_assert(kLog >= 4 && kBits >= 11 && (!kColumns || kLogLines >= 1));

  /// Bits of the radix, and the bit of a position where the rows of a stage begin.
  static SFFT_HOST_DEVICE constexpr int radix_bits(int stage) { return stage == 0 ? kFirstBits : 4; }
  static SFFT_HOST_DEVICE constexpr int window(int stage) {
    return kPointShift + (stage == 0 ? kLog - 4 : kLog - kFirstBits - 4 * stage);
  }
  /// Loads of the rows (of a stage) or stores of neighbouring columns take two points at once. If the rows
  /// are neighbours in memory, pairs are of rows.
  static SFFT_HOST_DEVICE constexpr bool pairs_of_rows(int stage) { return window(stage) == 0; }
  /// The same for the last stores.
  static SFFT_HOST_DEVICE constexpr bool stores_pairs_of_rows() {
    return kKind == TileKind::batch && kLog == 4;
  }

  /// The bit of a position that is bit i of a column's number in a stage: 0: the two columns of a lane, 1–3:
  /// of g, then turn and warp. Low ones are neighbours in memory where the stage stores, the last one
  /// globally.
  static SFFT_HOST_DEVICE constexpr int column_bit(int stage, int i) {
    int bits[32] = {}, count = 0;
    const int low = window(stage);
    if (stage == kStages - 1 && !kColumns) {
      if (kKind == TileKind::rows) {
        for (int b = 0; b < kLogLines; ++b) bits[count++] = kLog + b;
      }
      for (int digit = 0; digit + 1 < kStages; ++digit) {
        const int first = digit == 0 ? kLog - kFirstBits : kLog - kFirstBits - 4 * digit;
        for (int b = 0; b < radix_bits(digit); ++b) bits[count++] = first + b;
      }
      if (kKind == TileKind::batch) {
        for (int b = 0; b < kLogLines; ++b) bits[count++] = kLog + b;
      }
    } else {
      for (int b = 0; b < kBits; ++b) {
        if (b < low || b >= low + 4) bits[count++] = b;
      }
    }
    // Eight lanes access shared memory at once: their banks differ if those of t and the lowest bit of g do.
    const int taken = pairs_of_rows(stage) ? 1 | 2 : bank(low + 1) | bank(low + 2);
    int free = 1;
    while (free < count && (bank(bits[free]) & taken) != 0) ++free;
    if (free < count) {
      const int chosen = bits[free];
      for (int g = free; g > 1; --g) bits[g] = bits[g - 1];
      bits[1] = chosen;
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

  /// Shared memory is swizzled: bits from 4 on flip one of the bits 1 … 3, in turn.
  static SFFT_HOST_DEVICE constexpr int bank(int bit) {
    return bit == 0 ? 0 : bit < 4 ? 1 << (bit - 1) : 1 << ((bit - 4) % 3);
  }
};

SFFT_HOST_DEVICE unsigned swizzled(unsigned position) {
  const unsigned upper = position >> 4;
  return position ^ ((upper ^ upper >> 3 ^ upper >> 6 ^ upper >> 9) & 7u) << 1;
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
