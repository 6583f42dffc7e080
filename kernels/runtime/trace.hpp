// SPDX-License-Identifier: Apache-2.0
// Ranges for profilers: NVTX ranges of the domain "sfft" around plans, stages and frames.
#pragma once

#include <atomic>
#include <cstdint>

namespace sfft::detail {

/// A range on the calling thread from the constructor to the destructor. Ranges nest. Without a profiler, or
/// in a build without NVTX, one costs a comparison, so it does not belong into inner loops.
class TraceRange {
 public:
  /// `name` is in static storage.
  explicit TraceRange(const char* name) noexcept : begun_(on()) {
    if (begun_) begin(name);
  }
  ~TraceRange() {
    if (begun_) end();
  }
  TraceRange(const TraceRange&) = delete;
  TraceRange& operator=(const TraceRange&) = delete;

  /// Ends the previous stage of the thread's innermost range and begins the stage `name`, which ends with the
  /// next one or with the range. Does nothing if this is the present stage.
  static void stage(const char* name) noexcept {
    if (on()) begin_stage(name);
  }

 private:
  enum class State : std::uint8_t { unknown, off, on };

  static bool on() noexcept {
    const State state = state_.load(std::memory_order_relaxed);
    return state == State::on || (state == State::unknown && find_tool());
  }
  /// Asks NVTX once per process whether a tool listens.
  static bool find_tool() noexcept;
  void begin(const char* name) noexcept;
  void end() noexcept;
  static void begin_stage(const char* name) noexcept;

  inline static constinit std::atomic<State> state_{State::unknown};
  inline static constinit thread_local TraceRange* current_ = nullptr;
  TraceRange* outer_ = nullptr;
  bool begun_;
  const char* stage_ = nullptr;
};

}  // namespace sfft::detail
