// SPDX-License-Identifier: Apache-2.0
// Lists grids of smooth divisors and numbers of delays, sorts them by predicted cost or by a quick error
// bound, and searches delays only for the most promising. With least squares the first well-conditioned plan
// wins, with a known tail the best finalist.
#include "template/comb/comb_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>

#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/runtime/run_scope.hpp"
#include "kernels/runtime/step_trace.hpp"
#include "template/comb/comb_candidates.hpp"
#include "template/comb/comb_model.hpp"

namespace sfft::detail {

namespace {

/// Limits on the RMS and the maximum factor by which recovery rows amplify noise, single-precision rounding
/// included.
constexpr double kMaxGainRms = 3;
constexpr double kMaxGain = 60;

std::string describe(const Shape& shape, const std::array<std::int64_t, 3>& buckets, std::int64_t delays) {
  std::string grid = fmt::format("{}", buckets[0]);
  for (int d = 1; d < shape.rank(); ++d) grid += fmt::format("x{}", buckets[static_cast<std::size_t>(d)]);
  return fmt::format("comb {}, {} delays", grid, delays);
}

/// The extent of a search with a known tail.
struct Effort {
  std::size_t looks;         ///< candidates examined
  bool mirrored;             ///< also examines mirrored lattices of delays
  bool few_lattices;         ///< per look
  int look_draws;            ///< random sets of delays per look
  std::size_t draw_groups;   ///< buckets that select the delays of a look
  std::size_t look_groups;   ///< buckets that judge a look; 0: all
  std::size_t finalists;     ///< candidates with a full search of delays; 0: the best look wins
  int draws, sweeps;         ///< in that search
  std::size_t final_groups;  ///< buckets that judge finalists; 0: all
};

Effort effort_of(PlanEffort effort) {
  switch (effort) {
    case PlanEffort::quick:
      return {4, false, true, 0, 8, 32, 0, 0, 0, 0};
    case PlanEffort::thorough:
      return {60, true, false, 6, 24, 128, 8, 32, 4, 0};
    default:
      return {10, false, false, 0, 24, 24, 2, 4, 0, 96};
  }
}

class Planner {
 public:
  Planner(const SupportSet& support, const SpectralPrior& prior, const CombRequest& request,
          std::vector<Rejection>& rejected)
      : support_(support),
        prior_(prior),
        request_(request),
        rejected_(rejected),
        folding_(std::make_shared<Folding>(support, prior)) {}

  /// The decisions from which a plan is built.
  struct Choice {
    CombModel* model;
    std::vector<Delay> delays;
    double us;
    double error;  ///< estimated; not for least squares
  };

  std::optional<Choice> choose() {
    enter_stage("planning: grids");
    step_done("search: folding");
    candidates_ = list_comb_candidates(*folding_, request_);
    if (candidates_.empty()) {
      rejected_.push_back(
          {"comb", "no divisors of the shape leave enough empty buckets within the sample budget"});
      return std::nullopt;
    }
    return prior_.least_squares() ? cheapest_exact() : best_estimate();
  }

  std::optional<CombPlan> plan() {
    const std::optional<Choice> choice = choose();
    step_done("search: choice");
    if (!choice) return std::nullopt;
    enter_stage("planning: weights of recovery");
    CombPlan plan;
    CombModel::Built built = choice->model->build(choice->delays, request_.pool);
    step_done("search: solve all buckets");
    plan.data = std::move(built.data);
    plan.predicted_us = choice->us;
    plan.noise_gain = built.quality.gain_max;
    plan.predicted_error =
        prior_.least_squares() ? built.quality.gain_rms * request_.epsilon : relative_error(built.quality);
    return plan;
  }

 private:
  static double relative_error(const CombModel::Quality& quality) {
    return std::sqrt(quality.error / std::max(quality.power, 1e-300));
  }

  void reject(const CombCandidate& candidate, const std::string& reason) {
    if (rejected_.size() < 16)
      rejected_.push_back({describe(support_.shape, candidate.buckets, candidate.delays), reason});
  }

