// SPDX-License-Identifier: Apache-2.0
// Gives the calling thread a scope or a budget of its memory, and translates the way in which stopped calls
// end.
#include "sfft/run_control.hpp"

#include "kernels/runtime/memory_budget.hpp"
#include "kernels/runtime/run_scope.hpp"
#include "sfft/error.hpp"

namespace sfft {

void run_with_control(const std::stop_token& stop, const ProgressReport& progress,
                      const std::function<void()>& work) {
  detail::RunScope scope(stop, progress);
  const detail::RunScope::Use use(&scope);
  try {
    work();
  } catch (const detail::Stopped&) {
    if (scope.failure()) std::rethrow_exception(scope.failure());
    throw Error(ErrorCode::stopped, "stopped on request");
  }
}

void run_with_memory_limit(std::size_t bytes, const std::function<void()>& work) {
  const detail::BudgetReference budget(bytes);
  const detail::MemoryBudget::Use use(budget.get());
  work();
}

}  // namespace sfft
