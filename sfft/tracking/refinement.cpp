// SPDX-License-Identifier: Apache-2.0
// A future per search; one that fails says why, and nothing else changes.
#include "sfft/tracking/refinement.hpp"

#include <chrono>
#include <exception>
#include <system_error>

namespace sfft::detail {

template <class Real>
void Refinement<Real>::begin(const Wish& wish) {
  const auto search = [wish] {
    Outcome outcome{wish.tmpl.data(), std::nullopt, {}};
    try {
      outcome.plan.emplace(wish.tmpl, wish.options);
    } catch (const std::exception& error) {
      outcome.problem = error.what();
    }
    return outcome;
  };
  try {
    search_ = std::async(std::launch::async, search);
  } catch (const std::system_error&) {  // no further thread: the plan in force stays
  }
}

template <class Real>
void Refinement<Real>::start(const Template& tmpl, const PlanOptions& options) {
  next_ = Wish{tmpl, options};
  if (searching()) return;
  const Wish wish = *next_;
  next_.reset();
  begin(wish);
}

template <class Real>
auto Refinement<Real>::poll() -> std::optional<Outcome> {
  if (!searching() || search_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return std::nullopt;
  Outcome outcome = search_.get();
  if (next_) {
    const Wish wish = *next_;
    next_.reset();
    begin(wish);
  }
  return outcome;
}

template class Refinement<float>;
template class Refinement<double>;

}  // namespace sfft::detail
