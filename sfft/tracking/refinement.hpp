// SPDX-License-Identifier: Apache-2.0
// Searches for a better plan on a thread of its own, while frames go through the one that is there.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>

#include "sfft/plan.hpp"

namespace sfft::detail {

/// One search at a time. Not thread-safe itself. The destructor waits for a search under way.
template <class Real>
class Refinement {
 public:
  struct Outcome {
    std::shared_ptr<const TemplateData> source;  ///< of the template that the plan is for
    std::optional<Plan<Real>> plan;              ///< nothing when the search failed
    std::string problem;                         ///< why
  };

  /// Asks for a plan. It is searched for now, or as soon as the search under way has ended, in place of
  /// whatever was asked for in between.
  void start(const Template& tmpl, const PlanOptions& options);
  /// What has been found since the last call, if anything; does not wait.
  std::optional<Outcome> poll();
  bool searching() const noexcept { return search_.valid(); }

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
