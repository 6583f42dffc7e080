// SPDX-License-Identifier: Apache-2.0
// Frames of a stream that are also transformed densely, to compare or in place of a sparse transform.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sfft/plan.hpp"
#include "sfft/tracking/worker.hpp"

namespace sfft::detail {

/// Dense transforms at a template's support. On a GPU, those of frames which will be compared run
/// concurrently, on a thread of its own, while others go through their sparse transforms. One frame's copy to
/// the GPU overlaps with the transform of another.
template <class Real>
class BackgroundDense {
 public:
  /// `where`: backend, device and threads of the sparse plan.
  explicit BackgroundDense(const PlanOptions& where) : where_(where) {}
  ~BackgroundDense() { forget(); }
  BackgroundDense(const BackgroundDense&) = delete;
  BackgroundDense& operator=(const BackgroundDense&) = delete;

  /// Frames that can be under way, or done and not asked for yet.
  static constexpr std::size_t kMax = 8;

  /// The template is another: `plan` is for it, made with options(), or will be made when it is needed.
  void renew(std::optional<Plan<Real>> plan = std::nullopt) noexcept;
  /// The options of its plans.
  PlanOptions options() const;
  /// Throws what Plan and Plan::execute() throw.
  void execute(const Template& tmpl, const SignalView& frame, Spectrum<Real>& spectrum);
  /// Begins with a frame, unless it has been begun, whose samples must stay what they are until keep_only()
  /// without it or forget() returns. Does nothing on a CPU, before the first frame and while others take all
  /// the room.
  void begin(const SignalView& frame) noexcept;
  /// The spectrum of a frame that was begun, if it is there; else null.
  const Spectrum<Real>* found(const SignalView& frame) noexcept;
  /// How many are there that nobody has asked for.
  std::size_t found() const noexcept { return done_ - first_; }
  /// This frame is no longer needed.
  void pass(const SignalView& frame) noexcept;
  /// Nobody asks for other frames than these any more: waits for those that are under way.
  void keep_only(std::span<const SignalView> frames) noexcept;
  /// Waits for work in progress and discards it.
  void forget() noexcept;
  /// Announces that frames whose transforms the caller will wait for are submitted soon.
  void attend() noexcept;

 private:
  struct Pending {
    const void* samples = nullptr;  ///< of the frame; null: nobody asks for it any more
    Spectrum<Real> spectrum;
    bool sent = false;  ///< to the GPU
    bool failed = false;
  };

  void make(const Template& tmpl);
  Pending& pending(std::size_t at) noexcept { return pending_[at % kMax]; }
  std::size_t find(const void* samples) noexcept;
  void transform(std::size_t at, const SignalView& frame) noexcept;
  void send(std::size_t at, const SignalView& frame) noexcept;
  void receive(std::size_t at) noexcept;
  void fail(std::size_t first, std::size_t end) noexcept;
  bool await(std::size_t at) noexcept;
  void drop_passed() noexcept;
  bool take_begun(const SignalView& frame, Spectrum<Real>& spectrum) noexcept;

  PlanOptions where_;
  std::optional<Plan<Real>> plan_;  ///< the thread's while frames are under way, like the workspace
  Workspace<Real> workspace_;
  std::int64_t executed_ = 0;
  /// A ring; frames are counted from when none was under way: those before first_ are gone, those before
  /// done_ transformed, those before end_ under way.
  std::array<Pending, kMax> pending_;
  std::size_t first_ = 0;
  std::atomic<std::size_t> done_{0}, end_{0};
  std::size_t awaited_ = 0;              ///< the thread's: frames that it has taken and that are not done
  std::atomic<bool> forgetting_{false};  ///< frames that are under way need not be transformed
  Worker worker_{kAwake};                ///< the last one: its jobs use the others
};

extern template class BackgroundDense<float>;
extern template class BackgroundDense<double>;

}  // namespace sfft::detail
