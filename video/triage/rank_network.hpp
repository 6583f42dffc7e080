// SPDX-License-Identifier: Apache-2.0
// Selects the value of a given rank among many, for several points of pictures at once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sfft::video {

/// A selection network: compare-exchanges in a fixed order (Batcher's merge exchange: Knuth, The Art of
/// Computer Programming, volume 3, algorithm 5.2.2M), without those that cannot affect the wanted rank. It
/// processes one point per lane, without branches.
class RankNetwork {
 public:
  static constexpr std::size_t kLanes = 16;  ///< points that are processed at once

  RankNetwork(std::size_t count, std::size_t rank);

  /// `values`: `count` rows of kLanes numbers, with a point per column. They are reordered. Returns the row
  /// of the wanted rank within them; rank 0 is the smallest.
  std::span<const float, kLanes> select(std::span<float> values) const;

  /// Two rows to compare; the smaller values go to `low`.
  struct Exchange {
    std::size_t low, high;
  };

 private:
  std::size_t rank_;
  std::vector<Exchange> exchanges_;
};

}  // namespace sfft::video
