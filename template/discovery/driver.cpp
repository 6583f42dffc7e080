// SPDX-License-Identifier: Apache-2.0
// Decides each round from what the last one saw: which grid and delays to read, when to peel, check or change
// to windows, and when to give up because a dense transform would be cheaper.
#include "template/discovery/driver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "template/discovery/comb.hpp"
#include "template/discovery/window.hpp"
#include "template/discovery/witness.hpp"
#include "template/planning/cost_model.hpp"

namespace sfft::detail {

namespace {

/// Rounds of one kind; each doubles the buckets or finds something, so a few suffice or none will.
constexpr int kMostRounds = 10;
/// Buckets per expected frequency: with fewer, frequencies meet in pairs too often; more cost time.
constexpr std::int64_t kBucketsPerFrequency = 4;
/// The same in several dimensions, where only another grid parts frequencies that meet.
constexpr std::int64_t kGridBucketsPerFrequency = 16;
constexpr std::int64_t kFrequenciesPerCheckBucket = 2;
constexpr std::int64_t kLadderBucketsPerFrequency = 32;
constexpr std::int64_t kWindowBucketsPerFrequency = 6;
constexpr std::int64_t kFewestBuckets = 32;
/// Frequencies expected when the request gives no number.
constexpr std::int64_t kGuess = 32;
/// Power of the weakest frequency over a bucket's noise at which a ladder of delays is climbed safely.
constexpr double kSafePower = 60;
/// A frequency of just the limit's power is as likely to hide in the noise as to show.
constexpr double kMargin = 1.5;
/// False alarms and pairs counted twice, on top of the frequencies expected.
constexpr std::int64_t kSpare = 16;
constexpr const char* kNotFinite = "samples that were read are NaN, infinite or too large";

template <class Real>
class BlindDriver {
 public:
  BlindDriver(SampleReader& signal, const Shape& shape, const BlindRequest& request)
      : request_(request),
        shape_(shape),
        signal_(signal),
        sampler_(signal, shape),
        random_(request.seed),
        // The positions of the witness are independent of where the rounds looked.
        scatter_(~request.seed),
        comb_(sampler_) {}

  BlindResult run() {
    expected_ = request_.k > 0 ? request_.k : kGuess;
    result_.reason = "the shape has too few samples for its number of frequencies";
    if (request_.path != Path::flat_window) run_combs();
    confirm();
    const bool stuck = !result_.verified && result_.finite && !hopeless_;
    if (stuck && request_.path != Path::comb) {
      run_windows();
      confirm();
    }
    double largest = 0;
    for (const BlindComponent& component : result_.components)
      largest = std::max(largest, std::norm(component.value));
    result_.missed_bound +=
        2 * kMargin * kOwnRounding * std::numeric_limits<Real>::epsilon() * std::sqrt(largest);
    if (result_.verified) judge_count();
    result_.samples = sampler_.samples() + result_.check_samples;
    return std::move(result_);
  }

 private:
  bool affordable(const CombGrid& grid, std::int64_t delays, bool progress) {
    CombCost cost{};
    cost.points = shape_.points();
    cost.buckets = grid.count;
    cost.delays = delays;
    cost.samples = grid.count * delays;
    cost.lines = grid.count;
    cost.k = static_cast<std::int64_t>(result_.components.size());
    cost.real = sampler_.real();
    const auto reads = static_cast<double>(std::max<std::int64_t>(1, delays / 8));
    return afford(predict_comb_us(cost), reads, progress);
  }

  /// The first round is always affordable; refining what has been found may cost as much as it saves.
  bool afford(double us, double reads, bool progress) {
    work_us_ += us;
    spent_us_ += us + reads * request_.read_us;
    const double limit = progress ? request_.effort_us : request_.patience_us;
    if (limit <= 0 || result_.rounds == 0 || spent_us_ <= limit) return true;
    result_.reason = "not sparse enough to be worth looking further";
    hopeless_ = true;
    return false;
  }

  /// What the next round of combs will be like.
  struct CombSearch {
    std::int64_t target = 0;  ///< buckets
    bool ladder = false;      ///< delays for locating under noise, or in several dimensions
    bool spread = false;      ///< runs of delays with a step, not next to each other
    std::int64_t least_unresolved = -1;
    int stalled = 0;  ///< rounds in a row that brought nothing
    std::optional<CombGrid> previous;
  };

