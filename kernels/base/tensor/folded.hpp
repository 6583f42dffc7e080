// SPDX-License-Identifier: Apache-2.0
// Lines of a prime number of points as products with the matrix of their DFT. With sums
// e_j = x_j + x_(n-j) and differences o_j = x_j - x_(n-j) of pairs, 0 <= j < n/2, the outputs k and n - k
// are the sum and the difference of C_k = sum of e_j cos(2πjk/n) and ∓i S_k, S_k = sum of o_j sin(2πjk/n). So
// four products of real numbers, with matrices of half the edge, transform a line.
//
// A product multiplies 16×16 cosines or sines by a 16×8 matrix (mma.m16n8k16) whose columns are lines and
// whose entries are real or imaginary parts of e or o. A block of 8 warps transforms some groups of 8 lines
// at once. Each warp keeps the cosines or the sines of some rows in registers for all tiles. It also brings
// one line of each group to shared memory, folded and split, and stores one line from there.
#pragma once

#include "kernels/base/tensor/lane.hpp"

namespace sfft::detail::tensor {

/// The lengths for which these kernels were the fastest on an H200: primes, except one whose float kernels
/// are faster.
constexpr int kMinFolded = 47, kMaxFolded = 227, kSlowFolded = 127;
constexpr bool is_folded(std::int64_t points) {
  if (points < kMinFolded || points > kMaxFolded || points == kSlowFolded) return false;
  for (std::int64_t factor = 2; factor * factor <= points; ++factor) {
    if (points % factor == 0) return false;
  }
  return true;
}

/// Edge of the matrices in tiles of 16: rows are outputs 0 … n/2, columns are pairs 0 … n/2.
SFFT_HOST_DEVICE constexpr int folded_tiles(int points) {
  return (points / 2 + 16) / 16;
}
/// Cosines and sines are scaled by 2 to this power, so that their low parts are not subnormal.
constexpr int kFoldedExponent = 10;

/// Parameters of a kernel.
struct FoldedPass {
  const Point* from = nullptr;
  Point* to = nullptr;  ///< may be `from`
  std::int64_t lines = 0;
  int points = 0;
  float sign = -1;   ///< −1 forward, +1 inverse
  float factor = 1;  ///< multiplies the results
  const unsigned* matrices = nullptr;
};

/// kHeight: rows of matrix tiles per warp.
template <int kEdge, int kHeightOfWarp>
struct FoldedTile {
  static constexpr int kTiles = kEdge, kHeight = kHeightOfWarp;
  static constexpr int kWarps = 8, kThreads = 32 * kWarps, kColumns = 8, kTypes = 2, kParts = 2;
  /// Warps that share a group of lines: one for the cosines and one for the sines of some rows.
  static constexpr int kStrips = (kTiles + kHeight - 1) / kHeight, kRoles = kTypes * kStrips;
  static constexpr int kGroups = kWarps / kRoles, kLines = kColumns * kGroups;
  static_assert(kRoles * kGroups == kWarps);
  /// Lanes that hold a line, four pairs each, and lanes reserved for it.
  static constexpr int kHolders = 4 * kTiles, kPairs = 4;
  static constexpr int lanes_of_line() {
    int lanes = 32 / kGroups;
    while (lanes < kHolders) lanes *= 2;
    return lanes;
  }
  static constexpr int kLanes = lanes_of_line(), kTogether = 32 / kLanes, kRounds = kGroups / kTogether;
  /// Pitch of result lines, in floats: the lanes of a product store to 32 different banks.
  static constexpr int kPitch = 16 * kHeight * kStrips + 4;
  static constexpr int kPlane = kLines * kPitch;
  /// Where points of the next tile wait: in registers if tiles have several groups of lines, else partly in
  /// shared memory.
  static constexpr bool kHeld = kGroups > 1;
  static constexpr int kAhead = kHeld ? 1 : 4,
                       kAheadBytes = kHeld ? 0 : kAhead * kRounds * 2 * kPairs * kThreads * 8;
  /// Sizes in shared memory, times two: operands (16 bytes per lane for one part of a type) and results.
  static constexpr int kOperands = kTypes * kParts * kGroups * kTiles * 32,
                       kResultBytes = kTypes * kParts * kPlane * 4,
                       kSharedBytes = 2 * (16 * kOperands + kResultBytes) + kAheadBytes;
};

/// Four words of an operand: two registers of high parts, two of low ones.
struct alignas(16) FoldedOperand {
  unsigned at[4];
};

/// The line of a tile that a lane serves in a round; the lines of a warp are chosen to meet different banks.
/// `own` numbers the lanes of a line; those below kHolders have pairs.
template <class Tile>
struct FoldedSeat {
  SFFT_HOST_DEVICE FoldedSeat(int warp, int lane, int round) {
    constexpr int kBeside = Tile::kColumns / Tile::kTogether;  // warps that share a group's columns
    column = warp % kBeside + kBeside * (lane / Tile::kLanes);
    group = warp / kBeside + Tile::kTogether * round;
    own = lane % Tile::kLanes;
  }
  SFFT_HOST_DEVICE int line() const { return Tile::kColumns * group + column; }
  SFFT_HOST_DEVICE bool holds() const { return own < Tile::kHolders; }
  int group, column, own;
};

/// The pair in slot i of holder `own` of a line: what columns 4·(own/4) … of a product stand for.
template <class Tile>
SFFT_HOST_DEVICE constexpr int folded_pair(int own, int i) {
  return own + Tile::kHolders * i;
}
/// The points or outputs j and n - j of a lane's pairs. Pairs beyond n/2 repeat the last one, with zero
/// columns in the matrices. Point 0 is its own partner; its column is halved.
struct FoldedPairs {
  int first[4], second[4];
};
template <class Tile>
SFFT_HOST_DEVICE FoldedPairs folded_pairs(int points, int own) {
  FoldedPairs pairs;
  SFFT_UNROLL
  for (int i = 0; i < Tile::kPairs; ++i) {
    const int j = folded_pair<Tile>(own, i);
    pairs.first[i] = 2 * j > points ? points / 2 : j;
    pairs.second[i] = j == 0 ? 0 : points - pairs.first[i];
  }
  return pairs;
}
/// The slot of a column of a product, and the lane of its group of four.
SFFT_HOST_DEVICE constexpr int folded_slot(int column) {
  return column % 2 + 2 * (column / 8);
}
SFFT_HOST_DEVICE constexpr int folded_lane(int column) {
  return column % 8 / 2;
}
/// Where an operand lies in shared memory, in units of 16 bytes. Eight lanes that store together
/// reach all banks.
template <class Tile>
SFFT_HOST_DEVICE int operand_place(int type, int part, int group, int tile, int column, int lane) {
  return (((type * Tile::kParts + part) * Tile::kGroups + group) * Tile::kTiles + tile) * 32 +
         (column ^ (tile & 1)) * 4 + lane;
}
template <class Tile>
SFFT_HOST_DEVICE int result_plane(int type, int part) {
  return (type * Tile::kParts + part) * Tile::kPlane;
}

/// The points of a lane's pairs.
struct FoldedPoints {
  Point first[4], second[4];
};
SFFT_INLINE unsigned largest_of_pairs(const FoldedPoints& points) {
  float max = 0;
  SFFT_UNROLL
  for (int i = 0; i < 4; ++i) {
    max = larger(larger(max, points.first[i].re), points.first[i].im);
    max = larger(larger(max, points.second[i].re), points.second[i].im);
  }
  return half::bits_of(max);
}
/// first·scale ± second·scale; rounded once, because scales are powers of two.
SFFT_INLINE Point scaled_sum(Point first, float scale, Point scaled_second) {
  return {fused(first.re, scale, scaled_second.re), fused(first.im, scale, scaled_second.im)};
}
/// Writes sums and differences of scaled pairs to shared memory as operands.
template <class Tile>
SFFT_HOST_DEVICE void fold(FoldedPoints points, unsigned largest, const FoldedSeat<Tile>& seat,
                           FoldedOperand* operands) {
  const Scale scale = entry_scale(largest);
  if (scale.second != 1) {
    scale_all(points.first, scale.second);
    scale_all(points.second, scale.second);
  }
  scale_all(points.second, scale.first);
  SFFT_UNROLL
  for (int type = 0; type < Tile::kTypes; ++type) {
    Point folded[4];
    SFFT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const Point second = points.second[i];
      folded[i] =
          scaled_sum(points.first[i], scale.first, type == 0 ? second : Point{-second.re, -second.im});
    }
    SFFT_UNROLL
    for (int part = 0; part < Tile::kParts; ++part) {
      SplitPoint words[2];
      SFFT_UNROLL
      for (int i = 0; i < 2; ++i) {
        words[i] = part == 0 ? split({folded[2 * i].re, folded[2 * i + 1].re})
                             : split({folded[2 * i].im, folded[2 * i + 1].im});
      }
      if (seat.holds()) {
        operands[operand_place<Tile>(type, part, seat.group, seat.own / 4, seat.column, seat.own % 4)] = {
            {words[0].hi, words[1].hi, words[0].lo, words[1].lo}};
      }
    }
  }
}

