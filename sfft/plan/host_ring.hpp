// SPDX-License-Identifier: Apache-2.0
// The ring of page-locked buffers through which frames in host memory reach the GPU: while one slot's samples
// are being transformed, the next one's are copied and those after it gathered.
#pragma once

#include <array>
#include <span>

#include "kernels/cuda/runtime/runtime.hpp"
#include "sfft/plan.hpp"

namespace sfft::detail {

/// Belongs to one thread and to the device that is current at construction. Results come back in order.
template <class Real>
class HostRing {
 public:
  static constexpr int kSlots = 3;

  /// The samples of a part, where kernels read them, and where its spectra go.
  struct Sent {
    PlanOptions::Transfer way = PlanOptions::Transfer::automatic;
    const std::byte* frames = nullptr;
    ElementType type = ElementType::u8;
    std::int64_t pitch = 0;  ///< elements; 0: whole frames without gaps
    std::int64_t bytes = 0;  ///< bytes per frame that crossed the bus
    std::span<Spectrum<Real>> spectra;
  };
  struct Slot {
    cuda::PinnedBuffer host;     ///< compact samples
    cuda::DeviceBuffer device;   ///< the same, or whole frames
    cuda::PinnedBuffer results;  ///< kernels write them here, over the bus
    cuda::Event done;
    cuda::Event copy_begins{cuda::Event::Kind::timed}, copy_ends{cuda::Event::Kind::timed};
    double gather_us = 0;                   ///< host time for all frames
    bool copied = false;                    ///< whether the two events were recorded
    std::span<Spectrum<Real>> spectra_out;  ///< spectra that wait for this slot's results
    std::int64_t transferred = 0;
    Sent sent;  ///< stays until the slot gets another part
    int capacity = 0;
    std::int64_t k = 0;

    /// Where the results of a batch of `frames` go.
    typename Plan<Real>::DeviceSpectra spectra(int frames) const noexcept {
      return layout(results.data(), frames);
    }
    typename Plan<Real>::DeviceSpectra layout(std::byte* base, int frames) const noexcept;
  };

  explicit HostRing(std::int64_t k);
  std::int64_t coefficients() const noexcept { return k_; }  ///< per spectrum

  /// Makes room in each slot for `frames` frames: `frame_bytes` each in GPU memory and `host_bytes` each in
  /// host memory. Growing waits for work in flight and takes long, because it allocates page-locked memory.
  void fit(std::size_t frame_bytes, int frames) { fit(frame_bytes, frame_bytes, frames); }
  void fit(std::size_t frame_bytes, std::size_t host_bytes, int frames);
  /// True: copies to the GPU and kernels of different slots overlap, on separate streams. Each slot then
  /// costs a few microseconds more. Call while nothing is in flight.
  void overlap(bool overlap) noexcept { overlap_ = overlap; }
  bool overlaps() const noexcept { return overlap_; }
  int capacity() const noexcept { return capacity_; }
  cuda::Stream stream() const noexcept { return stream_.get(); }  ///< the stream of kernels
  /// The stream of a slot's copies.
  cuda::Stream copies() const noexcept { return (overlap_ ? copies_ : stream_).get(); }

  /// The next slot, after delivering its last results.
  Slot& next();
  /// A slot by its age: 0 is the one that next() would return, kSlots − 1 the one that it returned last.
  Slot& by_age(int i) noexcept { return slots_[static_cast<std::size_t>((at_ + i) % kSlots)]; }
  /// Copies from host memory to the slot's memory and times the copy.
  void copy(Slot& slot, std::byte* device, const void* host, std::size_t bytes);
  /// Call before and after copies in the stream copies(), to time them.
  void begin_copies(Slot& slot);
  void end_copies(Slot& slot);
  /// Call before kernels are launched on a slot: they wait for its copies.
  void await_copies(Slot& slot);
  /// Call after the work on a slot has been launched. Its results go to `spectra`.
  void finish(Slot& slot, std::span<Spectrum<Real>> spectra, std::int64_t transferred_bytes);
  /// Call when delivered frames will be delivered again: await_some() counts only those from now on.
  void forget_delivered() noexcept { delivered_ = 0; }
  /// Whether next() would return without a wait.
  bool has_room() const noexcept { return slots_[static_cast<std::size_t>(at_)].spectra_out.empty(); }
  /// Whether await_some() would report frames without a wait.
  bool ready() const;
  /// Number of frames delivered since the last call; if there are none, waits for those of the oldest slot.
  std::size_t await_some();
  /// Delivers everything; await_some() does not report it.
  void drain();
  /// After a failure: waits for work in flight and delivers nothing.
  void abandon() noexcept;
  std::size_t bytes() const noexcept;

 private:
  Queue& copying() noexcept { return overlap_ ? copies_ : stream_; }
  void deliver(Slot& slot);
  void deliver_all();
  std::size_t result_bytes(int frames) const noexcept;

  std::int64_t k_;
  // Urgent, because a caller waits for these frames, but not for learning in the background.
  cuda::Queue stream_{cuda::Queue::Kind::urgent}, copies_{cuda::Queue::Kind::urgent};
  bool overlap_ = false;
  std::size_t delivered_ = 0;  ///< frames that await_some() has not reported
  std::array<Slot, kSlots> slots_;
  int at_ = 0, capacity_ = 0;
};

extern template class HostRing<float>;
extern template class HostRing<double>;

}  // namespace sfft::detail
