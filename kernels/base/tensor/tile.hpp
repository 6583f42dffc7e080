// SPDX-License-Identifier: Apache-2.0
// Where the points of a tile are. A block of threads transforms some lines of 2^kLog points at once, stage by
// stage. All sizes are powers of two, so index calculations only permute bits.
//
// A stage has radix 8, 16 or 32: products with 8-point matrices on tensor cores, then a butterfly
// of 1, 2 or 4 points in fp32 (R below). Row ρ = R·i + a of a stage is row i of product a. Product
// a has frequencies o, which the butterfly turns into frequencies o + 8h at rows R·o + h. A
// stage's results thus replace its input. Lines of 2 and 4 points take one stage, whose 8 rows are
// several lines: the matrix is I ⊗ F.
//
// The first stage loads from memory and the last one stores to memory; between stages threads exchange points
// through shared memory. Neighbours move in pairs, 16 bytes per lane.
//
// A warp processes 16 columns at once. Lane 4g + t holds the rows R·(2t + s) + a, s = 0 and 1, of columns g
// and g + 8, as the operands of mma.m16n8k16 lie; its slot R·s + a is the offset from row 2R·t.
#pragma once

#include <utility>

#include "kernels/base/tensor/numbers.hpp"

namespace sfft::detail::tensor {

/// batch: contiguous lines in and out. columns: lines side by side in memory, in and out. rows: contiguous
/// lines in, side by side out.
enum class TileKind { batch, columns, rows };

constexpr int kMatrixBits = 3, kLaneBits = 5;
/// Bits of a warp's columns: the two columns of a lane, and g.
constexpr int kColumnBits = 4;

/// Stages of lines of 2^log points, and the bits of their radices: nearly equal, the larger first.
SFFT_HOST_DEVICE constexpr int stages_of(int log) {
  return log <= 5 ? 1 : 2;
}
SFFT_HOST_DEVICE constexpr int radix_bits_of(int log, int stage) {
  return log < kMatrixBits ? kMatrixBits : (log + stages_of(log) - 1 - stage) / stages_of(log);
}

/// kSmall: one of few tiles, whose latency matters; it has as many threads as there is work for.
template <int kLogPoints, int kLogLinesOfTile, TileKind kKindOfTile, bool kSmallTile>
struct Tile {
  static constexpr TileKind kKind = kKindOfTile;
  static constexpr bool kSmall = kSmallTile;
  static constexpr int kLog = kLogPoints, kLogLines = kLogLinesOfTile, kBits = kLog + kLogLines;
  static constexpr int kStages = stages_of(kLog), kLast = kStages - 1;
  /// The rows of a column belong to several lines. The matrix is exact in fp16 and needs no low parts.
  static constexpr bool kShort = kLog < kMatrixBits;
  static constexpr bool kColumns = kKind == TileKind::columns;
  /// Positions of the point bits and of the line bits.
  static constexpr int kPointShift = kColumns ? kLogLines : 0, kLineShift = kColumns ? 0 : kLog;
  static constexpr unsigned kPointMask = (1u << kLog) - 1, kLineMask = (1u << kLogLines) - 1;

  static SFFT_HOST_DEVICE constexpr int radix_bits(int stage) { return radix_bits_of(kLog, stage); }
  /// Bits of the fp32 butterfly.
  static SFFT_HOST_DEVICE constexpr int butterfly_bits(int stage) { return radix_bits(stage) - kMatrixBits; }
  /// Points per column of a lane.
  static SFFT_HOST_DEVICE constexpr int slots(int stage) { return 2 << butterfly_bits(stage); }
  /// The lowest bit of a position that numbers the rows of a stage.
  static SFFT_HOST_DEVICE constexpr int window(int stage) {
    int low = kPointShift + (kShort ? 0 : kLog);
    for (int s = 0; s <= stage && !kShort; ++s) low -= radix_bits(s);
    return low;
  }

  /// 16 columns are a warp tile; a warp processes its tiles one after the other.
  static SFFT_HOST_DEVICE constexpr int log_warp_tiles(int stage) {
    return kBits - kColumnBits - radix_bits(stage);
  }
  static constexpr int kLogMaxWarps = log_warp_tiles(0),
                       kLogWarps = kSmall || kLogMaxWarps < 3 ? kLogMaxWarps : 3;
  static constexpr int kWarps = 1 << kLogWarps, kThreads = kWarps << kLaneBits;
  static SFFT_HOST_DEVICE constexpr int turns(int stage) { return 1 << (log_warp_tiles(stage) - kLogWarps); }

