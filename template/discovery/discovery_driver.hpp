// SPDX-License-Identifier: Apache-2.0
// Decides each round from what the last one saw: which grid and delays to read, when to peel, check or change
// to windows, and when to give up because a dense transform would be cheaper.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "template/discovery/comb.hpp"
#include "template/discovery/pattern.hpp"
#include "template/discovery/round.hpp"
#include "template/discovery/sample_reader.hpp"
#include "template/discovery/sampler.hpp"

namespace sfft::detail {

/// Discovery's claims about the signal.
struct WitnessClaim {
  double tail_energy = 0;  ///< Σ|X|² outside the components
  bool noisy = false;      ///< the tail is noise, not an upper bound of rounding
};

struct WitnessReport {
  bool agrees = false;
  bool finite = true;
  std::int64_t samples = 0;   ///< samples compared
  double unseen_share = 1;    ///< a disturbance of a smaller share of all positions may be missed
  bool whole_agrees = false;  ///< all samples were read, and their sums agree as well
  double tail_energy = 0;     ///< Σ|X|² outside the components, estimated from these samples, or from all
  double excess = 0;          ///< Σ|x|² of the residual beyond the claim, if all samples were read
  const char* reason = "";    ///< why it does not agree
};

/// Number of samples to compare so that a disturbance of kDisturbedShare of the positions, wherever they are,
/// is missed with a probability below `confidence`.
std::int64_t witness_samples(double confidence);
/// The share of positions whose disturbance `samples` positions miss with at most that probability.
double witness_share(double confidence, std::int64_t samples);
/// 1/40, because pulses of 2 in 64 samples cover 1/32.
inline constexpr double kDisturbedShare = 0.025;
/// Positions are sums of an anchor and an offset, drawn independently. Any two are independent, but not all
/// together: misses are more likely than with independent positions, by less than this factor
/// (docs/accuracy.md).
inline constexpr double kWitnessDependence = 180;

/// Signals of at most this number of points are compared at every point.
inline constexpr std::int64_t kWitnessAll = 2048;

/// The final check of discovery: samples at scattered positions, compared one by one with the components'
/// prediction. Combs and lattice lines share periods and runs with structured signals (pulses, steps,
/// textures); positions drawn at random share none with a signal that existed before the draw.
template <class Real>
class DiscoveryWitness {
 public:
  /// Keeps references.
  DiscoveryWitness(SampleReader& signal, const Shape& shape) : signal_(signal), shape_(shape) {}

  /// Compares `samples` or a few more, or all of a short signal. `everything`: also reads the whole signal
  /// for its sums, if the reader supports that.
  WitnessReport examine(const std::vector<DiscoveryComponent>& components, const WitnessClaim& claim,
                        std::int64_t samples, double confidence, bool everything, DiscoveryRandom& random);

 private:
  /// Coordinates of a set of positions, dimension by dimension.
  struct Positions {
    std::vector<double> at[3];
    std::int64_t count = 0;
  };

  void draw(std::int64_t samples, DiscoveryRandom& random);
  void read();
  void predict(const std::vector<DiscoveryComponent>& components);
  WitnessReport judge(const std::vector<DiscoveryComponent>& components, const WitnessClaim& claim) const;
  void compare_whole(const std::vector<DiscoveryComponent>& components, const WitnessClaim& claim,
                     DiscoveryRandom& random, WitnessReport& report);
  bool real() const noexcept { return !is_complex(signal_.type()); }

  SampleReader& signal_;
  const Shape& shape_;
  bool all_ = false;  ///< every position of the signal is among those drawn
  Positions anchors_, offsets_;
  std::vector<Real> seen_re_, seen_im_;              ///< in the reader's order
  std::vector<double> predicted_re_, predicted_im_;  ///< at [anchor*offsets + offset]
};

extern template class DiscoveryWitness<float>;
extern template class DiscoveryWitness<double>;

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
  /// What a run that was stopped had found.
  DiscoveryResult until_stopped();