  /// The tail is zero or unknown: any solvable plan is exact, so the cheapest well-conditioned one wins.
  std::optional<Choice> cheapest_exact() {
    for (std::size_t i = 0; i < std::min(kCombTries, candidates_.size()); ++i) {
      poll_stop();
      const CombCandidate& candidate = candidates_[i];
      std::unique_ptr<CombModel>& kept = models_[candidate.buckets];
      kept = std::make_unique<CombModel>(folding_, candidate.buckets);
      CombModel& model = *kept;
      for (const bool clustered : {true, false}) {
        const std::int64_t reach = std::max<std::int64_t>(8, 2 * candidate.delays);
        const auto choice =
            search_delays(model, support_.shape,
                          {.count = candidate.delays, .reach = clustered ? reach : 0, .seed = request_.seed});
        if (!choice) continue;
        if (choice->quality.gain_rms <= kMaxGainRms && choice->quality.gain_max <= kMaxGain) {
          return Choice{&model, choice->delays,
                        predict_us(support_, request_, candidate.buckets, candidate.delays, clustered), 0};
        }
      }
      models_.erase(candidate.buckets);
      reject(candidate, "no delays found that separate the frequencies sharing a bucket");
    }
    return std::nullopt;
  }

  /// The most promising candidates. At most `alike` of them read the same number of rows, because bounds
  /// hardly distinguish these. Errors are assumed to be `scale` times the candidates' proxies.
  std::vector<CombCandidate> promising(std::size_t looks, std::size_t alike, double scale = 1) const {
    std::vector<std::pair<Promise, std::size_t>> keys;
    keys.reserve(candidates_.size());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      CombCandidate scaled = candidates_[i];
      scaled.proxy *= scale;
      keys.emplace_back(promise_of(scaled, request_), i);
    }
    std::vector<CombCandidate> chosen;
    if (candidates_.empty() || candidates_[0].row_sets == 0) {
      // Estimates for many delays are too low, by more than they differ from each other, so such candidates
      // get at most half of the looks.
      constexpr std::int64_t kManyDelays = 12;
      std::sort(keys.begin(), keys.end());
      std::size_t of_many = 0;
      for (const auto& [promise, at] : keys) {
        if (chosen.size() == looks) break;
        if (candidates_[at].delays <= kManyDelays || of_many++ < looks / 2) chosen.push_back(candidates_[at]);
      }
      return chosen;
    }
    std::sort(keys.begin(), keys.end());
    std::map<std::int64_t, std::size_t> of_rows;
    for (const auto& [promise, at] : keys) {
      if (chosen.size() == looks) break;
      if (of_rows[candidates_[at].rows()]++ < alike) chosen.push_back(candidates_[at]);
    }
    return chosen;
  }

  /// Up to `max` candidates, evenly spread from few to many rows; for each number of rows the one with the
  /// smallest bound.
  std::vector<CombCandidate> spread_over_rows(std::size_t max) const {
    std::map<std::int64_t, const CombCandidate*> best;
    for (const CombCandidate& candidate : candidates_) {
      const CombCandidate*& known = best[candidate.rows()];
      if (known == nullptr || candidate.proxy < known->proxy) known = &candidate;
    }
    std::vector<const CombCandidate*> in_order;
    for (const auto& [rows, candidate] : best) in_order.push_back(candidate);
    std::vector<CombCandidate> chosen;
    const std::size_t count = std::min(max, in_order.size());
    for (std::size_t i = 0; i < count; ++i)
      chosen.push_back(*in_order[in_order.size() * (2 * i + 1) / (2 * count)]);
    return chosen;
  }

  struct Looked {
    CombCandidate candidate;
    double error;
    DelayChoice choice;
  };

