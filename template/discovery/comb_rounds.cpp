// SPDX-License-Identifier: Apache-2.0
// Rounds of combs: which grid and delays the next round reads, and when to peel the buckets that a round left
// unresolved.
#include <algorithm>
#include <cmath>

#include "template/discovery/discovery_driver.hpp"

namespace sfft::detail {

namespace {

/// Buckets per expected frequency: with fewer, too many pairs collide; more take longer.
constexpr std::int64_t kBucketsPerFrequency = 4;
/// The same in several dimensions, where only another grid separates colliding frequencies.
constexpr std::int64_t kGridBucketsPerFrequency = 16;
constexpr std::int64_t kLadderBucketsPerFrequency = 32;
/// Ratio of the weakest frequency's power to a bucket's noise from which a ladder of delays is reliable.
constexpr double kSafePower = 60;

/// Whether a run of neighbouring delays can tell a bucket's candidates apart under this noise.
bool precise(const DiscoveryRound& round, const CombGrid& grid) {
  const double turns = std::sqrt(round.noise / std::max(round.weakest, 1e-300)) / 16;
  return 8 * turns * static_cast<double>(grid.strides[0]) < 1;
}

}  // namespace

template <class Real>
void DiscoveryDriver<Real>::run_combs() {
  const CombGrids grids(shape_);
  CombSearch search;
  search.ladder = shape_.rank() > 1;
  search.target =
      std::max(kFewestBuckets, (search.ladder ? kGridBucketsPerFrequency : kBucketsPerFrequency) * expected_);
  if (request_.k > 0) comb_.expect_at_most(max_seen());
  result_.path = Path::comb;
  while (result_.rounds < kMaxRounds) {
    if (result_.rounds > 0 && leaks()) return;
    const auto grid = grids.near(search.target, search.previous ? &*search.previous : nullptr, random_);
    if (!grid || !affordable(*grid, 8, going_on())) return;
    const DelayPattern pattern = search.ladder ? ladder_of_delays(grid->strides, shape_.rank(), 8, random_)
                                               : run_of_delays(*grid, search.spread, random_);
    const DiscoveryRound round = solve(*grid, pattern);
    ++result_.rounds;
    if (hopeless_) return;
    search.previous = grid;
    if (!accept(round, static_cast<double>(grid->count))) return;
    judge_prospects(round, 3 * round.unresolved);
    if (hopeless_) return;
    if (round.crowded || (round.significant == 0 && result_.components.empty())) {
      // There are too few buckets to separate the frequencies from each other or from the noise.
      result_.reason =
          round.crowded ? "nearly all of the spectrum is occupied" : "no frequency stands out of the noise";
      search.target = (round.crowded ? 8 : 4) * grid->count;
      continue;
    }
    if (noisy_) adapt_to_noise(round, *grid, search);
    std::int64_t unresolved = round.unresolved;
    const bool few = unresolved > 0 && 8 * unresolved <= round.significant && !result_.components.empty();
    if (!noisy_ && few) unresolved = peel(grids, round, *grid);
    if (unresolved == 0 && !result_.components.empty()) {
      result_.verified = check(grids, &*grid) == Verdict::clean;
      if (result_.verified) return;
    }
    if (!result_.finite || hopeless_ || !go_on(round, *grid, search)) return;
  }
}

template <class Real>
DiscoveryRound DiscoveryDriver<Real>::solve(const CombGrid& grid, const DelayPattern& pattern) {
  const double limit = limit_us(Purpose::search) - spent_us_;
  const bool short_at_first = request_.off_grid && !looked_for_leakage_;
  comb_.allow_us(short_at_first ? std::min(limit, request_.first_look_us) : limit);
  DiscoveryRound round = comb_.solve(grid, pattern, result_.components);
  if (short_at_first && comb_.out_of_time() && !leaks()) {
    result_.components.clear();
    comb_.allow_us(limit);
    round = comb_.solve(grid, pattern, result_.components);
  }
  spent_us_ += comb_.work_us();
  return round;
}

template <class Real>
void DiscoveryDriver<Real>::adapt_to_noise(const DiscoveryRound& round, const CombGrid& grid,
                                           CombSearch& search) {
  if (!search.ladder && !precise(round, grid)) {
    // Neighbouring delays cannot separate neighbouring candidates: nothing found can be trusted.
    result_.components.clear();
    search.ladder = true;
    // A ladder explains only single frequencies and pairs, so fewer should collide.
    search.target = std::max(search.target, kLadderBucketsPerFrequency * expected_);
  }
  if (round.weakest < kSafePower * round.noise) {
    const double more = std::min(64.0, kSafePower * round.noise / round.weakest);
    search.target =
        std::max(search.target, static_cast<std::int64_t>(more * static_cast<double>(grid.count)));
  }
}

template <class Real>
bool DiscoveryDriver<Real>::go_on(const DiscoveryRound& round, const CombGrid& grid, CombSearch& search) {
  // If rounds stall, some frequencies share a residue class on every grid, and combs never separate them.
  const bool stalled = search.min_unresolved >= 0 && round.unresolved >= search.min_unresolved;
  search.stalled = stalled && round.added == 0 ? search.stalled + 1 : 0;
  if (search.stalled > 0 && shape_.rank() > 1) comb_.search_exhaustively();
  if (search.stalled >= (8 * round.unresolved > round.significant ? 2 : 5)) return false;
  search.min_unresolved = round.unresolved;
  search.spread = true;
  result_.reason = "some frequencies could not be told apart";
  if (round.unresolved > 0 && (shape_.rank() == 1 || search.stalled > 0))
    search.target = std::max(search.target, (search.stalled > 0 ? 4 : 2) * grid.count);
  return true;
}

template <class Real>
std::int64_t DiscoveryDriver<Real>::peel(const CombGrids& grids, const DiscoveryRound& last,
                                         const CombGrid& used) {
  const std::int64_t target = std::max({used.count / 16, 16 * last.unresolved, std::int64_t{128}});
  const auto grid = grids.near(target, &used, random_);
  if (!grid || 2 * grid->count > used.count) return last.unresolved;
  if (!affordable(*grid, kDiscoveryDelays, Purpose::search)) return last.unresolved;
  const int rank = shape_.rank();
  // Along one dimension the same frequencies collide again, so a bucket must be separated into more of them.
  const DelayPattern pattern = rank == 1            ? run_of_delays(*grid, true, random_, kDiscoveryDelays)
                               : comb_.exhaustive() ? random_delays(grid->strides, rank, 8, random_)
                                                    : ladder_of_delays(grid->strides, rank, 8, random_);
  comb_.allow_us(limit_us(Purpose::search) - spent_us_);
  const DiscoveryRound round = comb_.peel(*grid, pattern, result_.components);
  spent_us_ += comb_.work_us();
  ++result_.rounds;
  if (!accept(round, static_cast<double>(grid->count))) return last.unresolved;
  return round.unresolved;
}

template void DiscoveryDriver<float>::run_combs();
template void DiscoveryDriver<double>::run_combs();

}  // namespace sfft::detail
