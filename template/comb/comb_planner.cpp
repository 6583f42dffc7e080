// SPDX-License-Identifier: Apache-2.0
// Lists grids of smooth divisors and numbers of delays, sorts them by predicted cost or by a quick bound on
// the error, and searches delays only for the most promising: the first well-conditioned plan, or the better
// of two finalists, wins.
#include "template/comb/comb_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <span>

#include "kernels/cpu/platform/thread_pool.hpp"
#include "template/comb/comb_model.hpp"
#include "template/comb/delay_search.hpp"

namespace sfft::detail {

namespace {

/// Limits on the RMS and the maximum factor by which recovery rows amplify noise, single-precision rounding
/// included.
constexpr double kMaxGainRms = 3;
constexpr double kMaxGain = 60;
/// Fewer empty buckets than this say too little about the tail.
constexpr std::int64_t kMinEmpty = 8;

bool smooth(std::int64_t n) {
  for (const std::int64_t prime : {2, 3, 5, 7}) {
    while (n % prime == 0) n /= prime;
  }
  return n == 1;
}

std::vector<std::int64_t> smooth_divisors(std::int64_t n, std::int64_t largest) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d <= std::min(n / d, largest); ++d) {
    if (n % d != 0) continue;
    if (smooth(d)) divisors.push_back(d);
    if (d != n / d && n / d <= largest && smooth(n / d)) divisors.push_back(n / d);
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

std::string describe(const Shape& shape, const std::array<std::int64_t, 3>& buckets, std::int64_t delays) {
  std::string grid = fmt::format("{}", buckets[0]);
  for (int d = 1; d < shape.rank(); ++d) grid += fmt::format("x{}", buckets[static_cast<std::size_t>(d)]);
  return fmt::format("comb {}, {} delays", grid, delays);
}

class Planner {
 public:
  Planner(const SupportSet& support, const SpectralPrior& prior, const CombRequest& request,
          std::vector<Rejection>& rejected)
      : support_(support),
        prior_(prior),
        request_(request),
        rejected_(rejected),
        folding_(std::make_shared<Folding>(support, prior)) {
    for (std::int64_t i = 0; i < support.k && !prior.least_squares(); ++i) {
      if (i != support.mean_coefficient) power_ += prior.support_power[static_cast<std::size_t>(i)];
    }
  }

  std::optional<CombPlan> plan() {
    list_candidates();
    if (candidates_.empty()) {
      rejected_.push_back(
          {"comb", "no divisors of the shape leave enough empty buckets within the sample budget"});
      return std::nullopt;
    }
    return prior_.least_squares() ? cheapest_exact() : best_estimate();
  }

 private:
  struct Candidate {
    std::array<std::int64_t, 3> buckets;
    std::int64_t delays;
    double us;
    double proxy;  ///< relative error by Crowding::proxy_error; 0 for least squares
  };

  void list_candidates() {
    const Shape& shape = support_.shape;
    const auto members = static_cast<std::int64_t>(support_.members.size());
    const std::int64_t most = std::min({request_.max_samples, shape.points() / 2, 64 * members + 4096});
    // Fewer buckets than this would leave almost none empty, or hold more frequencies than delays resolve.
    const std::int64_t least = prior_.least_squares() ? std::max<std::int64_t>(kMinEmpty, members / 12)
                                                      : std::max<std::int64_t>(kMinEmpty, members);
    std::array<std::vector<std::int64_t>, 3> sides;
    for (int d = 0; d < 3; ++d) sides[static_cast<std::size_t>(d)] = smooth_divisors(shape[d], most);
    std::vector<std::array<std::int64_t, 3>> grids;
    for (const std::int64_t b0 : sides[0]) {
      for (const std::int64_t b1 : sides[1]) {
        if (b0 * b1 > most) break;
        for (const std::int64_t b2 : sides[2]) {
          const std::int64_t buckets = b0 * b1 * b2;
          if (buckets > most) break;
          if (buckets >= least) grids.push_back({b0, b1, b2});
        }
      }
    }
    for (const auto& grid : grids) add_grid(grid, most);
  }

  /// Natural spectra alias least when the grid's sides follow the frame's; very long grids are skipped.
  bool misshapen(const std::array<std::int64_t, 3>& grid) const {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (int d = 0; d < support_.shape.rank(); ++d) {
      const double stride =
          static_cast<double>(support_.shape[d]) / static_cast<double>(grid[static_cast<std::size_t>(d)]);
      low = std::min(low, stride);
      high = std::max(high, stride);
    }
    return high > 6 * low && !prior_.least_squares();
  }

  void add_grid(const std::array<std::int64_t, 3>& grid, std::int64_t most) {
    if (misshapen(grid)) return;
    folding_->prepare(grid);
    const Crowding crowding = look_at(grid);
    const std::int64_t buckets = grid[0] * grid[1] * grid[2];
    const std::int64_t empty = buckets - crowding.occupied;
    if (empty < std::max(kMinEmpty, buckets / 8)) return;
    const std::int64_t room = support_.shape.points() / buckets;
    const std::int64_t step = support_.real ? 2 : 1;
    // Least squares needs a delay for each frequency of a bucket; with a prior a crowded bucket only shrinks.
    const std::int64_t crowd = prior_.least_squares() ? crowding.largest : 1;
    const std::int64_t first = (crowd + step - 1) / step * step;
    const std::int64_t last = std::min({CombModel::kMaxDelays, room, most / buckets});
    for (std::int64_t r = first; r <= last; r += step) {
      if (prior_.least_squares() && r > first + 2 * step) break;
      const double us = predicted_us(buckets, r);
      if (us > request_.limit_us) break;
      candidates_.push_back({grid, r, us, std::sqrt(crowding.proxy_error(r) / std::max(power_, 1e-300))});
    }
  }

  /// The members of a grid's buckets, and the tail that aliases onto each coefficient.
  struct Crowding {
    std::int64_t occupied = 0, largest = 0;
    struct Own {
      double tail, power;
      std::int64_t members;  ///< of its bucket
    };
    std::vector<Own> own;  ///< coefficients without f = 0; empty for least squares

    /// A bound on Σ E|error|² with r delays at random, without looking at phases: what the search sorts by.
    double proxy_error(std::int64_t delays) const {
      double sum = 0;
      std::array<double, CombModel::kMaxDelays + 1> share;
      for (std::int64_t n = 0; n <= CombModel::kMaxDelays; ++n)
        share[static_cast<std::size_t>(n)] =
            1 / static_cast<double>(std::max<std::int64_t>(1, delays + 1 - n));
      for (const Own& of : own) {
        const auto members = static_cast<std::size_t>(std::min(of.members, CombModel::kMaxDelays));
        sum += std::min(of.tail * share[members], of.power);
      }
      return sum;
    }
  };

  Crowding look_at(const std::array<std::int64_t, 3>& grid) {
    Crowding crowding;
    const std::vector<std::int64_t> bucket = folding_->buckets_of_members(grid);
    const auto buckets = static_cast<std::size_t>(grid[0] * grid[1] * grid[2]);
    if (members_in_.size() < buckets) members_in_.resize(buckets, 0);
    for (const std::int64_t b : bucket) {
      std::int32_t& members = members_in_[static_cast<std::size_t>(b)];
      crowding.occupied += members == 0;
      crowding.largest = std::max<std::int64_t>(crowding.largest, ++members);
    }
    if (prior_.least_squares()) {
      for (const std::int64_t b : bucket) members_in_[static_cast<std::size_t>(b)] = 0;
      return crowding;
    }
    const std::span<const double> tail = folding_->tail_at_members();
    if (template_in_.size() < buckets) template_in_.resize(buckets, 0);
    for (std::size_t i = 0; i < bucket.size(); ++i)
      template_in_[static_cast<std::size_t>(bucket[i])] += tail[i];
    std::vector<std::int64_t> at;
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      const SupportMember& member = support_.members[i];
      if (member.conjugate || member.coefficient == support_.mean_coefficient) continue;
      at.push_back(bucket[i]);
      crowding.own.push_back({0, prior_.support_power[static_cast<std::size_t>(member.coefficient)],
                              members_in_[static_cast<std::size_t>(bucket[i])]});
    }
    const std::vector<double> tails = folding_->tails_of(at, grid);
    for (std::size_t i = 0; i < at.size(); ++i)
      crowding.own[i].tail = std::max(0.0, tails[i] - template_in_[static_cast<std::size_t>(at[i])]);
    for (const std::int64_t b : bucket) {
      members_in_[static_cast<std::size_t>(b)] = 0;
      template_in_[static_cast<std::size_t>(b)] = 0;
    }
    return crowding;
  }

  double predicted_us(std::int64_t buckets, std::int64_t delays, bool clustered = false) const {
    CombCost cost{};
    cost.points = support_.shape.points();
    cost.buckets = buckets;
    cost.delays = delays;
    cost.samples = cost.buckets * delays;
    cost.lines = clustered ? cost.buckets : cost.samples;
    cost.k = support_.k;
    cost.real = support_.real;
    return request_.cost(cost);
  }

  /// Runs job(i) for i < count on the requested number of threads; an exception from a job is rethrown here.
  template <class Job>
  void for_each(std::size_t count, const Job& job) const {
    const int threads =
        static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(request_.threads), count));
    if (threads <= 1) {
      for (std::size_t i = 0; i < count; ++i) job(i);
      return;
    }
    std::vector<std::exception_ptr> failures(count);
    cpu::ThreadPool pool(threads);
    pool.run(static_cast<std::int64_t>(count), [&](std::int64_t i, int) {
      try {
        job(static_cast<std::size_t>(i));
      } catch (...) {
        failures[static_cast<std::size_t>(i)] = std::current_exception();
      }
    });
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
  }

  static double relative_error(const CombModel::Quality& quality) {
    return std::sqrt(quality.error / std::max(quality.power, 1e-300));
  }

  CombPlan finish(CombModel& model, const std::vector<Delay>& delays, double us) const {
    CombPlan plan;
    CombModel::Built built = model.build(delays);
    plan.data = std::move(built.data);
    plan.predicted_us = us;
    plan.noise_gain = built.quality.gain_max;
    plan.predicted_error =
        prior_.least_squares() ? built.quality.gain_rms * request_.epsilon : relative_error(built.quality);
    return plan;
  }

  void reject(const Candidate& candidate, const std::string& reason) {
    if (rejected_.size() < 16)
      rejected_.push_back({describe(support_.shape, candidate.buckets, candidate.delays), reason});
  }

  /// The tail is zero or unknown: any solvable plan is exact, so the cheapest well-conditioned one wins.
  std::optional<CombPlan> cheapest_exact() {
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate& a, const Candidate& b) { return a.us < b.us; });
    constexpr std::size_t kTries = 10;
    for (std::size_t i = 0; i < std::min(kTries, candidates_.size()); ++i) {
      const Candidate& candidate = candidates_[i];
      CombModel model(folding_, candidate.buckets);
      for (const bool clustered : {true, false}) {
        const std::int64_t reach = std::max<std::int64_t>(8, 2 * candidate.delays);
        const auto choice =
            search_delays(model, support_.shape,
                          {.count = candidate.delays, .reach = clustered ? reach : 0, .seed = request_.seed});
        if (!choice) continue;
        if (choice->quality.gain_rms <= kMaxGainRms && choice->quality.gain_max <= kMaxGain) {
          return finish(model, choice->delays,
                        predicted_us(model.bucket_count(), candidate.delays, clustered));
        }
      }
      reject(candidate, "no delays found that separate the frequencies sharing a bucket");
    }
    return std::nullopt;
  }

  /// The tail is known: the least predicted error, or the cheapest plan within the accuracy asked for.
  std::optional<CombPlan> best_estimate() {
    const bool good_enough = request_.accuracy > 0;
    std::sort(candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) {
      // The proxy ignores phases and is pessimistic by up to about 3.
      if (good_enough) {
        const bool ok_a = a.proxy <= 2 * request_.accuracy;
        const bool ok_b = b.proxy <= 2 * request_.accuracy;
        if (ok_a != ok_b) return ok_a;
        if (ok_a && a.us != b.us) return a.us < b.us;
      }
      return a.proxy < b.proxy;
    });
    struct Looked {
      Candidate candidate;
      double error;
    };
    constexpr std::size_t kLook = 20;
    // Candidates with the same grid share its model, which one thread at a time may use.
    std::vector<std::optional<double>> errors(std::min(kLook, candidates_.size()));
    std::map<std::array<std::int64_t, 3>, std::unique_ptr<CombModel>> models;
    for (std::size_t i = 0; i < errors.size(); ++i) models[candidates_[i].buckets];
    std::vector<std::array<std::int64_t, 3>> grids;
    for (const auto& [grid, model] : models) grids.push_back(grid);
    for_each(grids.size(), [&](std::size_t g) {
      std::unique_ptr<CombModel>& model = models.at(grids[g]);
      model = std::make_unique<CombModel>(folding_, grids[g]);
      for (std::size_t i = 0; i < errors.size(); ++i) {
        if (candidates_[i].buckets != grids[g]) continue;
        const auto choice = search_delays(*model, support_.shape,
                                          {.count = candidates_[i].delays,
                                           .draws = 6,
                                           .sweeps = 0,
                                           .groups = 24,
                                           .final_groups = 96,
                                           .seed = request_.seed});
        if (choice) errors[i] = relative_error(choice->quality);
      }
    });
    std::vector<Looked> looked;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (errors[i]) looked.push_back({candidates_[i], *errors[i]});
    }
    if (looked.empty()) return std::nullopt;
    double least = std::numeric_limits<double>::infinity();
    for (const Looked& entry : looked) least = std::min(least, entry.error);
    // Within a tenth of the best error, or of the accuracy asked for, time decides.
    const double bar = good_enough ? std::max(request_.accuracy, least) : 1.1 * least;
    std::sort(looked.begin(), looked.end(), [&](const Looked& a, const Looked& b) {
      const bool ok_a = a.error <= bar;
      const bool ok_b = b.error <= bar;
      if (ok_a != ok_b) return ok_a;
      return ok_a ? a.candidate.us < b.candidate.us : a.error < b.error;
    });
    // The first look is coarse: search the finalists' delays properly, and keep the one that predicts best.
    constexpr std::size_t kFinalists = 2;
    std::vector<std::optional<DelayChoice>> finalists(std::min(kFinalists, looked.size()));
    const bool apart = finalists.size() > 1 && looked[0].candidate.buckets != looked[1].candidate.buckets;
    const auto finish_search = [&](std::size_t i) {
      if (i > 0 && looked[i].error > bar) return;
      finalists[i] = search_delays(*models.at(looked[i].candidate.buckets), support_.shape,
                                   {.count = looked[i].candidate.delays,
                                    .draws = 16,
                                    .sweeps = 2,
                                    .groups = 32,
                                    .seed = request_.seed});
    };
    if (apart) {
      for_each(finalists.size(), finish_search);
    } else {
      for (std::size_t i = 0; i < finalists.size(); ++i) finish_search(i);
    }
    std::size_t winner = finalists.size();
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < finalists.size(); ++i) {
      if (!finalists[i] || !(relative_error(finalists[i]->quality) < best)) continue;
      best = relative_error(finalists[i]->quality);
      winner = i;
    }
    if (winner == finalists.size()) return std::nullopt;
    for (std::size_t i = 0; i < looked.size(); ++i) {
      if (i == winner) continue;
      const Looked& other = looked[i];
      reject(other.candidate, other.error > bar
                                  ? fmt::format("predicted error {:.3g} > {:.3g}", other.error, bar)
                                  : fmt::format("no better, {:.1f} us", other.candidate.us));
    }
    const Candidate& chosen = looked[winner].candidate;
    return finish(*models.at(chosen.buckets), finalists[winner]->delays, chosen.us);
  }

  const SupportSet& support_;
  const SpectralPrior& prior_;
  const CombRequest& request_;
  std::vector<Rejection>& rejected_;
  std::vector<Candidate> candidates_;
  double power_ = 0;
  std::shared_ptr<Folding> folding_;
  std::vector<std::int32_t>
      members_in_;                   ///< members per bucket of the grid being looked at; all 0 in between
  std::vector<double> template_in_;  ///< what the tail's model says at these
};

}  // namespace

std::optional<CombPlan> plan_comb(const SupportSet& support, const SpectralPrior& prior,
                                  const CombRequest& request, std::vector<Rejection>& rejected) {
  return Planner(support, prior, request, rejected).plan();
}

}  // namespace sfft::detail
