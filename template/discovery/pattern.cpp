// SPDX-License-Identifier: Apache-2.0
// Scores every grid of smooth divisors by its size, its shape and the divisors that it shares with the
// previous grid. Draws delays as equally spaced runs, as ladders or at random.
#include "template/discovery/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/base/math/index.hpp"

namespace sfft::detail {

namespace {

std::int64_t below(DiscoveryRandom& random, std::int64_t limit) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(std::max<std::int64_t>(1, limit)));
}

std::vector<std::int64_t> smooth_divisors_of(std::int64_t n) {
  std::vector<std::int64_t> divisors;
  divisors.reserve(64);
  divisors.push_back(1);
  for (const std::int64_t prime : {2, 3, 5, 7}) {
    const std::size_t before = divisors.size();
    for (std::int64_t power = prime; n % prime == 0; n /= prime, power *= prime) {
      for (std::size_t i = 0; i < before; ++i) divisors.push_back(divisors[i] * power);
    }
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

/// step^-1 modulo n for coprime step (extended Euclid).
std::int64_t inverse_mod(std::int64_t step, std::int64_t n) {
  std::int64_t r0 = n, r1 = floor_mod(step, n), t0 = 0, t1 = 1;
  while (r1 != 0) {
    const std::int64_t q = r0 / r1;
    r0 = std::exchange(r1, r0 - q * r1);
    t0 = std::exchange(t1, t0 - q * t1);
  }
  return floor_mod(t0, n);
}

}  // namespace

CombGrids::CombGrids(const Shape& shape) : shape_(shape) {
  for (int d = 0; d < 3; ++d)
    divisors_[static_cast<std::size_t>(d)] =
        d < shape.rank() ? smooth_divisors_of(shape[d]) : std::vector<std::int64_t>{1};
}

std::optional<CombGrid> CombGrids::near(std::int64_t target, const CombGrid* previous,
                                        DiscoveryRandom& random) const {
  const std::int64_t max = shape_.points() / kRunDelays;
  GridPoint best{0, 0, 0};
  double best_score = std::numeric_limits<double>::infinity();
  for (const std::int64_t b0 : divisors_[0]) {
    for (const std::int64_t b1 : divisors_[1]) {
      for (const std::int64_t b2 : divisors_[2]) {
        const std::int64_t count = b0 * b1 * b2;
        if (count > max || count > 5 * target) break;
        if (4 * count < target) continue;
        const auto ratio = static_cast<double>(count) / static_cast<double>(target);
        // Buckets cost time; too few of them cost rounds. The score also penalises divisors in common with
        // the previous grid, and a small shortest side.
        double score = ratio >= 1 ? std::log2(ratio) : 2 + 4 * std::log2(1 / ratio);
        const GridPoint b{b0, b1, b2};
        double thinnest = 1;
        for (int axis = 0; axis < shape_.rank(); ++axis) {
          const auto d = static_cast<std::size_t>(axis);
          if (previous != nullptr)
            score += 0.3 * std::log2(static_cast<double>(std::gcd(b[d], previous->buckets[d])));
          if (shape_[axis] > 1 && b[d] < 31)
            thinnest = std::min(thinnest, std::log2(static_cast<double>(b[d]) + 1) / 5);
        }
        score += 2 * (1 - thinnest);
        // After the first round, chance weighs more, because a grid of any shape may separate what the others
        // do not.
        score += (previous != nullptr && shape_.rank() > 1 ? 0.03 : 0.01) *
                 static_cast<double>(below(random, 100));
        if (score < best_score) {
          best_score = score;
          best = b;
        }
      }
    }
  }
  if (best[0] == 0 || best[0] * best[1] * best[2] < 2) return std::nullopt;
  CombGrid grid;
  grid.buckets = best;
  for (int d = 0; d < shape_.rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    grid.strides[at] = shape_[d] / best[at];
    grid.count *= best[at];
  }
  return grid;
}

DelayPattern run_of_delays(const CombGrid& grid, bool spread, DiscoveryRandom& random, std::int64_t max) {
  DelayPattern pattern;
  pattern.kind = DelayPattern::Kind::run;
  const std::int64_t stride = grid.strides[0];
  const std::int64_t count = std::min(max, stride);
  const std::int64_t longest = (stride - 1) / (count - 1);
  if (spread && longest > 1) {
    do {
      pattern.step = 1 + below(random, longest);
    } while (std::gcd(pattern.step, stride) != 1);
    pattern.inverse = inverse_mod(pattern.step, stride);
  }
  std::int64_t start = below(random, stride - (count - 1) * pattern.step);
  if (pattern.step == 1) start = start / kRunDelays * kRunDelays;
  pattern.delays.reserve(static_cast<std::size_t>(count));
  for (std::int64_t j = 0; j < count; ++j) pattern.delays.push_back({start + j * pattern.step, 0, 0});
  return pattern;
}

DelayPattern random_delays(const GridPoint& extents, int rank, int count, DiscoveryRandom& random) {
  DelayPattern pattern;
  for (int tries = 0; static_cast<int>(pattern.delays.size()) < count; ++tries) {
    GridPoint delay{0, 0, 0};
    for (int d = 0; d < rank; ++d) {
      const auto at = static_cast<std::size_t>(d);
      delay[at] = below(random, extents[at]);
    }
    const bool seen = std::find(pattern.delays.begin(), pattern.delays.end(), delay) != pattern.delays.end();
    if (!seen || tries > 4 * count) pattern.delays.push_back(delay);
  }
  return pattern;
}

DelayPattern ladder_of_delays(const GridPoint& extents, int rank, int count, DiscoveryRandom& random) {
  DelayPattern pattern;
  pattern.kind = DelayPattern::Kind::ladder;
  int axes = 0;
  for (int d = 0; d < rank; ++d) axes += extents[static_cast<std::size_t>(d)] > 1 ? 1 : 0;
  const int rungs = std::max(1, (count - 1) / std::max(axes, 1));
  std::array<std::vector<std::int64_t>, 3> steps;
  GridPoint base{0, 0, 0};
  for (int d = 0; d < rank; ++d) {
    const auto at = static_cast<std::size_t>(d);
    const std::int64_t extent = extents[at];
    if (extent == 1) continue;
    // The last rung must distinguish `extent` candidates within a turn; each rung distinguishes `ratio` times
    // as many as the previous one.
    auto ratio = static_cast<std::int64_t>(
        std::max(2.0, std::ceil(std::pow(static_cast<double>(extent), 1.0 / rungs))));
    std::int64_t step = 1;
    for (int i = 0; i < rungs && step < extent; ++i) {
      steps[at].push_back(step);
      if (step > extent / ratio) break;
      step *= ratio;
    }
    base[at] = below(random, extent - steps[at].back());
  }
  pattern.delays.push_back(base);
  for (int d = 0; d < rank; ++d) {
    const auto at = static_cast<std::size_t>(d);
    for (const std::int64_t step : steps[at]) {
      pattern.rungs[at].push_back({static_cast<int>(pattern.delays.size()), step});
      GridPoint delay = base;
      delay[at] += step;
      pattern.delays.push_back(delay);
    }
  }
  const int missing = count - static_cast<int>(pattern.delays.size());
  if (missing > 0) {
    const DelayPattern rest = random_delays(extents, rank, missing, random);
    pattern.delays.insert(pattern.delays.end(), rest.delays.begin(), rest.delays.end());
  }
  return pattern;
}

}  // namespace sfft::detail
