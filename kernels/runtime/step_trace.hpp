// SPDX-License-Identifier: Apache-2.0
// Measures the steps of learning and planning, for profiling programs.
#pragma once

#include <chrono>
#include <vector>

namespace sfft::detail {

/// While this object exists, step_done() on its thread adds a step: the time since the previous step or
/// start().
class StepTrace {
 public:
  struct Step {
    const char* name;
    double us;
  };

  StepTrace() noexcept : outer_(current_) { current_ = this; }
  ~StepTrace() { current_ = outer_; }
  StepTrace(const StepTrace&) = delete;
  StepTrace& operator=(const StepTrace&) = delete;

  void start() {
    steps_.clear();
    last_ = Clock::now();
  }
  void add(const char* name) {
    const Clock::time_point now = Clock::now();
    steps_.push_back({name, std::chrono::duration<double, std::micro>(now - last_).count()});
    last_ = now;
  }
  const std::vector<Step>& steps() const noexcept { return steps_; }

  static StepTrace* current() noexcept { return current_; }

 private:
  using Clock = std::chrono::steady_clock;
  inline static thread_local StepTrace* current_ = nullptr;
  StepTrace* outer_;
  Clock::time_point last_ = Clock::now();
  std::vector<Step> steps_;
};

/// Ends a step. Costs one comparison if no trace is active.
inline void step_done(const char* name) {
  if (StepTrace* trace = StepTrace::current()) trace->add(name);
}

}  // namespace sfft::detail