  /// Batches take one stage, columns and rows two.
  static_assert(kLog >= 1 && kBits <= 13 && (kKind == TileKind::batch) == (kStages == 1) &&
                (!kColumns || kLogLines >= 1));

  /// Loads of a stage take two points at once: neighbouring columns, or rows if rows are neighbours.
  static SFFT_HOST_DEVICE constexpr bool pairs_of_rows(int stage) { return window(stage) == 0; }
  /// The same for results, whose rows are neighbours if s distinguishes them: slots h and R + h.
  static constexpr bool kStoresPairsOfRows = kKind == TileKind::batch;

  /// The position bit of bit i of a stage's column number. Bit 0: the two columns of a lane, 1–3: g, then
  /// turn and warp. Low bits are neighbours in memory where the stage loads and stores.
  static SFFT_HOST_DEVICE constexpr int column_bit(int stage, int i) {
    int bits[32] = {}, count = 0;
    const int low = window(stage), high = low + radix_bits(stage);
    if (stage == kLast && kKind == TileKind::rows) {
      for (int b = kLog; b < kBits; ++b) bits[count++] = b;
      for (int b = 0; b < radix_bits(0); ++b) bits[count++] = window(0) + place_bit(0, b);
    } else {
      for (int b = 0; b < kBits; ++b) {
        if (b < low || b >= high) bits[count++] = b;
      }
    }
    return bits[i];
  }
  /// The row bit of bit i of the stage's frequency.
  static SFFT_HOST_DEVICE constexpr int place_bit(int stage, int i) {
    return i < kMatrixBits ? butterfly_bits(stage) + i : i - kMatrixBits;
  }

  /// Lines with a scale of their own, and the number of first-stage warp tiles that share one; each tile has
  /// its own largest part.
  static constexpr int kLogColumnsOfLine = kColumns ? kBits - radix_bits(0) : window(0);
  static constexpr int kLogParts = kLogColumnsOfLine > kColumnBits ? kLogColumnsOfLine - kColumnBits : 0;
  static constexpr int kScales = kColumns ? 1 : 1 << kLogLines, kLargest = kScales << kLogParts;
  /// Whether lanes that differ in this bit hold points of the same line in the first stage.
  static SFFT_HOST_DEVICE constexpr bool same_line(int lane_bit) {
    return lane_bit < 2 ? !kShort || lane_bit + 1 < kLog : lane_bit - 1 < kLogColumnsOfLine;
  }

  /// The bits of a warp tile's number (ascending positions) on which the twiddle factors after the first
  /// stage depend: those above the lines' bits.
  static SFFT_HOST_DEVICE constexpr int twiddle_shift() {
    int count = 0;
    for (int i = kColumnBits; i < kBits - radix_bits(0); ++i) {
      if (column_bit(0, i) < kPointShift) ++count;
    }
    return count;
  }
  static SFFT_HOST_DEVICE constexpr int twiddle_bits() {
    int count = 0;
    for (int i = kColumnBits; i < kBits - radix_bits(0); ++i) {
      const int bit = column_bit(0, i) - kPointShift;
      if (bit >= 0 && bit < kLog) ++count;
    }
    return count;
  }
  /// Several columns share factors: this many bits of g number lines.
  static constexpr int kLineLaneBits = !kColumns                 ? 0
                                       : kLogLines > kColumnBits ? kColumnBits - 1
                                                                 : kLogLines - 1;
  static constexpr int kTwiddleLanes = 32 >> kLineLaneBits, kTwiddleColumns = kColumns ? 1 : 2;
  static SFFT_HOST_DEVICE constexpr int twiddle_lane(int lane) {
    return (lane & 3) | (lane >> (2 + kLineLaneBits) << 2);
  }

