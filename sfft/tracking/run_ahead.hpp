// SPDX-License-Identifier: Apache-2.0
// Transforms the next frames of a tracker before it has decided about the current one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "sfft/plan.hpp"

namespace sfft::detail {

/// A GPU copies and transforms frames in parts, while the host decides about earlier frames. A CPU plan
/// transforms the frames of a call together. A failure ahead does not make the current frame fail: frames are
/// then transformed one by one, and only the frame that caused the failure reports it.
template <class Real>
class RunAhead {
 public:
  explicit RunAhead(const Plan<Real>& plan) : plan_(plan), workspace_(plan.make_workspace()) {}
  ~RunAhead() { forget(); }
  RunAhead(const RunAhead&) = delete;
  RunAhead& operator=(const RunAhead&) = delete;

  /// Changes to this plan. Frames that are ahead are transformed again, without another copy to the GPU if
  /// the plans differ only in the reference. Throws as make_workspace() does, and then keeps the old plan.
  void use(const Plan<Real>& plan);
  /// Whether transforms run at the same time as the host's work. Unused ones then cost the host nothing.
  bool overlaps() const noexcept;
  /// Moves the spectrum of the first frame into `spectrum`, and may submit up to `max` frames. The first
  /// `wanted` frames will be taken next, so they need not fill their last part. Later ones are submitted only
  /// in whole parts, because more frames may join them. Throws as Plan::execute() does for the first frame.
  void take(std::span<const SignalView> frames, std::size_t wanted, std::size_t max,
            Spectrum<Real>& spectrum);
  /// Submits up to `max` frames, which are the next to be taken, and does not wait for them. Submits only
  /// whole parts, because more frames may come. Samples must not change until they are taken or forgotten.
  /// Does nothing for plans that do not overlap.
  void begin(std::span<const SignalView> frames, std::size_t max) noexcept;
  /// How many spectra of these frames, from the first on, are ready.
  std::size_t ready(std::span<const SignalView> frames) const noexcept {
    const bool same = first_ < done_ && !frames.empty() && owner(first_) == frames[0].data();
    return same ? std::min(done_ - first_, frames.size()) : 0;
  }
  /// One of the ready spectra; 0: the first.
  const Spectrum<Real>& spectrum(std::size_t next) const noexcept {
    return spectra_[(first_ + next) % spectra_.size()];
  }
  /// Fetches the spectra that the GPU has finished. Does not wait.
  void collect() noexcept;
  /// Waits for frames in flight and discards everything that is ahead.
  void forget() noexcept;
  /// Does, for frames like these, one-time work that the first frames would otherwise wait for.
  void prepare(std::span<const SignalView> frames);
  /// Lets transforms run ahead again after a failure.
  void try_again() noexcept { alone_ = false; }

 private:
  const void*& owner(std::size_t at) noexcept { return owners_[at % owners_.size()]; }
  const void* owner(std::size_t at) const noexcept { return owners_[at % owners_.size()]; }
  std::size_t part() const noexcept;
  void fit(std::size_t spectra);
  void begin_parts(std::span<const SignalView> frames, std::size_t wanted, std::size_t max) noexcept;
  void fill_ring(std::span<const SignalView> frames, std::size_t wanted, std::size_t max);
  std::size_t begin_part(std::span<const SignalView> frames);
  void execute_together(std::span<const SignalView> frames);
  void await_first();
  bool again(const Plan<Real>& plan) noexcept;
  std::size_t usable(std::span<const SignalView> frames) const noexcept;

  Plan<Real> plan_;
  Workspace workspace_;
  bool alone_ = false;  ///< after a failure: frames are transformed one by one
  /// A ring. Frames are numbered from 0 again whenever nothing is ahead. Those before first_ are taken, those
  /// before done_ are transformed, and those before end_ are in flight.
  std::vector<Spectrum<Real>> spectra_;
  std::vector<const void*> owners_;  ///< samples of each spectrum's frame
  std::size_t first_ = 0, done_ = 0, end_ = 0;
};

extern template class RunAhead<float>;
extern template class RunAhead<double>;

}  // namespace sfft::detail
