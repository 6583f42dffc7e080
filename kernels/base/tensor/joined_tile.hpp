// SPDX-License-Identifier: Apache-2.0
// Tiles of one line of 2^11 to 2^13 points, whose warps transform a part of 512 or 1024 points each, in
// registers.
//
// A butterfly in fp32 of W = 4 or 8 points that lie that far apart comes first, so that part e holds the
// frequencies W·k + e. Threads read two neighbours at once, in memory's order, and leave them in shared
// memory for the warps. Results go back to it, where threads find neighbouring frequencies in neighbouring
// parts.
#pragma once

#include "kernels/base/tensor/warp_tile.hpp"

namespace sfft::detail::tensor {

constexpr int kMaxJoinedLog = 13;

/// Four parts, as long as a warp has registers for one: blocks of few warps wait less for each other.
SFFT_HOST_DEVICE constexpr int joined_part_log_of(int log) {
  return log - 2 < kMaxWarpLog ? log - 2 : kMaxWarpLog;
}

template <int kLogPoints>
struct JoinedTile {
  static constexpr int kLog = kLogPoints, kLogPart = joined_part_log_of(kLog), kLogParts = kLog - kLogPart,
                       kParts = 1 << kLogParts;
  using Part = WarpTile<kLogPart, kLogParts, TileKind::batch>;
  static constexpr int kThreads = 32 * kParts;
  /// Few blocks fit a multiprocessor, so that memory would rest while they calculate.
  static constexpr bool kFetchesAhead = kLog > 11;
  /// Butterflies of a thread are for two neighbours; it carries as many pairs of results as it reads points.
  static constexpr int kPairs = (1 << (kLogPart - 1)) / kThreads, kResults = kPairs * kParts;
  /// Points of the tables that precede the factors after the butterflies: those of the parts.
  static constexpr int kPartTwiddles = 32 * Part::kSlots;
  static_assert(kLog > kMaxWarpLog && kLog <= kMaxJoinedLog);

