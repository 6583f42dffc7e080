// SPDX-License-Identifier: Apache-2.0
// Lets long calls report their progress and end on request (sfft/run_control.hpp). A call polls where nothing
// is half done: between the parts of a pass, the candidates of a search, the rounds of a discovery.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>
#include <thread>
#include <utility>

#include "kernels/runtime/trace.hpp"

namespace sfft::detail {

/// Thrown by polls after a request to stop; run_with_control() turns it into Error(ErrorCode::stopped). Not
/// derived from std::exception, so that handlers which continue after an error do not swallow it.
struct Stopped {};

/// The request to stop and the reports of the calls that one thread, the owner, makes in run_with_control().
class RunScope {
 public:
  using Report = std::function<bool(const char* stage, double share)>;

  RunScope(std::stop_token stop, const Report& report) : stop_(std::move(stop)), report_(report) {}
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

  /// The scope of the calling thread, or null.
  static RunScope* current() noexcept { return current_; }

  /// While this object exists, `scope` is that of the calling thread. `part`: the work is one part of a loop
  /// whose progress is reported, so that its own stages and loops poll, but report nothing.
  class Use {
   public:
    explicit Use(RunScope* scope, bool part = false) noexcept : outer_(current_), outer_part_(in_part_) {
      current_ = scope;
      in_part_ = part;
    }
    ~Use() {
      current_ = outer_;
      in_part_ = outer_part_;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    RunScope* outer_;
    bool outer_part_;
  };
  /// Whether the calling thread works on a part of a loop.
  static bool in_part() noexcept { return in_part_; }

  /// Whether work should end. On the owner's thread it may report first.
  bool stopped() noexcept;
  /// Throws Stopped if work should end.
  void poll() {
    if (stopped()) throw Stopped{};
  }
  /// Begins another stage of the work; `name` is in static storage. Polls. For the owner's thread.
  void enter(const char* name) {
    if (!in_part_) {
      stage_ = name;
      share_ = 0;
    }
    poll();
  }
  /// `share` of the stage is done.
  void reached(double share) noexcept { share_.store(share, std::memory_order_relaxed); }
  /// What a report has thrown; null if none has. For the owner's thread.
  const std::exception_ptr& failure() const noexcept { return failure_; }

 private:
  using Clock = std::chrono::steady_clock;

  // initial-exec, because transforms of some hundred nanoseconds would notice a slower read.
  [[gnu::tls_model("initial-exec")]] inline static constinit thread_local RunScope* current_ = nullptr;
  inline static constinit thread_local bool in_part_ = false;
  const std::stop_token stop_;
  const Report& report_;
  const std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<const char*> stage_{"working"};
  std::atomic<double> share_{0};
  Clock::time_point reported_ = Clock::now();
  std::atomic<bool> ended_{false};  ///< by the report
  std::exception_ptr failure_;      ///< of the report; the owner writes it before ended_
};

/// Polls between the parts of a loop, which several threads may share, in the scope of the thread that made
/// this object. Does nothing without a scope.
class LoopPolls {
 public:
  /// `parts`: of the whole loop, to report the share that is done.
  explicit LoopPolls(std::int64_t parts) noexcept : scope_(RunScope::current()), parts_(parts) {}

  /// Call before each part. True: leave it out.
  bool stopped() noexcept {
    if (scope_ == nullptr) return false;
    if (in_part_) return scope_->stopped();
    const std::int64_t begun = begun_.fetch_add(1, std::memory_order_relaxed);
    scope_->reached(static_cast<double>(begun) / static_cast<double>(std::max(begun + 1, parts_)));
    return scope_->stopped();
  }
  /// The same, but throws Stopped.
  void poll() {
    if (stopped()) throw Stopped{};
  }
  /// Call after the loop on the thread that made this object: throws Stopped if parts were left out.
  void finish() const {
    if (scope_ != nullptr) scope_->poll();
  }
  RunScope* scope() const noexcept { return scope_; }
  /// Whether the loop is within a part of another one, and reports nothing.
  bool in_part() const noexcept { return in_part_; }

 private:
  RunScope* scope_;
  std::int64_t parts_;
  bool in_part_ = RunScope::in_part();
  std::atomic<std::int64_t> begun_{0};
};

/// Ends the call if this was requested. Costs one comparison without a scope.
inline void poll_stop() {
  if (RunScope* scope = RunScope::current()) scope->poll();
}
/// Calls work(begin, end) for blocks of [0, count), and polls between them.
template <class Work>
void in_blocks(std::size_t count, const Work& work) {
  constexpr std::size_t kBlock = std::size_t{1} << 18;
  LoopPolls polls(static_cast<std::int64_t>((count + kBlock - 1) / kBlock));
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    polls.poll();
    work(begin, std::min(count, begin + kBlock));
  }
}
/// In a scope, touches fresh memory, so that polls come between the page faults, which take most of the time
/// of a first pass over it.
inline void touch(std::byte* memory, std::size_t bytes) {
  constexpr std::size_t kPage = 4096, kBlock = std::size_t{2} << 20;
  LoopPolls polls(static_cast<std::int64_t>(bytes / kBlock + 1));
  for (std::size_t begin = 0; polls.scope() != nullptr && begin < bytes; begin += kBlock) {
    polls.poll();
    for (std::size_t at = begin; at < std::min(bytes, begin + kBlock); at += kPage) memory[at] = std::byte{};
  }
}
/// Begins a stage of a long call, for reports and for profilers.
inline void enter_stage(const char* name) {
  TraceRange::stage(name);
  if (RunScope* scope = RunScope::current()) scope->enter(name);
}

}  // namespace sfft::detail