 private:
  /// Largest number of rounds of one kind. Each round doubles the buckets or finds something, so either a few
  /// suffice or no number does.
  static constexpr int kMaxRounds = 10;
  static constexpr std::int64_t kFewestBuckets = 32;
  /// Margin on detection limits: noise hides half of the frequencies whose power is exactly at the limit.
  static constexpr double kMargin = 1.5;
  /// Allowance for false alarms and pairs counted twice, beyond the expected frequencies.
  static constexpr std::int64_t kSpare = 16;
  static constexpr const char* kNotFinite = "samples that were read are NaN, infinite or too large";

  // driver.cpp
  /// What a round is for, in ascending order of the time that it may take.
  enum class Purpose { look, search, refine };
  bool affordable(const CombGrid& grid, std::int64_t delays, Purpose purpose);
  /// Adds the predicted time and says whether it is within the limits. The first round always is; refining
  /// known frequencies may cost as much as it saves.
  bool afford(double us, double reads, std::int64_t samples, Purpose purpose);
  double limit_us(Purpose purpose) const;
  /// The purpose of the next round if it looks for more frequencies. If the last list looked nearly complete,
  /// a longer one is likely to be complete.
  Purpose going_on() const { return promising_ ? Purpose::search : Purpose::look; }
  /// Decides whether the result is promising or hopeless. Under noise, many more significant frequencies than
  /// requested show that the spectrum is not sparse. `open` is roughly the number of frequencies seen but not
  /// found.
  void judge_prospects(const DiscoveryRound& round, std::int64_t open);
  /// Looks for tones between bins, once. True if their leakage explains why rounds have failed; further
  /// rounds would fail as well.
  bool leaks();
  /// Records what a round saw; false if discovery cannot go on.
  bool accept(const DiscoveryRound& round, double tail_per_noise);
  std::int64_t max_seen() const { return expected_ + expected_ / 2 + kSpare; }
  /// Bound on a missed |X| if only the energy of the samples is known.
  double everything() const { return kMargin * std::sqrt(total_energy_); }

  // comb_rounds.cpp
  /// Parameters of the next round of combs.
  struct CombSearch {
    std::int64_t target = 0;  ///< buckets
    bool ladder = false;      ///< uses ladders of delays, for noise or several dimensions
    bool spread = false;      ///< runs of delays with a step instead of adjacent ones
    std::int64_t min_unresolved = -1;
    int stalled = 0;  ///< consecutive rounds without progress
    std::optional<CombGrid> previous;
  };
  void run_combs();
  /// Runs one round. If the first round takes long to explain its buckets, it first looks for tones between
  /// bins and then explains the buckets again: such tones leave very many buckets that are hard to explain.
  DiscoveryRound solve(const CombGrid& grid, const DelayPattern& pattern);
  void adapt_to_noise(const DiscoveryRound& round, const CombGrid& grid, CombSearch& search);
  /// Called after every round but the last; decides what the next one changes. False if combs will not work.
  bool go_on(const DiscoveryRound& round, const CombGrid& grid, CombSearch& search);
  /// Runs a small round on the residual of the frequencies found so far, to find the few that collided in a
  /// bucket and could not be separated. Returns the number of buckets that remain unexplained.
  std::int64_t peel(const CombGrids& grids, const DiscoveryRound& last, const CombGrid& used);

  // window_rounds.cpp
  void run_windows();

  // confirm.cpp
  enum class Verdict { clean, unclean, none };
  /// Reads as many fresh samples as the accuracy needs and says whether they contradict the components;
  /// `none` if the shape or the limits allow no check.
  Verdict check(const CombGrids& grids, const CombGrid* used);
  Verdict check_once(const CombGrid& grid, const CheckReads& reads);
  /// Decides whether to trust a result on which the rounds agree.
  void confirm();
  /// Drops components that may be noise. Even in pure noise some frequency stands out in every round of a
  /// short signal, because rounds read the same samples repeatedly. Its value is then mostly error, and
  /// exceeds its standard error because it was selected.
  void drop_doubtful();
  /// Compares the rounds' result with scattered samples; clears `verified` if they disagree.
  void hear_witness();
  /// Decides whether a result that explains the samples is also what was requested.
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
