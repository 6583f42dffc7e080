// SPDX-License-Identifier: Apache-2.0
// Where a round of combs samples: the number of buckets along each dimension, and the delays.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "template/discovery/grid_point.hpp"
#include "template/discovery/random.hpp"
#include "template/discovery/sampler.hpp"

namespace sfft::detail {

/// B_d buckets and strides L_d = n_d/B_d.
struct CombGrid {
  GridPoint buckets{1, 1, 1};
  GridPoint strides{1, 1, 1};
  std::int64_t count = 1;  ///< ∏ B_d
};

/// The combs that a shape allows: B_d | n_d with factors 2, 3, 5, 7 only.
class CombGrids {
 public:
  explicit CombGrids(const Shape& shape);

  /// A grid of about `target` buckets, between a quarter and five times as many. It differs as much as
  /// possible from `previous` (which may be null), so that frequencies which share a bucket in one separate
  /// in the other. Nothing if the shape has no such divisors, or they would read too much of the frame.
  std::optional<CombGrid> near(std::int64_t target, const CombGrid* previous, DiscoveryRandom& random) const;

 private:
  const Shape shape_;
  std::array<std::vector<std::int64_t>, 3> divisors_;
};

/// Layout of a round's delays. The phases between them reveal a frequency that is alone in its bucket.
struct DelayPattern {
  enum class Kind {
    run,     ///< 1D: equally spaced, which also separates a few frequencies of one bucket
    ladder,  ///< a base and, along each dimension, increasing steps from it
    random,
  };
  struct Rung {
    int delay;
    std::int64_t step;
  };
  Kind kind = Kind::random;
  std::vector<GridPoint> delays;
  std::int64_t step = 1;     ///< the step of a run
  std::int64_t inverse = 1;  ///< step · inverse = 1 modulo the stride
  std::array<std::vector<Rung>, 3> rungs;
};

constexpr std::int64_t kRunDelays = 8;

/// Equally spaced delays (fewer than `max` under small strides): adjacent, on one cache line of most signals,
/// or `spread` over the stride with a random step. 1D only; needs a stride of at least 4.
DelayPattern run_of_delays(const CombGrid& grid, bool spread, DiscoveryRandom& random,
                           std::int64_t max = kRunDelays);

/// `count` delays for locating frequencies under noise: each rung multiplies the resolution of the previous
/// one. Steps stay inside `extents`: the strides of a comb, or the whole frame for windowed lines.
DelayPattern ladder_of_delays(const GridPoint& extents, int rank, int count, DiscoveryRandom& random);

DelayPattern random_delays(const GridPoint& extents, int rank, int count, DiscoveryRandom& random);

}  // namespace sfft::detail
