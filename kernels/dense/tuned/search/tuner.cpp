// SPDX-License-Identifier: Apache-2.0
// Times candidates for each step separately, then combinations of the best ones, then variations of the
// winner. A run-off decides between the finalists.
#include "kernels/dense/tuned/search/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

#include "kernels/base/math/quantiles.hpp"
#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/search/candidates.hpp"
#include "kernels/dense/tuned/search/products.hpp"
#include "kernels/dense/tuned/search/trial_bench.hpp"
#include "kernels/dense/tuned/search/variations.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace tuned {

namespace {

constexpr std::size_t kFactorisations = 4;        ///< factorisations of a long line to try
constexpr std::size_t kCandidates = 64;           ///< candidates per step
constexpr std::size_t kKept = 3;                  ///< candidates per step from which whole transforms are
                                                  ///< combined
constexpr std::size_t kFinalists = 12;            ///< number that are timed again, in rounds
constexpr int kRounds = 7;                        ///< rounds of the run-off
constexpr double kWorthOfAccuracy = 1.02;         ///< up to this slowdown, two roots are preferred to one
constexpr std::int64_t kCacheShare = 48ll << 20;  ///< bytes of groups between steps; more would exceed any L2
                                                  ///< cache

template <class Real>
class Tuner {
 public:
  Tuner(const DenseProblem& problem, std::vector<TunedTrial>* trials, const Formats& formats)
      : problem_(problem),
        formats_(formats),
        limits_(limits_of(problem.device)),
        trials_(trials),
        bench_(problem, formats) {}

  PlanPolicy run() {
    std::string why = "no factors that a block can hold";
    for (const std::vector<int>& factors : first(factors_of(problem_, kSingle, limits_), kFactorisations)) {
      const std::vector<LineNeed> needs = needs_of(problem_, kSingle, factors, limits_, why, formats_);
      if (!needs.empty()) tune(factors, needs);
    }
    if (best_.kernels.empty()) {
      throw Error(ErrorCode::backend_unavailable,
                  fmt::format("no kernel for {}: {}", problem_.shape.to_string(), why));
    }
    run_off();
    const TransformPolicy own = best_;
    const bool frames =
        problem_.real && problem_.shape.rank() == 2 && problem_.contiguous() && formats_ == Formats{};
    if (!frames || own.kernels.size() < 2) return {own, std::nullopt};
    for_bytes();
    run_off();
    return {own, best_ == own ? std::nullopt : std::optional(best_)};
  }

 private:
  static constexpr bool kSingle = sizeof(Real) == 4;

  template <class T>
  static std::vector<T> first(std::vector<T> all, std::size_t count) {
    if (all.size() > count) all.resize(count);
    return all;
  }

  void record(const Candidate& candidate, std::size_t step, double us) {
    if (trials_ == nullptr) return;
    const KernelPolicy& kernel = candidate.policy.kernels[step];
    trials_->push_back({to_text(candidate.policy), fmt::format("{}", fmt::join(kernel.radices, ".")),
                        kernel.pad_interval, kernel.threads_per_transform, us, candidate.failure.empty()});
  }

  /// Tunes each step separately, then the best of each together.
  void tune(const std::vector<int>& factors, const std::vector<LineNeed>& needs) {
    TransformPolicy base;
    base.factors = factors;
    std::vector<std::vector<KernelPolicy>> options;
    for (const LineNeed& need : needs) {
      options.push_back(candidates(need, kSingle, limits_, kCandidates));
      if (options.back().empty()) return;
      base.kernels.push_back(options.back().front());
    }
    for (std::size_t step = 0; step < needs.size(); ++step) {
      options[step] = best_of_step(base, step, options[step]);
      if (options[step].empty()) return;
      base.kernels[step] = options[step].front();
    }
    std::vector<TransformPolicy> wholes{{base}};
    for (std::size_t step = 0; step < needs.size(); ++step) {
      std::vector<TransformPolicy> next;
      for (const TransformPolicy& policy : wholes) {
        for (const KernelPolicy& kernel : options[step]) {
          next.push_back(policy);
          next.back().kernels[step] = kernel;
        }
      }
      wholes = std::move(next);
    }
    const std::size_t count = wholes.size();
    for (std::size_t i = 0; i < count; ++i) {
      wholes.push_back(wholes[i]);
      wholes.back().min_blocks_per_multiprocessor = 2;
    }
    settle(wholes, needs.size() - 1);
    if (needs.size() > 1 && !best_.kernels.empty() && best_.factors == factors)
      settle(alternating_policies(best_), needs.size() - 1);
    if (!best_.kernels.empty() && best_.factors == factors) {
      settle(neighbours(best_), 0);
      settle(refinements(best_, problem_.real, kSingle), 0);
    }
  }

