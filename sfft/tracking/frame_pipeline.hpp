// SPDX-License-Identifier: Apache-2.0
// Transforms the next frames of a tracker before it has decided about the current one.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sfft/plan.hpp"
#include "sfft/tracking/worker.hpp"

namespace sfft::detail {

/// Consecutive frames of a stream, which are known by their numbers in it.
struct StreamFrames {
  std::span<const SignalView> views;
  std::int64_t number = 0;  ///< of the first

  bool empty() const noexcept { return views.empty(); }
  std::size_t size() const noexcept { return views.size(); }
  const SignalView& front() const noexcept { return views.front(); }
  std::int64_t end() const noexcept { return number + static_cast<std::int64_t>(size()); }
  const SignalView& at(std::int64_t one) const noexcept {
    return views[static_cast<std::size_t>(one - number)];
  }
};

/// Transforms the next frames of a tracker before it has decided about the current one.
/// A GPU copies and transforms frames in parts, while the host decides about earlier frames. A CPU plan
/// transforms the frames of a call together. A failure ahead does not make the current frame fail: frames are
/// then transformed one by one, and only the frame that caused the failure reports it.
template <class Real>
class FramePipeline {
 public:
  explicit FramePipeline(const Plan<Real>& plan) : plan_(plan), workspace_(plan.make_workspace()) {}
  ~FramePipeline() { cancel(); }
  FramePipeline(const FramePipeline&) = delete;
  FramePipeline& operator=(const FramePipeline&) = delete;

  /// Changes to this plan. Frames that are ahead are transformed again, without another copy to the GPU if
  /// the plans differ only in the reference. Throws as make_workspace() does, and then keeps the old plan.
  void use(const Plan<Real>& plan);
  /// Whether transforms run at the same time as the host's work. Unused ones then cost the host nothing.
  bool overlaps() const noexcept;
  /// Moves the spectrum of the first frame into `spectrum`, and may submit up to `max` frames. The first
  /// `wanted` frames will be taken next, so they need not fill their last part. Later ones are submitted only
  /// in whole parts, because more frames may join them. Throws as Plan::execute() does for the first frame.
  void take(const StreamFrames& frames, std::size_t wanted, std::size_t max, Spectrum<Real>& spectrum);
  /// Submits up to `max` frames, which are the next to be taken, and does not wait for them. Submits only
  /// whole parts, because more frames may come. Samples must not change until they are taken or cancelled.
  /// Does nothing for plans that do not overlap.
  void submit(const StreamFrames& frames, std::size_t max) noexcept;
  /// How many spectra of these frames, from the first on, are ready.
  std::size_t ready(const StreamFrames& frames) const noexcept {
    return first_ < done_ && number_ == frames.number ? std::min(done_ - first_, frames.size()) : 0;
  }
  /// Number of frames that are ahead, ready or not.
  std::size_t submitted() const noexcept { return end_ - first_; }
  /// One of the ready spectra; 0: the first.
  const Spectrum<Real>& spectrum(std::size_t next) const noexcept {
    return spectra_[(first_ + next) % spectra_.size()];
  }
  /// Fetches the spectra that the GPU has finished. Does not wait.
  void poll() noexcept;
  /// Waits for frames in flight and discards everything that is ahead.
  void cancel() noexcept;
  /// Does, for frames like these, one-time work that the first frames would otherwise wait for.
  void prepare(std::span<const SignalView> frames);
  /// Lets transforms run ahead again after a failure.
  void try_again() noexcept { alone_ = false; }

 private:
  std::size_t part() const noexcept;
  void fit(std::size_t spectra);
  void submit_parts(const StreamFrames& frames, std::size_t wanted, std::size_t max) noexcept;
  void fill_ring(std::span<const SignalView> frames, std::size_t wanted, std::size_t max);
  std::size_t submit_part(std::span<const SignalView> frames);
  void execute_together(std::span<const SignalView> frames);
  void wait_for_first();
  bool resubmit(const Plan<Real>& plan) noexcept;
  std::size_t usable(std::span<const SignalView> frames) const noexcept;

