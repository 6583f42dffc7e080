// SPDX-License-Identifier: Apache-2.0
// How frames in host memory reach a GPU plan: whole, gathered by the host, by rows, or read in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "kernels/cuda/executors/executor.hpp"
#include "sfft/plan.hpp"
#include "sfft/plan/device_plan.hpp"
#include "sfft/plan/host_ring.hpp"

namespace sfft::detail {

namespace cpu {
class ThreadPool;
}

/// Number of frames per launch if a call passes `frames` frames to a plan that reads some of their samples. A
/// smaller part would spend more time on its launches than on the bus; a larger one only delays the first
/// result. The first part's copy and the last part's transform overlap with nothing.
constexpr std::size_t part_of_call(std::size_t frames) noexcept {
  constexpr std::size_t kSmallest = 8, kLargest = 32, kParts = 8;
  return std::min(frames, std::clamp((frames + kParts - 1) / kParts, kSmallest, kLargest));
}

/// The same for a stream, where the next call's parts follow without a wait and fewer launches save host
/// time.
constexpr std::size_t part_of_stream(std::size_t frames) noexcept {
  constexpr std::size_t kLargest = 32;
  return std::clamp(frames / 2, part_of_call(frames), kLargest);
}

/// Cuts a call's frames into parts, which pass through the ring. `Real`: the type of the arithmetic.
template <class Real>
class HostFrames {
 public:
  /// Makes the batch of a launch, for frames in device memory.
  using MakeBatch =
      std::function<cuda::Batch<Real>(const DeviceFrames&, const typename Plan<Real>::DeviceSpectra&)>;

  /// `state` is for at most `max` frames at a time. `pool` may be null.
  HostFrames(const cuda::Executor<Real>& executor, const Shape& shape, PlanOptions::Transfer transfer,
             HostRing<Real>& ring, cuda::State& state, int max, const MakeBatch& make_batch,
             cpu::ThreadPool* pool)
      : executor_(executor),
        shape_(shape),
        transfer_(transfer),
        ring_(ring),
        state_(state),
        usual_(static_cast<std::size_t>(max)),
        max_(usual_),
        longest_(part_of_call(usual_)),
        make_batch_(make_batch),
        pool_(pool) {}

  /// Transforms frames into prepared spectra. Blocks; after a failure nothing is in flight.
  void execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra);
  /// Submits as many of the first frames as the ring has room for, in parts of `part`, and does not wait for
  /// their results: HostRing::await_some() does. Returns their number. After a failure nothing is in flight.
  std::size_t begin(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra, std::size_t part);
  /// Transforms submitted frames again, with another reference and without a copy over the bus: the frame
  /// whose spectrum is `first` and all later ones, whether or not their results have arrived. Returns their
  /// number; 0 if the first frame's samples are no longer there. After a failure nothing is in flight.
  std::size_t again(const Spectrum<Real>& first);

 private:
  using Slot = typename HostRing<Real>::Slot;

  PlanOptions::Transfer way_for(const SignalView& frame) const;
  PlanOptions::Transfer page_locked_way(std::size_t element) const;
  std::size_t alike(std::span<const SignalView> frames, bool adjacent) const;
  std::size_t submit(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra);
  void send_whole(std::span<const SignalView> frames, Slot& slot);
  void send_gathered(std::span<const SignalView> frames, Slot& slot);
  void send_rows(std::span<const SignalView> frames, Slot& slot);
  void copy_rows(std::span<const SignalView> frames, Slot& slot);
  void read_in_place(std::span<const SignalView> frames, Slot& slot);
  void launch(Slot& slot, std::size_t skipped);
  void gather(std::span<const SignalView> frames, std::byte* compact) const;

  const cuda::Executor<Real>& executor_;
  const Shape& shape_;
  PlanOptions::Transfer transfer_;
  HostRing<Real>& ring_;
  cuda::State& state_;
  std::size_t usual_;    ///< frames per call
  std::size_t max_;      ///< maximum frames per part
  std::size_t longest_;  ///< frames of the longest expected part
  const MakeBatch& make_batch_;
  cpu::ThreadPool* pool_;
};

extern template class HostFrames<float>;
extern template class HostFrames<double>;

}  // namespace sfft::detail