  /// The first point of a thread's pair, within a part.
  static SFFT_HOST_DEVICE constexpr unsigned point_of(int thread, int pair) {
    return static_cast<unsigned>(2 * (pair * kThreads + thread));
  }
  /// Where frequency f is after all parts are transformed.
  static SFFT_HOST_DEVICE constexpr unsigned position_of(unsigned f) {
    return Part::position_of(f & (kParts - 1u), f >> kLogParts);
  }
};

/// The points of a thread: butterflies [pair][neighbour].
template <class Tile>
struct JoinedPoints {
  Point at[Tile::kPairs][2][Tile::kParts];
};

template <class Tile, bool kWide>
SFFT_HOST_DEVICE void load_joined(const Point* line, int thread, JoinedPoints<Tile>& points) {
  SFFT_UNROLL
  for (int pair = 0; pair < Tile::kPairs; ++pair) {
    SFFT_UNROLL
    for (int part = 0; part < Tile::kParts; ++part) {
      const PointPair both =
          load_pair<kWide>(line + Tile::point_of(thread, pair) + Tile::Part::position_of(part, 0));
      points.at[pair][0][part] = both.first;
      points.at[pair][1][part] = both.second;
    }
  }
}
/// The bits of a thread's largest part.
template <class Tile>
SFFT_HOST_DEVICE unsigned largest_of_joined(const JoinedPoints<Tile>& points) {
  unsigned max = 0;
  SFFT_UNROLL
  for (int pair = 0; pair < Tile::kPairs; ++pair) {
    SFFT_UNROLL
    for (int i = 0; i < 2; ++i) {
      const unsigned own = largest_bits<typename Tile::Part>(points.at[pair][i]);
      max = own > max ? own : max;
    }
  }
  return max;
}

/// Scales of a line's points and results. The butterflies divide by their radix on the way in.
struct JoinedScales {
  Scale in, out;
};
template <class Tile>
SFFT_HOST_DEVICE JoinedScales joined_scales(unsigned largest, float factor) {
  const int exponent = scale_exponent(largest) - Tile::kLogParts;
  return {scale_of(exponent, 1), scale_of(Tile::Part::kFirst - exponent, factor)};
}

template <class Tile>
SFFT_HOST_DEVICE void scale_joined(const Scale& scale, JoinedPoints<Tile>& points) {
  SFFT_UNROLL
  for (int pair = 0; pair < Tile::kPairs; ++pair) {
    scale_all(points.at[pair][0], scale);
    scale_all(points.at[pair][1], scale);
  }
}

/// A transform of 8 points, in place.
SFFT_INLINE void butterfly(float sign, Point (&p)[8]) {
  constexpr float kHalfRoot = 0.70710678f;
  const auto scaled = [](Point a) { return Point{product(a.re, kHalfRoot), product(a.im, kHalfRoot)}; };
  butterfly(sign, p[0], p[2], p[4], p[6]);
  butterfly(sign, p[1], p[3], p[5], p[7]);
  const Point even[4] = {p[0], p[2], p[4], p[6]}, odd1 = scaled(plus_i_times(p[3], sign, p[3])),
              odd3 = scaled(plus_i_times({-p[7].re, -p[7].im}, sign, p[7])), odd0 = p[1], odd2 = p[5];
  p[0] = sum(even[0], odd0);
  p[4] = difference(even[0], odd0);
  p[1] = sum(even[1], odd1);
  p[5] = difference(even[1], odd1);
  p[2] = plus_i_times(even[2], sign, odd2);
  p[6] = plus_i_times(even[2], -sign, odd2);
  p[3] = sum(even[3], odd3);
  p[7] = difference(even[3], odd3);
}

/// The butterflies of a thread and the twiddle factors that follow them.
template <class Tile>
SFFT_HOST_DEVICE void separate_parts(const Point* twiddles, int thread, float sign,
                                     JoinedPoints<Tile>& points) {
  const auto* const table = reinterpret_cast<const PointPair*>(twiddles + Tile::kPartTwiddles) + thread;
  SFFT_UNROLL
  for (int pair = 0; pair < Tile::kPairs; ++pair) {
    SFFT_UNROLL
    for (int i = 0; i < 2; ++i) {
      auto& p = points.at[pair][i];
      if constexpr (Tile::kParts == 4) butterfly(sign, p[0], p[1], p[2], p[3]);
      if constexpr (Tile::kParts == 8) butterfly(sign, p);
    }
    SFFT_UNROLL
    for (int part = 1; part < Tile::kParts; ++part) {
      const PointPair factors = table[(pair * (Tile::kParts - 1) + part - 1) * Tile::kThreads];
      points.at[pair][0][part] = times(points.at[pair][0][part], factors.first);
      points.at[pair][1][part] = times(points.at[pair][1][part], factors.second);
    }
  }
}
template <class Tile>
SFFT_HOST_DEVICE void store_joined(const JoinedPoints<Tile>& points, int thread, Point* shared) {
  using Part = typename Tile::Part;
  const unsigned own = swizzled<Part>(Tile::point_of(thread, 0));
  SFFT_UNROLL
  for (int pair = 0; pair < Tile::kPairs; ++pair) {
    SFFT_UNROLL
    for (int part = 0; part < Tile::kParts; ++part) {
      const unsigned other = swizzled<Part>(Part::position_of(part, Tile::point_of(0, pair)));
      *reinterpret_cast<PointPair*>(shared + (own ^ other)) = {points.at[pair][0][part],
                                                               points.at[pair][1][part]};
    }
  }
}

/// Results of a thread, from shared memory to memory.
template <class Tile, bool kWide>
SFFT_HOST_DEVICE void carry_joined(const Point* shared, int thread, Point* line) {
  using Part = typename Tile::Part;
  const unsigned own = swizzled<Part>(Tile::position_of(static_cast<unsigned>(2 * thread)));
  SFFT_UNROLL
  for (int i = 0; i < Tile::kResults; ++i) {
    const auto other = static_cast<unsigned>(2 * i * Tile::kThreads);
    const unsigned at = own ^ swizzled<Part>(Tile::position_of(other));
    store_pair<kWide>(line + 2 * thread + other, shared[at],
                      shared[at ^ swizzled<Part>(Tile::position_of(1))], true);
  }
}

}  // namespace sfft::detail::tensor
