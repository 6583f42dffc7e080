// SPDX-License-Identifier: Apache-2.0
// The value of a given rank among many, for all points of pictures at once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sfft::video {

/// Selects by compare-exchanges in a fixed order (Batcher's merge exchange: Knuth, The Art of Computer
/// Programming, volume 3, algorithm 5.2.2M), of which those that cannot reach the wanted rank are left out.
/// Several points go through it side by side, without branches.
class RankNetwork {
 public:
  static constexpr std::size_t kLanes = 16;  ///< points side by side

  RankNetwork(std::size_t count, std::size_t rank);

  /// `values`: `count` times kLanes numbers, those of a point kLanes apart. They are moved about. Returns the
  /// row of the wanted rank, where 0 is the smallest.
  std::span<const float, kLanes> select(std::span<float> values) const;

  /// Two rows, of which the smaller values go to the first.
  struct Exchange {
    std::size_t low, high;
  };

 private:
  std::size_t rank_;
  std::vector<Exchange> exchanges_;
};

}  // namespace sfft::video
