// SPDX-License-Identifier: Apache-2.0
// Searches for a better plan on a separate thread, while frames use the plan in force.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>

#include "sfft/plan.hpp"

namespace sfft::detail {

/// Runs one search at a time. Not thread-safe. The destructor waits for a search in progress.
template <class Real>
class Refinement {
 public:
  struct Outcome {
    std::shared_ptr<const TemplateData> source;  ///< the template that the plan is for
    std::optional<Plan<Real>> plan;              ///< empty if the search failed
    std::string problem;                         ///< why the search failed
  };

  /// Starts a search. If another one is in progress, the new search starts when that has ended, and replaces
  /// any other that is waiting.
  void start(const Template& tmpl, const PlanOptions& options);
  /// The outcome of a search that has ended since the last call, if any. Does not wait.
  std::optional<Outcome> poll();
  bool searching() const noexcept { return search_.valid(); }

  std::string note;                                  ///< the outcome of the latest search, in words
  std::shared_ptr<const TemplateData> searched_for;  ///< template of the latest search

 private:
  struct Request {
    Template tmpl;
    PlanOptions options;
  };
  void begin(const Request& request);

  std::optional<Request> next_;
  std::future<Outcome> search_;
};

}  // namespace sfft::detail
