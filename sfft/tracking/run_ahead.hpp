// SPDX-License-Identifier: Apache-2.0
// The frames that a tracker will come to next, transformed ahead of its decisions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "sfft/plan.hpp"

namespace sfft::detail {

/// A GPU's copies and transforms go on while the host decides about frames before them, in parts; a CPU plan
/// takes the frames of a call together. A failure ahead is no failure of the frame under way: frames are then
/// taken one by one, and the one that is to blame fails in its turn.
template <class Real>
class RunAhead {
 public:
  explicit RunAhead(const Plan<Real>& plan) : plan_(plan), workspace_(plan.make_workspace()) {}
  ~RunAhead() { forget(); }
  RunAhead(const RunAhead&) = delete;
  RunAhead& operator=(const RunAhead&) = delete;

  /// From here on the frames go through this plan. What is ahead is transformed again: without another copy
  /// to the GPU if the two plans differ in nothing but the reference. Throws as make_workspace() does: frames
  /// then go through the plan before.
  void use(const Plan<Real>& plan);
  /// Whether transforms run concurrently with the host's work, so that those that turn out useless cost it
  /// nothing.
  bool overlaps() const noexcept;
  /// Puts the spectrum of the first frame into `spectrum`, and may begin with those of the first `max`: the
  /// first `wanted` of them are taken next, and others, which may be joined by more, in whole parts. Throws
  /// what Plan::execute() throws for that frame.
  void take(std::span<const SignalView> frames, std::size_t wanted, std::size_t max,
            Spectrum<Real>& spectrum);
  /// Begins with the first `max` frames, which are the next to be taken, without waiting for any: as far as
  /// they fill whole parts, for others may come. Their samples must stay what they are until they are taken
  /// or forgotten. Plans that do not overlap do nothing.
  void begin(std::span<const SignalView> frames, std::size_t max) noexcept;
  /// How many spectra of the next of these frames are there.
  std::size_t ready(std::span<const SignalView> frames) const noexcept {
    const bool same = first_ < done_ && !frames.empty() && owner(first_) == frames[0].data();
    return same ? std::min(done_ - first_, frames.size()) : 0;
  }
  /// One of those; 0: the first.
  const Spectrum<Real>& spectrum(std::size_t next) const noexcept {
    return spectra_[(first_ + next) % spectra_.size()];
  }
  /// Fetches what is there already.
  void collect() noexcept;
  /// Waits for what is under way; nothing is ahead after that.
  void forget() noexcept;
  /// Does for frames like these what the first ones would have to wait for.
  void prepare(std::span<const SignalView> frames);
  /// After a failure: runs ahead again.
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
  Workspace<Real> workspace_;
  bool alone_ = false;
  /// A ring; frames are counted from when nothing was ahead: those before first_ are taken, those before
  /// done_ transformed, those before end_ under way.
  std::vector<Spectrum<Real>> spectra_;
  std::vector<const void*> owners_;  ///< the samples that they are of
  std::size_t first_ = 0, done_ = 0, end_ = 0;
};

extern template class RunAhead<float>;
extern template class RunAhead<double>;

}  // namespace sfft::detail
