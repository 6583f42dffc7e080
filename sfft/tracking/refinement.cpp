// SPDX-License-Identifier: Apache-2.0
// One future per search. A search that fails reports why and has no other effect.
#include "sfft/tracking/renewal.hpp"

#include "sfft/template_access.hpp"

#include <chrono>
#include <exception>
#include <system_error>

#include "kernels/runtime/memory_budget.hpp"
namespace sfft::detail {

template <class Real>
void Refinement<Real>::begin(const Request& request) {
  const auto search = [request, budget = BudgetReference()] {
    const MemoryBudget::Use use(budget.get());
    Outcome outcome{data_of(request.tmpl), std::nullopt, {}};
    try {
      outcome.plan.emplace(request.tmpl, request.options);
    } catch (const std::exception& error) {
      outcome.problem = error.what();
    }
    return outcome;
  };
  try {
    search_ = std::async(std::launch::async, search);
  } catch (const std::system_error&) {  // thread creation failed: the plan in force stays
  }
}

template <class Real>
void Refinement<Real>::start(const Template& tmpl, const PlanOptions& options) {
  next_ = Request{tmpl, options};
  if (searching()) return;
  const Request request = *next_;
  next_.reset();
  begin(request);
}

template <class Real>
auto Refinement<Real>::poll() -> std::optional<Outcome> {
  if (!searching() || search_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return std::nullopt;
  Outcome outcome = search_.get();
  if (next_) {
    const Request request = *next_;
    next_.reset();
    begin(request);
  }
  return outcome;
}

template class Refinement<float>;
template class Refinement<double>;

}  // namespace sfft::detail
