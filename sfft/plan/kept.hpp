// SPDX-License-Identifier: Apache-2.0
// Finds the plan that a template keeps for a request.
#pragma once

#include <string>

#include "sfft/plan.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

/// The request that options make; `options.device` is not automatic.
template <class Real>
PlanKey plan_key(const PlanOptions& options, bool reference);

struct KeptMatch {
  const KeptPlan* plan = nullptr;  ///< of the template's data
  std::string why_not;             ///< why there is none, if the template keeps plans or could not read them
};
KeptMatch find_kept(const TemplateData& data, const PlanKey& key);

/// Adds a plan to a template's data, in place of one with the same key. If there are very many plans, drops
/// the oldest one.
void keep(TemplateData& data, const KeptPlan& plan);

/// Whether planning finds the same for both: they have the same support and know the same about amplitudes.
bool same_to_a_planner(const TemplateData& a, const TemplateData& b);

}  // namespace sfft::detail