/// Stores the results of a line from shared memory to memory: outputs k and n - k of a lane's pairs.
template <class Tile>
SFFT_HOST_DEVICE void unfold(const FoldedPass& pass, unsigned largest, const FoldedSeat<Tile>& seat,
                             const FoldedPairs& pairs, const float* results, Point* line) {
  const Scale scale = scale_of(-kFoldedExponent - scale_exponent(largest), pass.factor);
  const float turned = product(pass.sign, scale.first);
  const float* const own = results + seat.line() * Tile::kPitch;
  SFFT_UNROLL
  for (int i = 0; i < Tile::kPairs; ++i) {
    const int k = pairs.first[i];
    const Point cosines{product(own[result_plane<Tile>(0, 0) + k], scale.first),
                        product(own[result_plane<Tile>(0, 1) + k], scale.first)},
        sines{own[result_plane<Tile>(1, 0) + k], own[result_plane<Tile>(1, 1) + k]};
    Point both[2] = {plus_i_times(cosines, turned, sines), plus_i_times(cosines, -turned, sines)};
    if (scale.second != 1) scale_all(both, scale.second);
    line[k] = both[0];
    line[pairs.second[i]] = both[1];
  }
}

/// Calls use() with the tile type for lines of this length.
template <class Use>
void with_folded_tile(int points, const Use& use) {
  switch (folded_tiles(points)) {
    case 2:
      return use(FoldedTile<2, 2>{});
    case 3:
      return use(FoldedTile<3, 3>{});
    case 4:
      return use(FoldedTile<4, 4>{});
    case 5:
      return use(FoldedTile<5, 3>{});
    case 6:
      return use(FoldedTile<6, 3>{});
    case 7:
      return use(FoldedTile<7, 2>{});
    default:
      return use(FoldedTile<8, 2>{});
  }
}

}  // namespace sfft::detail::tensor
