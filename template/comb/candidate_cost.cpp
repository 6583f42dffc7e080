// SPDX-License-Identifier: Apache-2.0
// The estimated cost of a candidate, and how much it deserves a search.
#include <algorithm>
#include <cmath>

#include "template/comb/comb_candidates.hpp"

namespace sfft::detail {

namespace {

/// Estimates exceed errors by more than this factor only where they are far off.
constexpr double kEstimateMargin = 1.4;
/// Bounds for delays in few rows exceed errors by factors up to about 3.
constexpr double kBoundMargin = 2;
/// A sector, the smallest unit that a GPU reads from memory.
constexpr std::int64_t kSectorBytes = 32;

}  // namespace

Promise promise_of(const CombCandidate& candidate, const CombRequest& request) {
  const bool bounded = candidate.row_sets > 0;  // the proxy is a bound, not an estimate
  if (request.accuracy > 0) {
    const bool over = candidate.proxy > (bounded ? kBoundMargin : kEstimateMargin) * request.accuracy;
    return {over, over ? candidate.proxy : candidate.us, candidate.proxy};
  }
  if (request.enough > 0) return {false, weigh(candidate.proxy, candidate.us, request), candidate.proxy};
  const double time = weigh(1, candidate.us, request);
  const bool sure = !bounded || request.effort == PlanEffort::quick;
  return {false, candidate.proxy * (sure ? time : std::sqrt(time)), candidate.proxy};
}

double predict_us(const SupportSet& support, const CombRequest& request,
                  const std::array<std::int64_t, 3>& grid, std::int64_t delays, bool clustered,
                  std::int64_t bus_bytes) {
  CombCost cost{};
  cost.bus_bytes = bus_bytes;
  cost.points = support.shape.points();
  cost.buckets = grid[0] * grid[1] * grid[2];
  cost.delays = delays;
  cost.samples = cost.buckets * delays;
  cost.lines = clustered ? cost.buckets : cost.samples;
  // Consecutive samples of a comb lie on the same line of the shape, so neighbours share sectors.
  const auto last = static_cast<std::size_t>(support.shape.rank() - 1);
  const std::int64_t line = support.shape[support.shape.rank() - 1];
  const std::int64_t of_sector = kSectorBytes / (support.real ? 1 : 8);  // elements
  const std::int64_t line_sectors = line / of_sector + (line % of_sector > 0 ? 1 : 0);
  const std::int64_t of_line = std::min(grid[last], line_sectors);
  cost.sectors =
      std::min({cost.lines, cost.samples / grid[last] * of_line, cost.points / line * line_sectors});
  cost.k = support.k;
  cost.real = support.real;
  return request.cost(cost);
}

}  // namespace sfft::detail