  /// Tunes the step that reads the samples, and the register limit, once more for 8-bit samples, since
  /// reading them takes less of the time.
  void for_bytes() {
    bench_.read_bytes();
    finalists_.clear();
    best_us_ = std::numeric_limits<double>::infinity();
    const TransformPolicy own = best_;
    settle({own}, 0);
    std::string why;
    const LineNeed need = needs_of(problem_, kSingle, {}, limits_, why).front();
    std::vector<TransformPolicy> all;
    for (const KernelPolicy& kernel : best_of_step(own, 0, candidates(need, kSingle, limits_, kCandidates))) {
      for (const int blocks : {1, 2, 3}) {
        all.push_back(own);
        all.back().kernels[0] = kernel;
        all.back().min_blocks_per_multiprocessor = blocks;
      }
    }
    settle(all, 0);
    settle(neighbours(best_), 0);
    settle(refinements(best_, problem_.real, kSingle), 0);
  }

  std::vector<KernelPolicy> best_of_step(const TransformPolicy& base, std::size_t step,
                                         const std::vector<KernelPolicy>& kernels) {
    std::vector<Candidate> all;
    for (const KernelPolicy& kernel : kernels) {
      for (const int blocks : {1, 2}) {  // with all registers, only one block of many threads fits
        if (blocks > 1 && 2 * kernel.threads_per_transform * kernel.transforms_per_block <= kMaxThreads / 2)
          continue;
        all.push_back({.policy = base, .only = step});
        all.back().policy.kernels[step] = kernel;
        all.back().policy.min_blocks_per_multiprocessor = blocks;
      }
    }
    bench_.compile(all);
    std::vector<std::pair<double, KernelPolicy>> timed;
    for (Candidate& candidate : all) {
      if (const auto us = bench_.time(candidate)) {
        timed.push_back({*us, candidate.policy.kernels[step]});
        record(candidate, step, *us);
      }
    }
    std::stable_sort(timed.begin(), timed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<KernelPolicy> kept;
    for (const auto& [us, kernel] : timed) {
      const bool known = std::find(kept.begin(), kept.end(), kernel) != kept.end();
      if (!known && kept.size() < kKept) kept.push_back(kernel);
    }
    return kept;
  }

  /// Keeps the fastest of the whole transforms if its result is correct and it beats the best so far.
  void settle(const std::vector<TransformPolicy>& policies, std::size_t varied) {
    std::vector<Candidate> all;
    for (const TransformPolicy& policy : policies) all.push_back({.policy = policy});
    bench_.compile(all);
    std::vector<std::pair<double, Candidate*>> timed;
    for (Candidate& candidate : all) {
      const auto us = bench_.time(candidate);
      if (!us) continue;
      timed.push_back({price(*us, candidate.policy), &candidate});
      remember(timed.back().first, candidate.policy);
    }
    std::stable_sort(timed.begin(), timed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    bool found = false;
    for (const auto& [us, candidate] : timed) {
      if (!found && us < best_us_ && bench_.check(*candidate)) {
        found = true;
        best_us_ = us;
        best_ = candidate->policy;
      }
      record(*candidate, varied, us / price(1, candidate->policy));
    }
  }

  /// The time of a whole transform, weighted by its accuracy.
  static double price(double us, const TransformPolicy& policy) {
    const bool rough =
        std::any_of(policy.kernels.begin(), policy.kernels.end(), [](const KernelPolicy& kernel) {
          return kernel.twiddles == Twiddles::one_root && kernel.radices.size() > 1;
        });
    return rough ? kWorthOfAccuracy * us : us;
  }

  void remember(double us, const TransformPolicy& policy) {
    const auto known = std::find_if(finalists_.begin(), finalists_.end(),
                                    [&](const auto& finalist) { return finalist.second == policy; });
    if (known != finalists_.end()) finalists_.erase(known);
    const auto slower = [](double value, const auto& finalist) { return value < finalist.first; };
    finalists_.insert(std::upper_bound(finalists_.begin(), finalists_.end(), us, slower), {us, policy});
    if (finalists_.size() > kFinalists) finalists_.pop_back();
  }

  /// Among hundreds of candidates that were timed once, the fastest is the luckiest of the fast ones. The
  /// run-off times the finalists again, round by round, and the best median wins.
  void run_off() {
    std::vector<Candidate> all;
    for (const auto& [us, policy] : finalists_) all.push_back({.policy = policy});
    bench_.compile(all);
    std::vector<std::vector<double>> times(all.size());
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (const auto us = bench_.time(all[i])) times[i].push_back(*us);
      }
    }
    std::vector<std::pair<double, Candidate*>> ranked;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (times[i].size() < kRounds) continue;
      ranked.push_back({price(median_in_place(times[i]), all[i].policy), &all[i]});
    }
    std::sort(ranked.begin(), ranked.end());
    for (const auto& [us, candidate] : ranked) {
      if (!bench_.check(*candidate)) continue;
      best_ = candidate->policy;
      return;
    }
  }

