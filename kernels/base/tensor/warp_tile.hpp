// SPDX-License-Identifier: Apache-2.0
// Tiles in which each warp transforms whole lines in its registers: lines of 2^7 to 2^10 points, and of
// 2^6 in batches. Points pass through shared memory on the way in and out, in memory order; those of a
// batch bypass it.
//
// A line is 2^kOuter interleaved lines of A·16 points, A = 8 or 16, as n = R·(16·n1 + n2) + j with R =
// 2^kOuter. The products transform over n1, with 8-point matrices on the left and 8 columns n2 on the right.
// Results of mma.m16n8k16 lie like its right operand with rows and columns exchanged. After twiddle factors
// they are therefore the operands of the transforms over n2. An R-point butterfly in fp32 joins the
// interleaved lines.
//
// Lane 4g + t holds the points whose bits of n are, lowest first, [j][q][g][a][s][t] (a is one bit if A is
// 16, else none), and in the end the frequencies with bits [v][t][h][g][h'][j']. A line of 64 points is a
// line of 8·8, without the bits q and h'.
#pragma once

#include "kernels/base/tensor/lane.hpp"

namespace sfft::detail::tensor {

constexpr int kMinWarpLog = 7, kMaxWarpLog = 10, kMinDirectLog = 6;

template <int kLogPoints, int kLogLinesOfTile, TileKind kKindOfTile>
struct WarpTile {
  static constexpr TileKind kKind = kKindOfTile;
  static constexpr int kLog = kLogPoints, kLogLines = kLogLinesOfTile, kBits = kLog + kLogLines;
  static constexpr bool kColumns = kKind == TileKind::columns;
  /// Lines that are contiguous in memory bypass shared memory.
  static constexpr bool kDirect = kKind == TileKind::batch;
  /// Positions of the point bits and of the line bits.
  static constexpr int kPointShift = kColumns ? kLogLines : 0, kLineShift = kColumns ? 0 : kLog;
  static constexpr unsigned kPointMask = (1u << kLog) - 1, kLineMask = (1u << kLogLines) - 1;

  static constexpr int kOuter = kLog > 8 ? kLog - 8 : 0, kQBits = kLog == 6 ? 0 : 1,
                       kFirst = kLog - kOuter - 3 - kQBits, kSmallBit = kFirst - 3;
  static constexpr int kRadix = 1 << kOuter, kProducts = 1 << kSmallBit, kQs = 1 << kQBits;
  /// Neighbouring points are in one lane.
  static constexpr bool kLoadsPairs = kOuter + kQBits > 0;
  static constexpr int kSlots = 1 << (kLog - 5), kInner = kSlots >> kOuter;  ///< points of a lane
  /// Lines that a warp holds at once: two neighbouring columns where registers suffice; eight lines
  /// of 64 points.
  static constexpr int kLogTogether = kLog == 6               ? 3
                                      : kColumns && kLog <= 8 ? 1
                                                              : 0,
                       kTogether = 1 << kLogTogether;
  static constexpr int kLogWarps = kLogLines - kLogTogether < 3 ? kLogLines - kLogTogether : 3;
  static constexpr int kWarps = 1 << kLogWarps, kThreads = 32 * kWarps,
                       kTurns = 1 << (kLogLines - kLogTogether - kLogWarps);
  /// Pairs of points that a thread carries in and out.
  static constexpr int kUnits = (1 << (kBits - 1)) / kThreads;
  static_assert(kBits <= 13 && kLog >= (kDirect ? kMinDirectLog : kMinWarpLog) && kLog <= kMaxWarpLog &&
                kLogLines >= 1);