  /// The position bits in which eight lanes differ that access shared memory at once: those of t and of the
  /// lowest bit of g.
  struct LaneGroup {
    int bit[3];
  };
  static SFFT_HOST_DEVICE constexpr LaneGroup lane_group(int stage) {
    const int row = window(stage) + 1 + butterfly_bits(stage);
    return {{row, row + 1, column_bit(stage, 1)}};
  }
  /// The 16-byte banks that each position bit flips, chosen so that eight lanes reach eight banks. The lowest
  /// bits number the bank; the others follow one by one.
  struct Banks {
    unsigned of[13];
  };
  static SFFT_HOST_DEVICE constexpr Banks banks() {
    Banks found = {{0, 1, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    for (int b = 4; b < kBits; ++b) {
      for (unsigned bank = 0; bank < 8; ++bank) {
        found.of[b] = bank;
        bool good = true;
        for (int stage = 0; stage < kStages; ++stage) good = good && independent(found, lane_group(stage), b);
        if (good) break;
      }
    }
    return found;
  }
  /// Whether those bits up to `last` are independent.
  static SFFT_HOST_DEVICE constexpr bool independent(const Banks& banks, const LaneGroup& group, int last) {
    for (unsigned some = 1; some < 8; ++some) {
      unsigned sum = 0;
      bool known = true;
      for (int i = 0; i < 3; ++i) {
        if ((some >> i & 1u) == 0) continue;
        known = known && group.bit[i] <= last && group.bit[i] < kBits;
        if (known) sum ^= banks.of[group.bit[i]];
      }
      if (known && sum == 0) return false;
    }
    return true;
  }
  static constexpr Banks kBanks = banks();
};

/// The swizzled shared-memory address of a position, linear in its bits.
template <class Tile, int... b>
SFFT_HOST_DEVICE unsigned swizzled(unsigned position, std::integer_sequence<int, b...>) {
  return (
      position ^ ... ^
      ((position >> (b + 4) & 1u) * std::integral_constant<unsigned, Tile::kBanks.of[b + 4] << 1>::value));
}
template <class Tile>
SFFT_HOST_DEVICE unsigned swizzled(unsigned position) {
  return swizzled<Tile>(position, std::make_integer_sequence<int, (Tile::kBits > 4 ? Tile::kBits - 4 : 0)>());
}

/// The tile's bits from `first` on that a number has in a stage.
template <class Tile, int kStage, int kFirst, int... i>
SFFT_HOST_DEVICE unsigned scattered(unsigned number, std::integer_sequence<int, i...>) {
  return (0u | ... |
          ((number >> i & 1u) << std::integral_constant<int, Tile::column_bit(kStage, kFirst + i)>::value));
}

/// A lane's place in a stage: the position of its first column's slot 0, and the offsets of its other points.
template <class Tile, int kStage>
struct Seat {
  static constexpr int kWindow = Tile::window(kStage), kPairBit = Tile::column_bit(kStage, 0),
                       kSlots = Tile::slots(kStage), kButterfly = kSlots / 2;

  /// The seat in warp tile first + turn, where `first` is a multiple of the turns. Terms that depend on the
  /// turn alone are compile-time constants, because everything is linear in the bits.
  SFFT_HOST_DEVICE Seat(int own_lane, int first, int turn = 0)
      : lane(own_lane),
        warp_tile(first | turn),
        of_thread(static_cast<unsigned>(kSlots * (own_lane & 3)) << kWindow |
                  scattered<Tile, kStage, 1>(static_cast<unsigned>(own_lane) >> 2,
                                             std::make_integer_sequence<int, kColumnBits - 1>()) |
                  of_tile(first)),
        of_turn(of_tile(turn)),
        position(of_thread | of_turn),
        in_shared(swizzled<Tile>(of_thread) ^ swizzled<Tile>(of_turn)) {}

  static SFFT_HOST_DEVICE unsigned of_tile(int tile) {
    return scattered<Tile, kStage, kColumnBits>(
        static_cast<unsigned>(tile), std::make_integer_sequence<int, Tile::log_warp_tiles(kStage)>());
  }

  /// Offsets of a slot's row from the first, and of the second column.
  static SFFT_HOST_DEVICE constexpr unsigned row_offset(int slot) {
    return static_cast<unsigned>(slot) << kWindow;
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

/// The frequency stored at a point's position after all stages: digits in reverse order.
template <class Tile>
SFFT_HOST_DEVICE unsigned frequency_of(unsigned point) {
  if (Tile::kShort) return point;
  unsigned frequency = 0;
  int bits = 0;
  SFFT_UNROLL
  for (int stage = 0; stage < Tile::kStages; ++stage) {
    const int low = Tile::window(stage) - Tile::kPointShift, butterfly = Tile::butterfly_bits(stage);
    const unsigned row = point >> low & ((1u << Tile::radix_bits(stage)) - 1);
    frequency |= (row >> butterfly | (row & ((1u << butterfly) - 1)) << kMatrixBits) << bits;
    bits += Tile::radix_bits(stage);
  }
  return frequency;
}

}  // namespace sfft::detail::tensor
