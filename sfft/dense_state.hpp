// SPDX-License-Identifier: Apache-2.0
// What is behind the plans of every output: the request, and the runner that planning chose for it.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "kernels/dense/request/runner.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"
#include "kernels/runtime/log.hpp"
#include "kernels/runtime/trace.hpp"
#include "sfft/dense_options.hpp"
#include "sfft/error.hpp"

namespace sfft::dense::detail {

/// Behind the accessors of AnyPlan.
class PlanState {
 public:
  PlanState(const Options& asked, const sfft::detail::DenseProblem& checked)
      : options(asked), problem(checked) {}
  virtual ~PlanState() = default;
  PlanState(const PlanState&) = delete;
  PlanState& operator=(const PlanState&) = delete;

  virtual const sfft::detail::AnyRunner& any_runner() const noexcept = 0;
  virtual std::string explain() const { return fmt::format("{}\n{}", reason, any_runner().explain()); }

  Options options;
  sfft::detail::DenseProblem problem;
  Engine engine = Engine::automatic;
  std::string reason;
  std::size_t workspace_bytes = 0, device_workspace_bytes = 0;
};

template <class Call>
class StateOf : public PlanState {
 public:
  const sfft::detail::AnyRunner& any_runner() const noexcept final { return *runner; }

  std::unique_ptr<const sfft::detail::Runner<Call>> runner;

 protected:
  using PlanState::PlanState;

  /// Stores the choice that `choose` returns. `kind` names the plan for profilers.
  template <class Choose>
  void plan(const char* kind, const Choose& choose) {
    const sfft::detail::TraceRange range(kind);
    try {
      sfft::detail::Choice<Call> choice = choose();
      runner = std::move(choice.runner);
      engine = choice.engine;
      reason = std::move(choice.reason);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("no memory to plan a transform of {}", problem.shape.to_string()));
    }
    workspace_bytes = runner->workspace_bytes();
    device_workspace_bytes = runner->device_workspace_bytes();
  }
  /// Logs which engine planning chose.
  template <class Real>
  void log() const {
    sfft::detail::log_decision("dense", [&] {
      const sfft::detail::WisdomProblem named = sfft::detail::wisdom_problem<Real>(problem);
      return fmt::format("{}, batch {}: {}: {}", named.transform, named.batch, runner->name(), reason);
    });
  }
};

}  // namespace sfft::dense::detail