  /// The point in a slot [s][a][q][j], j the lowest bit, of a lane.
  static SFFT_HOST_DEVICE constexpr unsigned point_of_slot(int slot) {
    constexpr int kLow = kOuter + kQBits;
    const unsigned low = static_cast<unsigned>(slot) & ((1u << kLow) - 1),
                   high = static_cast<unsigned>(slot) >> kLow;
    return low | high << (kLow + 3);
  }
  static SFFT_HOST_DEVICE constexpr unsigned point_of_lane(int lane) {
    return static_cast<unsigned>(lane >> 2) << (kOuter + kQBits) | static_cast<unsigned>(lane & 3)
                                                                       << (kLog - 2);
  }
  /// The frequency in a slot [j'][h'][h][v], v the lowest bit, of a lane.
  static SFFT_HOST_DEVICE constexpr unsigned frequency_of_slot(int slot) {
    const auto bits = static_cast<unsigned>(slot);
    const unsigned v = bits & 1u, h = bits >> 1 & ((1u << kSmallBit) - 1), rest = bits >> (1 + kSmallBit);
    return v | h << 3 | rest << (kFirst + 3);
  }
  static SFFT_HOST_DEVICE constexpr unsigned frequency_of_lane(int lane) {
    return static_cast<unsigned>(lane & 3) << 1 | static_cast<unsigned>(lane >> 2) << kFirst;
  }
  static SFFT_HOST_DEVICE constexpr unsigned position_of(unsigned line, unsigned point) {
    return line << kLineShift | point << kPointShift;
  }

