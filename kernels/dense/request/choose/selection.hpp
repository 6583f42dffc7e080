// SPDX-License-Identifier: Apache-2.0
// Times engines against each other and keeps the fastest.
#pragma once

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "kernels/base/math/quantiles.hpp"
#include "kernels/dense/request/runner.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"
#include "kernels/runtime/run_scope.hpp"

namespace sfft::detail {

/// The median of a few runs after a warm-up run; run() returns microseconds. Stops early once the
/// runs have taken long enough.
template <class Run>
double median_us(const Run& run) {
  constexpr std::size_t kRuns = 15;
  constexpr double kEnoughUs = 200e3;
  std::vector<double> times;
  double total = run();
  while (times.size() < kRuns && (times.size() < 3 || total < kEnoughUs)) {
    times.push_back(run());
    total += times.back();
  }
  return median_in_place(times);
}

/// Takes candidate engines and keeps the fastest. Skips engines that cannot do the problem or lack memory.
template <class Call>
class Selection {
 public:
  template <class Make, class Measure>
  void enter(dense::Engine engine, const char* name, const Make& make, const Measure& measure) {
    enter_stage("planning: timing engines");
    try {
      auto runner = make();
      const double us = measure(*runner);
      note(fmt::format("{} {:.4g} us", name, us));
      if (best_.runner != nullptr && us >= us_) return;
      us_ = us;
      best_.engine = engine;
      best_.runner = std::move(runner);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::backend_unavailable && error.code() != ErrorCode::out_of_memory) throw;
      note(fmt::format("{} cannot", name));
      lacked_memory_ = lacked_memory_ || error.code() == ErrorCode::out_of_memory;
      if (!failure_) failure_ = std::current_exception();
    }
  }

  /// Returns the fastest; `remember(entry)` gets its entry for wisdom. If no engine worked, rethrows the
  /// error of the first one.
  template <class Remember>
  Choice<Call> winner(const Remember& remember) {
    if (best_.runner == nullptr) std::rethrow_exception(failure_);
    remember(WisdomEntry{dense::to_string(best_.engine), best_.runner->kernel(), us_});
    best_.reason = "measured: " + notes_;
    return std::move(best_);
  }

  /// Whether an engine could not be tried for lack of memory.
  bool lacked_memory() const noexcept { return lacked_memory_; }

 private:
  void note(const std::string& text) { notes_ += (notes_.empty() ? "" : ", ") + text; }

  Choice<Call> best_;
  double us_ = 0;
  std::string notes_;
  std::exception_ptr failure_;
  bool lacked_memory_ = false;
};

}  // namespace sfft::detail
