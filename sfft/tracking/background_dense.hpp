// SPDX-License-Identifier: Apache-2.0
// Dense transforms of a stream's frames, for comparison or in place of sparse transforms.
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

/// Dense transforms at a template's support. On a GPU, a separate thread transforms the frames that will be
/// compared, at the same time as sparse transforms of other frames. One frame's copy to the GPU overlaps with
/// the transform of another.
template <class Real>
class BackgroundDense {
 public:
  /// `where`: backend, device and threads of the sparse plan.
  explicit BackgroundDense(const PlanOptions& where) : where_(where) {}
  ~BackgroundDense() { forget(); }
  BackgroundDense(const BackgroundDense&) = delete;
  BackgroundDense& operator=(const BackgroundDense&) = delete;

  /// Maximum number of frames that are in flight, or done and not yet taken.
  static constexpr std::size_t kMax = 8;

  /// Changes to another template. `plan` is for that template, made with options(); without one, the plan is
  /// made when it is needed.
  void renew(std::optional<Plan<Real>> plan = std::nullopt) noexcept;
  /// The options for the plans of this class.
  PlanOptions options() const;
  /// Throws as the constructor of Plan and Plan::execute() do.
  void execute(const Template& tmpl, const SignalView& frame, Spectrum<Real>& spectrum);
  /// Submits a frame, unless it was submitted before. Its samples must not change until forget() or a
  /// keep_only() without this frame returns. Does nothing on a CPU, before a plan exists, and while kMax
  /// frames are pending.
  void begin(const SignalView& frame) noexcept;
  /// The spectrum of a submitted frame if it is ready; else null.
  const Spectrum<Real>* found(const SignalView& frame) noexcept;
  /// Number of frames that are transformed and not yet taken.
  std::size_t found() const noexcept { return done_ - first_; }
  /// This frame is no longer needed.
  void discard(const SignalView& frame) noexcept;
  /// Discards all frames but these. Waits for discarded frames that are in flight.
  void keep_only(std::span<const SignalView> frames) noexcept;
  /// Waits for work in progress and discards it.
  void forget() noexcept;
  /// Announces that the caller will soon submit frames and wait for their transforms.
  void prepare() noexcept;

 private:
  struct Pending {
    const void* samples = nullptr;  ///< samples of the frame; null: it is no longer needed
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
  void drop_discarded() noexcept;
  bool take_begun(const SignalView& frame, Spectrum<Real>& spectrum) noexcept;

  PlanOptions where_;
  /// While frames are in flight, only the thread uses the plan and the workspace.
  std::optional<Plan<Real>> plan_;
  Workspace workspace_;
  std::int64_t executed_ = 0;
  /// A ring. Frames are numbered from 0 again whenever none is pending. Those before first_ are discarded,
  /// those before done_ are transformed, and those before end_ are in flight.
  std::array<Pending, kMax> pending_;
  std::size_t first_ = 0;
  std::atomic<std::size_t> done_{0}, end_{0};
  std::size_t awaited_ = 0;              ///< frames sent to the GPU and not yet done; only the thread uses it
  std::atomic<bool> forgetting_{false};  ///< frames in flight need not be transformed
  Worker worker_{kAwake};                ///< the last member, because its jobs use the others
};

extern template class BackgroundDense<float>;
extern template class BackgroundDense<double>;

}  // namespace sfft::detail