  void run_combs() {
    const CombGrids grids(shape_);
    CombSearch search;
    search.ladder = shape_.rank() > 1;
    search.target = std::max(kFewestBuckets,
                             (search.ladder ? kGridBucketsPerFrequency : kBucketsPerFrequency) * expected_);
    if (request_.k > 0) comb_.expect_at_most(most_seen());
    result_.path = Path::comb;
    while (result_.rounds < kMostRounds) {
      const auto grid = grids.near(search.target, search.previous ? &*search.previous : nullptr, random_);
      if (!grid || !affordable(*grid, 8, promising_)) return;
      const DelayPattern pattern = search.ladder ? ladder_of_delays(grid->strides, shape_.rank(), 8, random_)
                                                 : run_of_delays(*grid, search.spread, random_);
      const BlindRound round = comb_.solve(*grid, pattern, result_.components);
      ++result_.rounds;
      search.previous = grid;
      if (!accept(round, static_cast<double>(grid->count))) return;
      judge_prospects(round, 3 * round.unresolved);
      if (hopeless_) return;
      if (round.crowded || (round.significant == 0 && result_.components.empty())) {
        // Too few buckets to part the frequencies from each other, or from the noise.
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

  void adapt_to_noise(const BlindRound& round, const CombGrid& grid, CombSearch& search) {
    if (!search.ladder && !precise(round, grid)) {
      // Neighbouring delays cannot tell neighbouring candidates apart: nothing found can be trusted.
      result_.components.clear();
      search.ladder = true;
      // A ladder explains lone frequencies and pairs: fewer should meet.
      search.target = std::max(search.target, kLadderBucketsPerFrequency * expected_);
    }
    if (round.weakest < kSafePower * round.noise) {
      const double more = std::min(64.0, kSafePower * round.noise / round.weakest);
      search.target =
          std::max(search.target, static_cast<std::int64_t>(more * static_cast<double>(grid.count)));
    }
  }

  /// After a round that was not the last: what the next one does differently. False when combs will not do.
  bool go_on(const BlindRound& round, const CombGrid& grid, CombSearch& search) {
    // Frequencies that meet in one residue class meet in its multiples too: combs never part them.
    const bool stalled = search.least_unresolved >= 0 && round.unresolved >= search.least_unresolved;
    search.stalled = stalled && round.added == 0 ? search.stalled + 1 : 0;
    if (search.stalled > 0 && shape_.rank() > 1) comb_.be_stubborn();
    if (search.stalled >= (8 * round.unresolved > round.significant ? 2 : 5)) return false;
    search.least_unresolved = round.unresolved;
    search.spread = true;
    result_.reason = "some frequencies could not be told apart";
    if (round.unresolved > 0 && (shape_.rank() == 1 || search.stalled > 0))
      search.target = std::max(search.target, (search.stalled > 0 ? 4 : 2) * grid.count);
    return true;
  }

  /// A small round on the residual of the frequencies found so far, for the few that met in a bucket and
  /// could not be told apart there. Returns how many buckets still cannot be explained.
  std::int64_t peel(const CombGrids& grids, const BlindRound& last, const CombGrid& used) {
    const std::int64_t target = std::max({used.count / 16, 16 * last.unresolved, std::int64_t{128}});
    const auto grid = grids.near(target, &used, random_);
    if (!grid || 2 * grid->count > used.count) return last.unresolved;
    if (!affordable(*grid, kBlindDelays, true)) return last.unresolved;
    const int rank = shape_.rank();
    // Along one dimension the same frequencies meet again: more of them than before must be told apart.
    const DelayPattern pattern = rank == 1          ? run_of_delays(*grid, true, random_, kBlindDelays)
                                 : comb_.stubborn() ? random_delays(grid->strides, rank, 8, random_)
                                                    : ladder_of_delays(grid->strides, rank, 8, random_);
    const BlindRound round = comb_.peel(*grid, pattern, result_.components);
    ++result_.rounds;
    if (!accept(round, static_cast<double>(grid->count))) return last.unresolved;
    return round.unresolved;
  }

  std::int64_t most_seen() const { return expected_ + expected_ / 2 + kSpare; }

  /// Under noise, more significant frequencies than were asked for mark a spectrum that is not sparse. `open`
  /// is roughly the number of frequencies that are seen but not found.
  void judge_prospects(const BlindRound& round, std::int64_t open) {
    const auto found = static_cast<std::int64_t>(result_.components.size());
    promising_ = found > 0 && open <= found;
    if (!noisy_ || request_.k == 0) return;
    const std::int64_t seen = found + round.unresolved;
    promising_ = promising_ && 4 * seen <= 5 * expected_ + kSpare;
    if (seen <= most_seen()) return;
    result_.reason = "much more than k frequencies stand out of the noise";
    hopeless_ = true;
  }

  /// Whether a run of neighbouring delays, under this noise, points to one of the bucket's candidates.
  static bool precise(const BlindRound& round, const CombGrid& grid) {
    const double turns = std::sqrt(round.noise / std::max(round.weakest, 1e-300)) / 16;
    return 8 * turns * static_cast<double>(grid.strides[0]) < 1;
  }

  /// Records what a round saw; false when discovery cannot go on.
  bool accept(const BlindRound& round, double tail_per_noise) {
    if (!round.finite || !(round.total_energy > 0)) {
      result_.finite = round.finite;
      result_.reason = round.finite ? "every sample that was read is zero" : kNotFinite;
      hopeless_ = true;
      return false;
    }
    noisy_ = round.noise > 4 * round.rounding;
    result_.tail_energy = round.noise * tail_per_noise;
    total_energy_ = round.total_energy;
    result_.missed_bound = kMargin * std::sqrt(round.missed_power);
    // What could not be told apart may hold everything.
    if (round.unresolved > 0 || round.crowded)
      result_.missed_bound = std::max(result_.missed_bound, everything());
    return true;
  }

  /// Bound of what is missed when nothing is known but the energy of the samples read.
  double everything() const { return kMargin * std::sqrt(total_energy_); }

  enum class Verdict { clean, unclean, none };

  /// Reads as many fresh samples as the accuracy needs and says whether they contradict the components;
  /// `none` when the shape or the limits allow no check.
  Verdict check(const CombGrids& grids, const CombGrid* used) {
    double energy = 0;
    double error = 0;
    for (const BlindComponent& component : result_.components) {
      energy += std::norm(component.value);
      error += component.variance;
    }
    const auto count = static_cast<std::int64_t>(result_.components.size());
    const double limit = request_.accuracy * request_.accuracy * energy;
    const bool noisy = noisy_ && error > limit;
    double samples = 0;
    std::int64_t target = std::max(kFewestBuckets, count / kFrequenciesPerCheckBucket);
    if (noisy) {
      const double points = static_cast<double>(shape_.points());
      samples = std::min(points / (request_.noise_gain * request_.noise_gain),
                         static_cast<double>(count) * result_.tail_energy / limit);
      target = std::max<std::int64_t>(32 * count, 512);
      while (8 * target > static_cast<std::int64_t>(samples) && target > kFewestBuckets) target /= 2;
    }
    const auto grid = grids.near(target, used, random_);
    if (!grid) return Verdict::none;
    CheckReads reads;
    if (noisy)
      reads.runs = static_cast<std::int64_t>(std::ceil(samples / static_cast<double>(8 * grid->count)));
    // A spectrum that is not sparse already fails at the first run.
    Verdict verdict = Verdict::clean;
    if (reads.runs > 1) verdict = check_once(*grid, {.runs = 1});
    if (verdict == Verdict::clean) verdict = check_once(*grid, reads);
    return verdict == Verdict::clean && result_.components.empty() ? Verdict::unclean : verdict;
  }

  /// The rounds agree; decides whether they are to be believed.
  void confirm() {
    if (!result_.verified) return;
    if (noisy_) drop_doubtful();
    result_.verified = !result_.components.empty();
    if (!result_.verified) {
      result_.reason = "no frequency stands out of the noise";
      return;
    }
    hear_witness();
    // The noise was judged in empty buckets. Sines and sums round in proportion to the value itself.
    constexpr double kOwn = 2 * std::numeric_limits<Real>::epsilon();
    for (BlindComponent& component : result_.components)
      component.variance = component.doubt * component.variance + kOwn * kOwn * std::norm(component.value);
  }

  /// Even in pure noise some frequency stands out in every round of a short signal, because its samples are
  /// read again and again. Its value is then mostly error, and larger than its standard error because it was
  /// chosen.
  void drop_doubtful() {
    constexpr double kSure = 30;
    double dropped = 0;
    std::erase_if(result_.components, [&](const BlindComponent& component) {
      const bool doubtful = std::norm(component.value) < kSure * component.variance;
      if (doubtful) dropped = std::max(dropped, std::norm(component.value));
      return doubtful;
    });
    result_.missed_bound = std::max(result_.missed_bound, kMargin * std::sqrt(dropped));
  }

  /// Compares what the rounds agree on with scattered samples; clears `verified` where these disagree.
  void hear_witness() {
    // A share of the work done so far, which does not depend on where the signal is, but enough for the
    // requested confidence.
    constexpr double kShareOfSearch = 0.2;
    constexpr double kSampleUs = 2e-3, kSampleAndWaveUs = 2e-4;
    constexpr double kMostSamples = 4096;
    const double sample_us = kSampleUs + kSampleAndWaveUs * static_cast<double>(result_.components.size());
    const std::int64_t least = witness_samples(request_.confidence);
    const auto affordable =
        static_cast<std::int64_t>(std::min(kMostSamples, kShareOfSearch * work_us_ / sample_us));
    BlindWitness<Real> witness(signal_, shape_);
    const WitnessReport report =
        witness.examine(result_.components, {result_.tail_energy, noisy_, result_.missed_bound},
                        std::max(least, affordable), request_.confidence, request_.everything, scatter_);
    spent_us_ += sample_us * static_cast<double>(report.samples) + request_.read_us;
    result_.check_samples += report.samples;
    result_.unseen_share = report.unseen_share;
    result_.whole_agrees = report.whole_agrees;
    result_.finite = report.finite;
    result_.verified = report.agrees;
    if (!report.agrees) result_.reason = report.finite ? report.reason : kNotFinite;
    // Nothing outside the components is larger than all the energy that they leave. Under noise that says
    // little.
    if (!noisy_)
      result_.missed_bound = std::max(result_.missed_bound, kMargin * std::sqrt(report.tail_energy));
  }

  Verdict check_once(const CombGrid& grid, const CheckReads& reads) {
    if (!affordable(grid, std::max<std::int64_t>(kBlindDelays, 8 * reads.runs), true)) return Verdict::none;
    const BlindRound round = comb_.check(grid, reads, random_, result_.components);
    ++result_.rounds;
    if (!accept(round, static_cast<double>(grid.count))) return Verdict::unclean;
    if (noisy_ && !round.clean()) judge_prospects(round, 3 * round.unresolved);
    return round.clean() ? Verdict::clean : Verdict::unclean;
  }

  void run_windows() {
    BlindWindow<Real> window(sampler_);
    std::int64_t most = 1;
    while (BlindWindow<Real>::samples(2 * most) <= shape_.points()) most *= 2;
    // Combs that failed leave guesses: windows start afresh.
    promising_ = false;
    result_.components.clear();
    result_.missed_bound = everything();
    result_.path = Path::flat_window;
    std::int64_t buckets = kFewestBuckets;
    while (buckets < kWindowBucketsPerFrequency * expected_) buckets *= 2;
    constexpr double kTapUs = 0.013;
    int stalled = 0;
    for (int number = 0; number < kMostRounds && stalled < 3; ++number) {
      if (buckets > most) return;
      const double us = kTapUs * static_cast<double>(BlindWindow<Real>::samples(buckets));
      if (!afford(us, 1, number == 0 || (promising_ && stalled < 2))) return;
      const BlindRound round = window.round(buckets, random_, result_.components);
      ++result_.rounds;
      if (!accept(round, 1 / window.noise_share())) return;
      // Each frequency shows in about three of a window's buckets.
      judge_prospects(round, (round.unresolved + 2) / 3);
      if (hopeless_) return;
      if (number > 0 && round.clean() && !result_.components.empty()) {
        // Windows are made for finding; combs read more samples in the same time and see what windows miss.
        // Where the shape has no combs, two rounds of windows that agree have to do.
        const bool combs = noisy_ && request_.path == Path::automatic;
        result_.verified = !combs || check(CombGrids(shape_), nullptr) != Verdict::unclean;
        if (!result_.verified) result_.reason = "combs and windows do not agree";
        return;
      }
      stalled = round.added > round.dropped || (round.unresolved == 0 && round.added > 0) ? 0 : stalled + 1;
      result_.reason = round.significant == 0 && result_.components.empty()
                           ? "no frequency stands out of the noise"
                           : "some frequencies could not be told apart";
      const bool empty = result_.components.empty();
      if (empty || round.crowded) {
        buckets *= 4;
      } else if (round.unresolved > round.added) {
        buckets *= 2;
      }
    }
  }

  /// What was found explains the samples; decides whether it is also what was asked for.
  void judge_count() {
    const auto found = static_cast<std::int64_t>(result_.components.size());
    if (noisy_ && request_.k > 0 && found < request_.k) {
      result_.verified = false;
      result_.reason = "fewer frequencies than asked for stand out of the noise";
    } else {
      result_.reason = "verified on samples that discovery had not seen";
    }
  }

  const BlindRequest& request_;
  const Shape& shape_;
  SampleReader& signal_;
  BlindSampler<Real> sampler_;
  BlindRandom random_, scatter_;
  BlindComb<Real> comb_;
  BlindResult result_;
  std::int64_t expected_ = 0;
  double spent_us_ = 0;
  double work_us_ = 0;       ///< spent_us_ without the cost of reading, which depends on where the signal is
  double total_energy_ = 0;  ///< of the last round
  bool hopeless_ = false;
  bool promising_ = false;  ///< what was found so far looks like the answer
  bool noisy_ = false;
};

}  // namespace

template <class Real>
BlindResult discover_blindly(SampleReader& signal, const Shape& shape, const BlindRequest& request) {
  return BlindDriver<Real>(signal, shape, request).run();
}

template BlindResult discover_blindly<float>(SampleReader&, const Shape&, const BlindRequest&);
template BlindResult discover_blindly<double>(SampleReader&, const Shape&, const BlindRequest&);

}  // namespace sfft::detail