  std::vector<TransformPolicy> alternating_policies(const TransformPolicy& base) const {
    std::vector<TransformPolicy> all;
    if (problem_.shape.rank() == 3 && (problem_.real || !base.factors.empty())) return all;
    const std::int64_t group = group_values(problem_, base) * (kSingle ? 8 : 16);
    for (const std::int64_t bytes : {1ll << 20, 2ll << 20, 4ll << 20, 8ll << 20, 16ll << 20}) {
      for (int streams = 1; streams <= 4; ++streams) {
        TransformPolicy policy = base;
        policy.alternating_groups = static_cast<int>(std::max<std::int64_t>(1, bytes / group));
        policy.streams = streams;
        const bool same = !all.empty() && all.back().alternating_groups == policy.alternating_groups &&
                          all.back().streams >= streams;
        if (same || policy.alternating_groups * group * streams > kCacheShare) continue;
        for (const bool ring : {true, false}) {
          if (!ring && !alternates_in_place(problem_, kSingle, base.factors)) continue;
          policy.ring_buffer = ring;
          all.push_back(with_caching(policy, Loads::bypass_l1, true));
          all.push_back(with_caching(policy, Loads::cached, false));
        }
      }
    }
    return all;
  }

  DenseProblem problem_;
  Formats formats_;
  Limits limits_;
  std::vector<TunedTrial>* trials_;
  TrialBench<Real> bench_;
  TransformPolicy best_;
  double best_us_ = std::numeric_limits<double>::infinity();
  std::vector<std::pair<double, TransformPolicy>> finalists_;  ///< fastest first
};

}  // namespace

Limits limits_of(int device) {
  const cuda::DeviceInfo& info = cuda::device_info(device);
  return {info.shared_bytes_per_block, info.major >= kMajorOfProducts, info.multiprocessors};
}

std::vector<KernelPolicy> ranked_by_rules(LineNeed need, bool single, const Limits& limits, std::size_t max) {
  need.products = prefers_products(need);
  std::vector<KernelPolicy> ranked = products(need, limits);
  if (ranked.empty()) ranked = candidates(need, single, limits, max);
  if (ranked.size() > max) ranked.resize(max);
  for (KernelPolicy& kernel : ranked) {
    if (need.narrow_bytes == 0) kernel.twiddles = Twiddles::two_roots;
    if (!kernel.tensor_cores && alone_on_multiprocessor(kernel, single)) {
      kernel.prefetch_distance = kUsualPrefetchDistance;
      kernel.multiprocessor_delay = kUsualMultiprocessorDelay;
    }
  }
  return ranked;
}

TransformPolicy choose_by_rules(const DenseProblem& problem, bool single, const Formats& formats,
                                const std::function<bool(const TransformPolicy&)>& accepts) {
  std::optional<TransformPolicy> first;
  const Limits limits = limits_of(problem.device);
  std::string why = "no factors that a block can hold";
  for (const std::vector<int>& factors : factors_of(problem, single, limits)) {
    TransformPolicy policy;
    policy.factors = factors;
    const std::vector<LineNeed> needs = needs_of(problem, single, factors, limits, why, formats);
    for (const LineNeed& need : needs) {
      const std::vector<KernelPolicy> best = ranked_by_rules(need, single, limits, 1);
      if (!best.empty()) policy.kernels.push_back(best.front());
    }
    if (needs.empty() || policy.kernels.size() != needs.size()) continue;
    if (!accepts || accepts(policy)) return policy;
    if (!first) first = policy;
  }
  if (first) return *first;
  throw Error(ErrorCode::backend_unavailable,
              fmt::format("no kernel for {}: {}", problem.shape.to_string(), why));
}

namespace {

/// What a search depends on in addition to the machine.
std::string key_of(const DenseProblem& problem, bool single, const Formats& formats) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {}", single, problem.real, problem.shape.to_string(),
                     problem.batch, fmt::join(problem.strides.dims, ","), problem.strides.batch,
                     problem.device, to_string(formats.source), to_string(formats.target),
                     to_string(formats.between));
}

}  // namespace

PlanPolicy choose_by_measurement(const DenseProblem& problem, bool single, std::vector<TunedTrial>* trials,
                                 const Formats& formats) {
  // Later plans of the same problem in one process need not search again. These objects are never destroyed,
  // because threads may plan while the process ends.
  static std::mutex& mutex = *new std::mutex;
  static std::map<std::string, PlanPolicy>& found = *new std::map<std::string, PlanPolicy>;
  const std::string key = key_of(problem, single, formats);
  if (trials == nullptr) {
    const std::lock_guard lock(mutex);
    if (const auto known = found.find(key); known != found.end()) return known->second;
  }
  const PlanPolicy policy =
      single ? Tuner<float>(problem, trials, formats).run() : Tuner<double>(problem, trials, formats).run();
  const std::lock_guard lock(mutex);
  return found[key] = policy;
}

}  // namespace tuned

std::vector<TunedTrial> tuned_trials(const DenseProblem& problem) {
  const cuda::DeviceScope scope(problem.device);
  std::vector<TunedTrial> trials;
  tuned::choose_by_measurement(problem, true, &trials);
  return trials;
}

}  // namespace sfft::detail