  /// Roughly searches delays for each candidate; appends those with a solvable set to `looked`.
  void look_at(const std::vector<CombCandidate>& candidates, const Effort& effort,
               std::vector<Looked>& looked) {
    // Candidates with the same grid share its model, which only one thread may use at a time.
    std::vector<std::optional<DelayChoice>> looks(candidates.size());
    std::set<std::array<std::int64_t, 3>> different;
    for (const CombCandidate& candidate : candidates) different.insert(candidate.buckets);
    const std::vector<std::array<std::int64_t, 3>> grids(different.begin(), different.end());
    for (const auto& grid : grids) models_[grid];
    cpu::for_each(request_.pool, grids.size(), [&](std::size_t g, int) {
      std::unique_ptr<CombModel>& model = models_.at(grids[g]);
      if (!model) model = std::make_unique<CombModel>(folding_, grids[g]);
      if (!leaves_room(model->bucket_count(), model->occupied_buckets())) return;
      for (std::size_t i = 0; i < looks.size(); ++i) {
        if (candidates[i].buckets != grids[g]) continue;
        looks[i] = search_delays(*model, support_.shape,
                                 {.count = candidates[i].delays,
                                  .row_sets = candidates[i].row_sets,
                                  .mirrored = effort.mirrored,
                                  .few_lattices = effort.few_lattices,
                                  .draws = effort.look_draws,
                                  .sweeps = 0,
                                  .groups = effort.draw_groups,
                                  .final_groups = effort.look_groups,
                                  .seed = request_.seed});
      }
      if (effort.finalists == 0) model->forget_samples();
    });
    for (std::size_t i = 0; i < looks.size(); ++i) {
      if (looks[i]) looked.push_back({candidates[i], relative_error(looks[i]->quality), *looks[i]});
    }
  }

  /// Looks at the most promising candidates.
  std::vector<Looked> look(const Effort& effort) {
    std::vector<Looked> looked;
    if (!(request_.enough > 0) || request_.accuracy > 0 || candidates_[0].row_sets == 0) {
      look_at(promising(effort.looks, (effort.looks + 3) / 4), effort, looked);
      return looked;
    }
    // If an error suffices, the ratio of errors to bounds decides how many rows are enough. The first looks
    // measure that ratio, the later ones refine it.
    constexpr std::size_t kTogether = 4;
    std::size_t left = effort.looks + kTogether;
    for (auto next = spread_over_rows(kTogether); !next.empty();) {
      look_at(next, effort, looked);
      std::erase_if(candidates_, [&](const CombCandidate& candidate) {
        return std::any_of(next.begin(), next.end(), [&](const CombCandidate& other) {
          return candidate.buckets == other.buckets && candidate.delays == other.delays &&
                 candidate.row_sets == other.row_sets;
        });
      });
      left -= std::min(left, next.size());
      next = promising(std::min(left, kTogether), 2, error_per_bound(looked));
    }
    return looked;
  }

  /// The median ratio of error to bound over the candidates examined.
  static double error_per_bound(const std::vector<Looked>& looked) {
    std::vector<double> ratios;
    for (const Looked& entry : looked)
      ratios.push_back(entry.error / std::max(entry.candidate.proxy, 1e-300));
    if (ratios.empty()) return 1;
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    return *middle;
  }

