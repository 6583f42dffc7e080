// SPDX-License-Identifier: Apache-2.0
// Finds the plan that a template keeps for a request.
#pragma once

#include <string>

#include "sfft/plan.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

/// The request that options stand for; `options.device` is not automatic.
template <class Real>
PlanKey plan_key(const PlanOptions& options, bool reference);

struct KeptMatch {
  const KeptPlan* plan = nullptr;  ///< owned by the template's data
  std::string why_not;             ///< why there is none, if the template keeps plans or could not read them
};
KeptMatch find_kept(const TemplateData& data, const PlanKey& key);

/// Adds a plan to a template's data and replaces one with the same key. If the template is full, drops the
/// oldest plan.
void keep(TemplateData& data, const KeptPlan& plan);

/// Whether planning finds the same for both, because support and knowledge of amplitudes are the same.
bool same_to_a_planner(const TemplateData& a, const TemplateData& b);

}  // namespace sfft::detail
