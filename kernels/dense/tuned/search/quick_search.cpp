// SPDX-License-Identifier: Apache-2.0
// Times each step's kernels separately, combines the best, and lets whole transforms decide.
#include "kernels/dense/tuned/search/quick_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/dense/tuned/codegen/source.hpp"
#include "kernels/dense/tuned/plan/needs.hpp"
#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/search/trial_bench.hpp"
#include "kernels/dense/tuned/search/tuner.hpp"
#include "kernels/runtime/host_resources.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::tuned {

namespace {

constexpr std::size_t kRanks = 4;  ///< kernels per step that are considered
/// NVRTC parses one source at a time, for some 65 ms, and then optimises several concurrently, for 0.2 s.
/// More sources make planning longer than they make the winner faster.
constexpr std::size_t kMaxSources = 6;
constexpr double kClearlyFaster = 0.97;  ///< of the time of the rules' policy

}  // namespace

template <class Real>
QuickSearch<Real>::QuickSearch(const DenseProblem& problem, const std::string& known) : problem_(problem) {
  cuda::nvrtc();
  const Limits limits = limits_of(problem.device);
  const cuda::DeviceInfo& device = cuda::device_info(problem.device);
  architecture_ = fmt::format("sm_{}{}", device.major, device.minor);
  const auto cores = static_cast<std::size_t>(usable_processors());
  const TransformPolicy rules = choose_by_rules(problem, kSingle);
  if (!add(rules, false, cores)) {
    throw Error(ErrorCode::backend_unavailable,
                fmt::format("{} cores do not compile its kernels in time", cores));
  }
  wholes_.push_back(rules);
  if (const auto policies = known.empty() ? std::nullopt : parse_plan_policy(known)) {
    if (add(policies->own, false, cores)) wholes_.push_back(policies->own);
  }
  std::string why;
  const std::vector<LineNeed> needs = needs_of(problem, kSingle, rules.factors, limits, why);
  const std::size_t inverse_sources = problem.forward_only ? 0 : rules.kernels.size();
  const std::size_t max_sources = std::min(cores, kMaxSources);
  const std::size_t max_tried = max_sources - std::min(inverse_sources, max_sources);
  std::vector<std::vector<KernelPolicy>> ranked;
  for (const LineNeed& need : needs) ranked.push_back(ranked_by_rules(need, kSingle, limits, kRanks));
  for (std::size_t rank = 1; rank < kRanks; ++rank) {
    for (std::size_t step = 0; step < needs.size(); ++step) {
      if (rank >= ranked[step].size()) continue;
      TransformPolicy varied = rules;
      varied.kernels[step] = ranked[step][rank];
      if (!add(varied, false, max_tried)) continue;
      if (needs.size() == 1) {
        wholes_.push_back(varied);
      } else {
        variants_.push_back({varied, step});
      }
    }
  }
  if (!problem.forward_only) add(rules, true, sources_.size() + inverse_sources);
}

template <class Real>
bool QuickSearch<Real>::add(const TransformPolicy& policy, bool inverse, std::size_t max_sources) {
  std::vector<std::string> fresh;
  try {
    for (const Kernel& kernel :
         lay_out({problem_, kSingle, inverse, own_type<Real>(problem_)}, policy).kernels) {
      std::string source = source_of(kernel, kSingle);
      const auto is_known = [&source](const std::vector<std::string>& list) {
        return std::find(list.begin(), list.end(), source) != list.end();
      };
      if (!is_known(sources_) && !is_known(fresh)) fresh.push_back(std::move(source));
    }
  } catch (const Error&) {  // a policy of another problem
    return false;
  }
  if (sources_.size() + fresh.size() > max_sources) return false;
  std::move(fresh.begin(), fresh.end(), std::back_inserter(sources_));
  return true;
}

template <class Real>
bool QuickSearch<Real>::compile(Deadline deadline) const {
  const std::vector<Compiled> compiled = tuned::compile(sources_, architecture_, deadline);
  return std::none_of(compiled.begin(), compiled.end(), [](const Compiled& each) { return each.late; });
}

template <class Real>
TransformPolicy QuickSearch<Real>::fastest() const {
  const Deadline now = std::chrono::steady_clock::now();  // everything is compiled, or there was no time
  TrialBench<Real> bench(problem_);
  std::vector<Candidate> wholes, steps;
  for (const TransformPolicy& policy : wholes_) wholes.push_back({.policy = policy});
  if (!variants_.empty()) {
    for (std::size_t step = 0; step < wholes_.front().kernels.size(); ++step)
      steps.push_back({.policy = wholes_.front(), .only = step});
    for (const Variant& variant : variants_)
      steps.push_back({.policy = variant.policy, .only = variant.step});
    bench.compile(steps, now);
    TransformPolicy combined = wholes_.front();
    std::vector<double> best(combined.kernels.size(), std::numeric_limits<double>::infinity());
    for (Candidate& candidate : steps) {
      const std::size_t step = *candidate.only;
      const auto us = bench.time(candidate);
      if (!us || *us >= best[step]) continue;
      best[step] = *us;
      combined.kernels[step] = candidate.policy.kernels[step];
    }
    if (!(combined == wholes_.front())) wholes.push_back({.policy = combined});
  }
  bench.compile(wholes, now);
  std::vector<std::pair<double, Candidate*>> timed;
  for (Candidate& candidate : wholes) {
    const auto us = bench.time(candidate);
    if (us) timed.push_back({&candidate == &wholes.front() ? kClearlyFaster * *us : *us, &candidate});
  }
  std::stable_sort(timed.begin(), timed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [us, candidate] : timed) {
    if (bench.check(*candidate)) return candidate->policy;
  }
  throw Error(ErrorCode::backend_unavailable,
              fmt::format("no kernel for {} was ready in time: {}", problem_.shape.to_string(),
                          wholes.front().failure));
}

template class QuickSearch<float>;
template class QuickSearch<double>;

}  // namespace sfft::detail::tuned
