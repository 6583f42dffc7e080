// SPDX-License-Identifier: Apache-2.0
// A kept plan serves only the request that it was made for, because a planner may decide otherwise for
// another request. If no kept plan matches, the closest one says why.
#include "sfft/plan/kept.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfft/plan/device_memory.hpp"
#include "sfft/sfft.hpp"

namespace sfft::detail {

namespace {

constexpr std::size_t kMaxPlans = 64;

const char* name(PlanEffort effort) {
  return effort == PlanEffort::quick ? "quick" : effort == PlanEffort::normal ? "normal" : "thorough";
}

/// The most important difference between two requests, and the number of options that agreed before it.
struct Difference {
  int agreed = 0;
  std::string text;  ///< empty: they agree
};

Difference difference(const PlanKey& made_for, const PlanKey& asked) {
  Difference result;
  const auto compare = [&](const auto& a, const auto& b, const char* format) {
    if (!result.text.empty()) return;
    if (a == b) {
      ++result.agreed;
    } else {
      result.text = fmt::format(fmt::runtime(format), a, b);
    }
  };
  const auto place = [](const PlanKey& key) {
    return key.device.empty() ? std::string(to_string(key.backend))
                              : fmt::format("{} ({})", to_string(key.backend), key.device);
  };
  const auto arithmetic = [](const PlanKey& key) { return key.single ? "float" : "double"; };
  const auto frames = [](const PlanKey& key) {
    return key.reference ? "differences to a reference" : "whole frames";
  };
  compare(made_for.library, asked.library, "it was made by version {} of the library, this is {}");
  compare(place(made_for), place(asked), "it was made for the {}, not the {}");
  compare(std::string(arithmetic(made_for)), std::string(arithmetic(asked)), "it was made for {}, not {}");
  compare(std::string(frames(made_for)), std::string(frames(asked)), "it was made for {}, not {}");
  compare(std::string(to_string(made_for.path)), std::string(to_string(asked.path)),
          "it was made with path = {}, not {}");
  // A plan from a longer search also serves requests for a shorter one.
  if (made_for.effort < asked.effort)
    compare(std::string(name(made_for.effort)), std::string(name(asked.effort)),
            "it was made with effort = {}, not {}");
  compare(made_for.accuracy, asked.accuracy, "it was made with accuracy = {}, not {}");
  const auto budget = [](double share) { return share > 0 ? fmt::format("{}", share) : "automatic"; };
  compare(budget(made_for.max_samples), budget(asked.max_samples),
          "it was made with max_samples = {}, not {}");
  const auto place_of_frames = [](const PlanKey& key) {
    return std::string(key.page_locked_frames ? "in page-locked memory" : "anywhere");
  };
  compare(place_of_frames(made_for), place_of_frames(asked), "it was made for frames {}, not {}");
  compare(made_for.batch, asked.batch, "it was made with batch = {}, not {}");
  compare(made_for.seed, asked.seed, "it was made with seed = {}, not {}");
  compare(made_for.burst, asked.burst, "it was made with burst = {}, not {}");
  compare(made_for.burst_miss, asked.burst_miss, "it was made with burst_miss = {}, not {}");
  return result;
}

}  // namespace

template <class Real>
PlanKey plan_key(const PlanOptions& options, bool reference) {
  PlanKey key;
  key.library = version();
  key.single = sizeof(Real) == sizeof(float);
  key.backend = options.device.backend();
  if (key.backend == Backend::cuda) key.device = device_traits(options.device.gpu_number()).name;
  key.reference = reference;
  key.path = options.path;
  key.effort = options.effort;
  key.accuracy = options.accuracy;
  key.max_samples = options.max_samples.value_or(0);
  key.batch = options.batch;
  key.seed = options.seed;
  if (options.burst > 0) {
    key.burst = options.burst;
    key.burst_miss = options.burst_miss;
  }
  const bool rows =
      options.transfer == PlanOptions::Transfer::automatic || options.transfer == PlanOptions::Transfer::rows;
  if (key.backend == Backend::cuda && rows) key.page_locked_frames = options.page_locked_frames;
  return key;
}

template PlanKey plan_key<float>(const PlanOptions&, bool);
template PlanKey plan_key<double>(const PlanOptions&, bool);

KeptMatch find_kept(const TemplateData& data, const PlanKey& key) {
  KeptMatch match;
  Difference nearest{-1, {}};
  for (const KeptPlan& plan : data.plans) {
    if (plan.key == key) return {&plan, {}};
    Difference found = difference(plan.key, key);
    if (found.text.empty()) match.plan = &plan;
    if (found.agreed > nearest.agreed) nearest = std::move(found);
  }
  if (match.plan != nullptr) return match;
  match.why_not = nearest.agreed < 0 ? data.plans_problem : nearest.text;
  return match;
}

void keep(TemplateData& data, const KeptPlan& plan) {
  std::erase_if(data.plans, [&](const KeptPlan& other) { return other.key == plan.key; });
  if (data.plans.size() >= kMaxPlans) data.plans.erase(data.plans.begin());
  data.plans.push_back(plan);
}

bool same_to_a_planner(const TemplateData& a, const TemplateData& b) {
  return &a == &b || (a.shape == b.shape && a.real == b.real && *a.support == *b.support &&
                      a.values.empty() == b.values.empty() && a.power == b.power &&
                      a.tail_energy == b.tail_energy && a.tail_envelope.power == b.tail_envelope.power &&
                      a.change_envelope.power == b.change_envelope.power);
}

}  // namespace sfft::detail