  /// The position bits in which eight lanes differ that access shared memory at once, 16 bytes each: those
  /// that load a line, store it, or carry results of neighbouring lines out (where parts are joined, sixteen
  /// lanes with 8 bytes each). −1: none.
  struct Groups {
    int bit[3][3];
  };
  static SFFT_HOST_DEVICE constexpr Groups groups() {
    const bool rows = kKind == TileKind::rows, joined = kDirect && kLog >= 9 && kLogLines > 1;
    return {
        {{kPointShift + kLog - 2, kPointShift + kLog - 1, kLoadsPairs ? kPointShift + kOuter + kQBits : -1},
         {kPointShift + 1, kPointShift + 2, kPointShift + kFirst},
         {rows || joined ? kLog + 1 : -1,
          rows || (joined && kLogLines > 2) ? kLog + 2
          : joined                          ? 2
                                            : -1,
          rows && kLogLines > 3 ? kLog + 3
          : rows || joined      ? 1
                                : -1}}};
  }
  /// The 16-byte banks that each position bit flips, chosen so that eight lanes reach eight banks. The lowest
  /// bits number the bank; the others follow one by one.
  struct Banks {
    unsigned of[13];
  };
  static SFFT_HOST_DEVICE constexpr Banks banks() {
    Banks found = {{0, 1, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    const Groups all = groups();
    for (int b = 4; b < kBits; ++b) {
      for (unsigned bank = 0; bank < 8; ++bank) {
        found.of[b] = bank;
        if (independent(found, all, b)) break;
      }
    }
    return found;
  }
  /// Whether the bits up to `last` are independent.
  static SFFT_HOST_DEVICE constexpr bool independent(const Banks& banks, const Groups& groups, int last) {
    for (int group = 0; group < 3; ++group) {
      for (unsigned some = 1; some < 8; ++some) {
        unsigned sum = 0;
        bool known = true;
        for (int i = 0; i < 3; ++i) {
          const int bit = groups.bit[group][i];
          if ((some >> i & 1u) == 0) continue;
          known = known && bit >= 0 && bit <= last;
          if (known) sum ^= banks.of[bit];
        }
        if (known && sum == 0) return false;
      }
    }
    return true;
  }
  static constexpr Banks kBanks = banks();
};

template <int kSlots>
struct LinePoints {
  Point at[kSlots];
};

/// The constant left operands of the products: four registers of high parts and four of low ones, for
/// products 0 and 1 (the second with 16-point twiddle factors).
struct LineMatrices {
  MatrixQuad hi[2], lo[2];
};
SFFT_INLINE LineMatrices line_matrices_of(const unsigned* table, int lane) {
  const auto* quads = reinterpret_cast<const MatrixQuad*>(table) + lane;
  return {{quads[0], quads[64]}, {quads[32], quads[96]}};
}
/// The right operand of a product, from the points s = 0 and 1 of a lane.
struct LineOperand {
  unsigned hi[2], lo[2];
};
SFFT_INLINE LineOperand line_operand_of(Point first, Point second) {
  const SplitPoint a = split(first), b = split(second);
  return {{a.hi, b.hi}, {a.lo, b.lo}};
}

/// Twiddle factors of a lane between the products, slots [q][h][v] with v the lowest bit, divided by A.
template <class Tile>
struct InnerTwiddles {
  PointPair at[Tile::kInner / 2];
};
template <class Tile>
SFFT_HOST_DEVICE InnerTwiddles<Tile> inner_twiddles_of(const Point* table, int lane) {
  InnerTwiddles<Tile> factors;
  SFFT_UNROLL
  for (int i = 0; i < Tile::kInner / 2; ++i)
    factors.at[i] = reinterpret_cast<const PointPair*>(table)[32 * i + lane];
  return factors;
}

/// Unit i of a thread within a tile in shared memory: two points that are neighbours in memory.
template <class Tile>
SFFT_HOST_DEVICE unsigned unit_position(int thread, int i) {
  return static_cast<unsigned>(2 * (i * Tile::kThreads + thread));
}

/// The points of lines that a lane holds.
template <class Tile>
SFFT_HOST_DEVICE void load_lines(const Point* shared, unsigned line, int lane,
                                 LinePoints<Tile::kSlots> (&points)[Tile::kTogether]) {
  const unsigned own = swizzled<Tile>(Tile::position_of(line, Tile::point_of_lane(lane)));
  SFFT_UNROLL
  for (int slot = 0; slot < Tile::kSlots; ++slot) {
    const Point* const at = shared + (own ^ swizzled<Tile>(Tile::position_of(0, Tile::point_of_slot(slot))));
    if constexpr (Tile::kTogether == 2) {
      const PointPair both = *reinterpret_cast<const PointPair*>(at);
      points[0].at[slot] = both.first;
      points[1].at[slot] = both.second;
    } else if constexpr (Tile::kColumns) {
      points[0].at[slot] = *at;
    } else if (slot % 2 == 0) {
      const PointPair both = *reinterpret_cast<const PointPair*>(at);
      points[0].at[slot] = both.first;
      points[0].at[slot + 1] = both.second;
    }
  }
}
template <class Tile>
SFFT_HOST_DEVICE void store_lines(const LinePoints<Tile::kSlots> (&points)[Tile::kTogether], unsigned line,
                                  int lane, Point* shared) {
  const unsigned own = swizzled<Tile>(Tile::position_of(line, Tile::frequency_of_lane(lane)));
  SFFT_UNROLL
  for (int slot = 0; slot < Tile::kSlots; ++slot) {
    Point* const at = shared + (own ^ swizzled<Tile>(Tile::position_of(0, Tile::frequency_of_slot(slot))));
    if constexpr (Tile::kTogether == 2) {
      *reinterpret_cast<PointPair*>(at) = {points[0].at[slot], points[1].at[slot]};
    } else if constexpr (Tile::kColumns) {
      *at = points[0].at[slot];
    } else if (slot % 2 == 0) {
      *reinterpret_cast<PointPair*>(at) = {points[0].at[slot], points[0].at[slot + 1]};
    }
  }
}

/// The same for a line in memory.
template <class Tile, bool kWide>
SFFT_HOST_DEVICE void load_line(const Point* line, int lane, LinePoints<Tile::kSlots>& points) {
  const Point* const first = line + Tile::point_of_lane(lane);
  SFFT_UNROLL
  for (int slot = 0; slot < Tile::kSlots; slot += 2) {
    if constexpr (Tile::kLoadsPairs) {
      const PointPair both = load_pair<kWide>(first + Tile::point_of_slot(slot));
      points.at[slot] = both.first;
      points.at[slot + 1] = both.second;
    } else {
      points.at[slot] = first[Tile::point_of_slot(slot)];
      points.at[slot + 1] = first[Tile::point_of_slot(slot + 1)];
    }
  }
}
template <class Tile, bool kWide>
SFFT_HOST_DEVICE void store_line(const LinePoints<Tile::kSlots>& points, int lane, Point* line) {
  Point* const first = line + Tile::frequency_of_lane(lane);
  SFFT_UNROLL
  for (int slot = 0; slot < Tile::kSlots; slot += 2)
    store_pair<kWide>(first + Tile::frequency_of_slot(slot), points.at[slot], points.at[slot + 1], true);
}

/// Joins the interleaved lines: slots [j][h'][h][v] become [j'][h'][h][v].
template <class Tile>
SFFT_HOST_DEVICE void join_lines(const Point* table, int lane, float sign, LinePoints<Tile::kSlots>& points) {
  constexpr int kInner = Tile::kInner;
  SFFT_UNROLL
  for (int i = 0; i < kInner; i += 2) {
    SFFT_UNROLL
    for (int j = 1; j < Tile::kRadix; ++j) {
      const PointPair factors =
          reinterpret_cast<const PointPair*>(table)[((j - 1) * kInner / 2 + i / 2) * 32 + lane];
      points.at[j * kInner + i] = times(points.at[j * kInner + i], factors.first);
      points.at[j * kInner + i + 1] = times(points.at[j * kInner + i + 1], factors.second);
    }
    SFFT_UNROLL
    for (int at = i; at < i + 2; ++at) {
      if constexpr (Tile::kRadix == 2) {
        butterfly(points.at[at], points.at[kInner + at]);
      } else if constexpr (Tile::kRadix == 4) {
        butterfly(sign, points.at[at], points.at[kInner + at], points.at[2 * kInner + at],
                  points.at[3 * kInner + at]);
      }
    }
  }
}

/// The factors between passes for line number `line` of columns: one factor of the lane times one
/// of the slot.
template <class Tile>
SFFT_HOST_DEVICE Point pass_factor_of_lane(const Pass& pass, unsigned line, int lane) {
  const unsigned mask = (1u << pass.log_order) - 1;
  return root_of(line * Tile::frequency_of_lane(lane) & mask, pass.log_order, pass.sign);
}
template <class Tile>
SFFT_HOST_DEVICE Point pass_factor_of_slot(const Pass& pass, unsigned line, int slot) {
  const unsigned mask = (1u << pass.log_order) - 1;
  return root_of(line * Tile::frequency_of_slot(slot) & mask, pass.log_order, pass.sign);
}

/// Stores unit `number`: as it lies in shared memory for a batch or columns, two lines side by side for rows.
/// Everything is linear in the bits of the number.
template <class Tile>
struct ResultUnit {
  SFFT_HOST_DEVICE ResultUnit(const Pass& pass, unsigned number) {
    if constexpr (Tile::kKind == TileKind::rows) {
      const unsigned line = 2 * (number & (Tile::kLineMask >> 1)), k = number >> (Tile::kLogLines - 1);
      position = Tile::position_of(line, k);
      place = line + k * pass.to_point;
    } else {
      position = 2 * number;
      place = Tile::kColumns ? line_of<Tile>(position) + point_of<Tile>(position) * pass.to_point : position;
    }
  }
  unsigned position;
  std::int64_t place;
};
/// Stores a thread's units from shared memory to memory.
template <class Tile, bool kWide>
SFFT_HOST_DEVICE void carry_out(const Pass& pass, const TileBase& base, const Point* shared, int thread) {
  const ResultUnit<Tile> own(pass, static_cast<unsigned>(thread));
  const unsigned own_shared = swizzled<Tile>(own.position);
  Point* const first = pass.to + base.to + own.place;
  SFFT_UNROLL
  for (int i = 0; i < Tile::kUnits; ++i) {
    const ResultUnit<Tile> other(pass, static_cast<unsigned>(i * Tile::kThreads));
    const Point* const at = shared + (own_shared ^ swizzled<Tile>(other.position));
    PointPair both;
    if constexpr (Tile::kKind == TileKind::rows) {
      const Point* const next =
          shared + (own_shared ^ swizzled<Tile>(other.position) ^ swizzled<Tile>(Tile::position_of(1, 0)));
      both = {*at, *next};
    } else {
      both = *reinterpret_cast<const PointPair*>(at);
    }
    store_pair<kWide>(first + other.place, both.first, both.second,
                      has_line<Tile>(base, own.position | other.position));
  }
}

}  // namespace sfft::detail::tensor
