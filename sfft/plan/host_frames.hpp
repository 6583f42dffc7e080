// SPDX-License-Identifier: Apache-2.0
// How frames in host memory reach a GPU plan: whole, gathered by the host, by rows, or read in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "kernels/base/tables/witness_reals.hpp"
#include "kernels/cuda/executors/executor.hpp"
#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/stream_buffer.hpp"
#include "sfft/plan.hpp"
#include "sfft/plan/host_ring.hpp"
#include "sfft/plan/plan_executor.hpp"

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

/// The samples of a reference, its witness samples and its coefficients, in one block of memory.
template <class Real>
class ReferenceMemory final : public PlanReference {
 public:
  /// `witness` real numbers, `error` as ErrorSums::reference_error.
  ReferenceMemory(std::int64_t points, std::int64_t witness, std::int64_t k, double error)
      : witness_(cuda::aligned(static_cast<std::size_t>(points) * sizeof(cuda::Complex<Real>))),
        values_(witness_ + cuda::aligned(static_cast<std::size_t>(witness) * sizeof(Real))),
        error_(error),
        memory_(values_ + static_cast<std::size_t>(k) * sizeof(cuda::Complex<Real>)) {}

  cuda::Complex<Real>* samples() const noexcept { return at<cuda::Complex<Real>>(0); }
  double error() const noexcept { return error_; }
  Real* witness() const noexcept { return at<Real>(witness_); }
  cuda::Complex<Real>* values() const noexcept { return at<cuda::Complex<Real>>(values_); }

 private:
  template <class T>
  T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(memory_.data() + offset);
  }
  std::size_t witness_, values_;  ///< offsets
  double error_;
  cuda::PooledBuffer memory_;
};

/// What a launch reads and writes. `reference` may be null.
template <class Real>
cuda::Batch<Real> make_batch(const DeviceFrames& frames, const typename Plan<Real>::DeviceSpectra& spectra,
                             const PlanReference* reference, std::int64_t frame_points);

/// Cuts a call's frames into parts, which pass through the ring. `Real`: the type of the arithmetic.
template <class Real>
class HostFrames {
 public:
  /// Of one call. `state` is for at most `max` frames at a time; `reference` and `pool` may be null.
  struct Call {
    cuda::State& state;
    int max = 1;
    const PlanReference* reference = nullptr;
    cpu::ThreadPool* pool = nullptr;
  };
  HostFrames(const cuda::Executor<Real>& executor, const Shape& shape, PlanOptions::Transfer transfer,
             HostRing<Real>& ring, const Call& call)
      : executor_(executor),
        shape_(shape),
        transfer_(transfer),
        ring_(ring),
        call_(call),
        usual_(static_cast<std::size_t>(call.max)),
        max_(usual_),
        longest_(part_of_call(usual_)) {}

  /// Transforms frames into prepared spectra. Blocks; after a failure nothing is in flight.
  void execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra);
  /// Submits as many of the first frames as the ring has room for, in parts of `part`, and does not wait for
  /// their results: HostRing::await_some() does. Returns their number. After a failure nothing is in flight.
  std::size_t submit(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra, std::size_t part);
  /// Transforms submitted frames again, with another reference and without a copy over the bus: the frame
  /// whose spectrum is `first` and all later ones, whether or not their results have arrived. Returns their
  /// number; 0 if the first frame's samples are no longer there. After a failure nothing is in flight.
  std::size_t resubmit(const Spectrum<Real>& first);

 private:
  using Slot = typename HostRing<Real>::Slot;

  PlanOptions::Transfer way_for(const SignalView& frame) const;
  PlanOptions::Transfer page_locked_way(std::size_t element) const;
  std::size_t alike(std::span<const SignalView> frames, bool adjacent) const;
  std::size_t send(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra);
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
  Call call_;
  std::size_t usual_;    ///< frames per call
  std::size_t max_;      ///< maximum frames per part
  std::size_t longest_;  ///< frames of the longest expected part
};

extern template class HostFrames<float>;
extern template class HostFrames<double>;

}  // namespace sfft::detail