  Plan<Real> plan_;
  Workspace workspace_;
  bool alone_ = false;  ///< after a failure: frames are transformed one by one
  /// A ring. Positions count from 0 again whenever nothing is ahead. Frames before first_ are taken, those
  /// before done_ are transformed, and those before end_ are in flight.
  std::vector<Spectrum<Real>> spectra_;
  std::size_t first_ = 0, done_ = 0, end_ = 0;
  std::int64_t number_ = 0;  ///< of the frame at first_, if anything is ahead
};

extern template class FramePipeline<float>;
extern template class FramePipeline<double>;

/// Dense transforms at a template's support. On a GPU, a separate thread transforms the frames that will be
/// compared, at the same time as sparse transforms of other frames. One frame's copy to the GPU overlaps with
/// the transform of another.
template <class Real>
class BackgroundDense {
 public:
  /// `where`: backend, device and threads of the sparse plan.
  explicit BackgroundDense(const PlanOptions& where) : where_(where) {}
  ~BackgroundDense() { cancel(); }
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
  void execute(const Template& tmpl, const SignalView& frame, std::int64_t number, Spectrum<Real>& spectrum);
  /// Submits a frame, unless it was submitted before. Its samples must not change until cancel() or a
  /// keep_only() without this frame returns. Does nothing on a CPU, before a plan exists, and while kMax
  /// frames are pending.
  void submit(const SignalView& frame, std::int64_t number) noexcept;
  /// The spectrum of a submitted frame if it is ready; else null.
  const Spectrum<Real>* found(std::int64_t number) noexcept;
  /// Number of frames that are transformed and not yet taken.
  std::size_t found() const noexcept { return done_ - first_; }
  /// This frame is no longer needed.
  void discard(std::int64_t number) noexcept;
  /// Discards all frames but these. Waits for discarded frames that are in flight.
  void keep_only(const StreamFrames& frames) noexcept;
  /// Waits for work in progress and discards it.
  void cancel() noexcept;
  /// Announces that the caller will soon submit frames and wait for their transforms.
  void prepare() noexcept;

 private:
  struct Pending {
    std::int64_t number = 0;  ///< of the frame
    bool needed = false;
    Spectrum<Real> spectrum;
    bool sent = false;  ///< to the GPU
    bool failed = false;
  };

  void make(const Template& tmpl);
  Pending& pending(std::size_t at) noexcept { return pending_[at % kMax]; }
  std::size_t find(std::int64_t number) noexcept;
  void transform(std::size_t at, const SignalView& frame) noexcept;
  void send(std::size_t at, const SignalView& frame) noexcept;
  void receive(std::size_t at) noexcept;
  void fail(std::size_t first, std::size_t end) noexcept;
  bool wait_for(std::size_t at) noexcept;
  void drop_discarded() noexcept;
  bool take_submitted(const SignalView& frame, std::int64_t number, Spectrum<Real>& spectrum) noexcept;

  PlanOptions where_;
  /// While frames are in flight, only the thread uses the plan and the workspace.
  std::optional<Plan<Real>> plan_;
  Workspace workspace_;
  std::int64_t executed_ = 0;
  /// A ring. Positions count from 0 again whenever none is pending. Frames before first_ are discarded, those
  /// before done_ are transformed, and those before end_ are in flight.
  std::array<Pending, kMax> pending_;
  std::size_t first_ = 0;
  std::atomic<std::size_t> done_{0}, end_{0};
  std::size_t awaited_ = 0;              ///< frames sent to the GPU and not yet done; only the thread uses it
  std::atomic<bool> cancelling_{false};  ///< frames in flight need not be transformed
  Worker worker_{kAwake};                ///< the last member, because its jobs use the others
};

extern template class BackgroundDense<float>;
extern template class BackgroundDense<double>;

}  // namespace sfft::detail