  /// The tail is known: the smallest predicted error, or the cheapest plan within the requested accuracy.
  std::optional<Choice> best_estimate() {
    enter_stage("planning: delays");
    const bool good_enough = request_.accuracy > 0;
    const Effort effort = effort_of(request_.effort);
    std::vector<Looked> looked = look(effort);
    if (looked.empty() && request_.effort == PlanEffort::quick) {
      candidates_ = list_comb_candidates(*folding_, request_, true);
      if (!candidates_.empty()) looked = look(effort);
    }
    step_done("search: looks");
    if (looked.empty()) return std::nullopt;
    double min = std::numeric_limits<double>::infinity();
    for (const Looked& entry : looked) min = std::min(min, entry.error);
    // Within a requested accuracy, time decides. Without one, error and time are weighed: by default a plan
    // that is twice as fast may have an error a fifth larger.
    const double bar =
        good_enough ? std::max(request_.accuracy, min) : std::numeric_limits<double>::infinity();
    const auto cost = [&](double error, double us) {
      if (!good_enough) return weigh(error, us, request_);
      return error <= bar ? us : std::numeric_limits<double>::max() * std::min(1.0, error);
    };
    std::stable_sort(looked.begin(), looked.end(), [&](const Looked& a, const Looked& b) {
      return cost(a.error, a.candidate.us) < cost(b.error, b.candidate.us);
    });
    // The first look is coarse: search the finalists' delays thoroughly and keep the finalist with the best
    // prediction.
    std::vector<std::optional<DelayChoice>> finalists(std::min(effort.finalists, looked.size()));
    if (effort.finalists == 0) finalists.emplace_back(looked[0].choice);
    // Finalists with the same grid share its model, so one thread processes them in sequence.
    std::vector<std::vector<std::size_t>> turns;
    for (std::size_t i = 0; i < std::min(effort.finalists, looked.size()); ++i) {
      const auto same = std::find_if(turns.begin(), turns.end(), [&](const auto& turn) {
        return looked[turn[0]].candidate.buckets == looked[i].candidate.buckets;
      });
      if (same == turns.end()) {
        turns.push_back({i});
      } else {
        same->push_back(i);
      }
    }
    cpu::for_each(request_.pool, turns.size(), [&](std::size_t t, int) {
      for (const std::size_t i : turns[t]) {
        if (i > 0 && looked[i].error > bar) continue;
        finalists[i] = search_delays(*models_.at(looked[i].candidate.buckets), support_.shape,
                                     {.count = looked[i].candidate.delays,
                                      .row_sets = looked[i].candidate.row_sets,
                                      .draws = effort.draws,
                                      .sweeps = effort.sweeps,
                                      .groups = 32,
                                      .final_groups = effort.final_groups,
                                      .seed = request_.seed});
      }
    });
    std::size_t winner = finalists.size();
    double min_cost = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < finalists.size(); ++i) {
      if (!finalists[i]) continue;
      const double own = cost(relative_error(finalists[i]->quality), looked[i].candidate.us);
      if (winner < finalists.size() && own >= min_cost) continue;
      min_cost = own;
      winner = i;
    }
    if (winner == finalists.size()) return std::nullopt;
    const double chosen_error = relative_error(finalists[winner]->quality);
    for (std::size_t i = 0; i < looked.size(); ++i) {
      if (i == winner) continue;
      const Looked& other = looked[i];
      reject(other.candidate,
             other.error > std::min(bar, chosen_error)
                 ? fmt::format("predicted error {:.3g} in {:.1f} us", other.error, other.candidate.us)
                 : fmt::format("no better, {:.1f} us", other.candidate.us));
    }
    const CombCandidate& chosen = looked[winner].candidate;
    return Choice{models_.at(chosen.buckets).get(), finalists[winner]->delays, chosen.us, chosen_error};
  }

  const SupportSet& support_;
  const SpectralPrior& prior_;
  const CombRequest& request_;
  std::vector<Rejection>& rejected_;
  std::vector<CombCandidate> candidates_;
  std::shared_ptr<Folding> folding_;
  std::map<std::array<std::int64_t, 3>, std::unique_ptr<CombModel>> models_;
};

}  // namespace

std::optional<double> estimate_comb_error(const SupportSet& support, const SpectralPrior& prior,
                                          const CombRequest& request) {
  std::vector<Rejection> rejected;
  Planner planner(support, prior, request, rejected);
  const auto choice = planner.choose();
  return choice ? std::optional(choice->error) : std::nullopt;
}

std::optional<CombPlan> plan_comb(const SupportSet& support, const SpectralPrior& prior,
                                  const CombRequest& request, std::vector<Rejection>& rejected) {
  auto plan = Planner(support, prior, request, rejected).plan();
  if (plan || request.bus.element_bytes == 0) return plan;
  CombRequest anywhere = request;  // samples may lie in any number of rows
  anywhere.bus = {};
  return Planner(support, prior, anywhere, rejected).plan();
}

}  // namespace sfft::detail
