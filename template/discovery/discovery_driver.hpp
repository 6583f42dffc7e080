// SPDX-License-Identifier: Apache-2.0
// Decides each round from what the last one saw: which grid and delays to read, when to peel, check or change
// to windows, and when to give up because a dense transform would be cheaper.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "template/discovery/comb.hpp"
#include "template/discovery/pattern.hpp"
#include "template/discovery/round.hpp"
#include "template/discovery/sampler.hpp"

namespace sfft::detail {

/// One discovery: run_discovery() makes one and runs it.
template <class Real>
class DiscoveryDriver {
 public:
  DiscoveryDriver(SampleReader& signal, const Shape& shape, const DiscoveryRequest& request)
      : request_(request),
        shape_(shape),
        signal_(signal),
        sampler_(signal, shape),
        random_(request.seed),
        // The witness's positions are independent of those that the rounds read.
        scatter_(~request.seed),
        comb_(sampler_) {}

  DiscoveryResult run();

 private:
  /// Largest number of rounds of one kind. Each doubles the buckets or finds something, so a few suffice or
  /// none will.
  static constexpr int kMaxRounds = 10;
  static constexpr std::int64_t kFewestBuckets = 32;
  /// A frequency with exactly the limit's power is as likely to be hidden by the noise as to show.
  static constexpr double kMargin = 1.5;
  /// Allowance for false alarms and pairs counted twice, beyond the expected frequencies.
  static constexpr std::int64_t kSpare = 16;
  static constexpr const char* kNotFinite = "samples that were read are NaN, infinite or too large";

  // driver.cpp
  /// What a round is for, in ascending order of the time that it may take.
  enum class Purpose { look, search, refine };
  bool affordable(const CombGrid& grid, std::int64_t delays, Purpose purpose);
  /// The first round is always affordable; refining known frequencies may cost as much as it saves.
  bool afford(double us, double reads, std::int64_t samples, Purpose purpose);
  double limit_us(Purpose purpose) const;
  /// The purpose of the next round if it looks for more frequencies: the longer list is as likely to be
  /// complete as the last one.
  Purpose going_on() const { return promising_ ? Purpose::search : Purpose::look; }
  /// Under noise, more significant frequencies than requested mark a spectrum that is not sparse. `open` is
  /// roughly the number of frequencies seen but not found.
  void judge_prospects(const DiscoveryRound& round, std::int64_t open);
  /// Looks for tones between bins, once. True if their leakage is why the rounds so far failed; further
  /// rounds will fail as well.
  bool leaks();
  /// Records what a round saw; false if discovery cannot go on.
  bool accept(const DiscoveryRound& round, double tail_per_noise);
  std::int64_t max_seen() const { return expected_ + expected_ / 2 + kSpare; }
  /// Bound on what is missed when only the energy of the samples is known.
  double everything() const { return kMargin * std::sqrt(total_energy_); }

  // comb_rounds.cpp
  /// Parameters of the next round of combs.
  struct CombSearch {
    std::int64_t target = 0;  ///< buckets
    bool ladder = false;      ///< delays for locating under noise, or in several dimensions
    bool spread = false;      ///< runs of delays with a step instead of adjacent ones
    std::int64_t min_unresolved = -1;
    int stalled = 0;  ///< consecutive rounds without progress
    std::optional<CombGrid> previous;
  };
  void run_combs();
  /// Runs one round. If the first round takes long to explain its buckets, it first looks for tones between
  /// bins and then explains the buckets again: such tones leave an endless number of buckets that are hard to
  /// explain.
  DiscoveryRound solve(const CombGrid& grid, const DelayPattern& pattern);
  void adapt_to_noise(const DiscoveryRound& round, const CombGrid& grid, CombSearch& search);
  /// Decides, after any round but the last, what the next one changes. False if combs will not work.
  bool go_on(const DiscoveryRound& round, const CombGrid& grid, CombSearch& search);
  /// A small round on the residual of the frequencies found so far, for the few that collided in a bucket and
  /// could not be separated. Returns the number of buckets that remain unexplained.
  std::int64_t peel(const CombGrids& grids, const DiscoveryRound& last, const CombGrid& used);

  // window_rounds.cpp
  void run_windows();

  // confirm.cpp
  enum class Verdict { clean, unclean, none };
  /// Reads as many fresh samples as the accuracy needs and says whether they contradict the components;
  /// `none` if the shape or the limits allow no check.
  Verdict check(const CombGrids& grids, const CombGrid* used);
  Verdict check_once(const CombGrid& grid, const CheckReads& reads);
  /// The rounds agree; decides whether to trust them.
  void confirm();
  /// Even in pure noise some frequency stands out in every round of a short signal, because its samples
  /// are read again and again. Its value is then mostly error, and exceeds its standard error because it
  /// was selected.
  void drop_doubtful();
  /// Compares the rounds' result with scattered samples; clears `verified` if they disagree.
  void hear_witness();
  /// The result explains the samples; decides whether it is also what was requested.
  void judge_count();

  const DiscoveryRequest& request_;
  const Shape& shape_;
  SampleReader& signal_;
  DiscoverySampler<Real> sampler_;
  DiscoveryRandom random_, scatter_;
  DiscoveryComb<Real> comb_;
  DiscoveryResult result_;
  std::int64_t expected_ = 0;
  double spent_us_ = 0;
  double work_us_ = 0;       ///< spent_us_ without reading, whose cost depends on where the signal is
  double total_energy_ = 0;  ///< in the last round
  bool hopeless_ = false;
  bool looked_for_leakage_ = false;
  bool promising_ = false;  ///< the result so far looks like the answer
  bool noisy_ = false;
};

}  // namespace sfft::detail
