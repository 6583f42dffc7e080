// SPDX-License-Identifier: Apache-2.0
// Slots are reused round robin: next() waits for a slot's previous work and copies its results out, so a few
// events suffice to overlap gathering with copies and kernels, and copies with kernels.
#include "sfft/plan/host_ring.hpp"

#include <algorithm>
#include <utility>

namespace sfft::detail {

template <class Real>
typename Plan<Real>::DeviceSpectra HostRing<Real>::Slot::layout(std::byte* base, int frames) const noexcept {
  const auto count = static_cast<std::size_t>(frames) * static_cast<std::size_t>(k);
  typename Plan<Real>::DeviceSpectra out;
  out.values = reinterpret_cast<std::complex<Real>*>(base);
  base += cuda::aligned(count * sizeof(std::complex<Real>));
  out.standard_error = reinterpret_cast<Real*>(base);
  base += cuda::aligned(count * sizeof(Real));
  out.errors = reinterpret_cast<Quality*>(base);
  return out;
}

template <class Real>
std::size_t HostRing<Real>::result_bytes(int frames) const noexcept {
  const auto count = static_cast<std::size_t>(frames) * static_cast<std::size_t>(k_);
  return cuda::aligned(count * sizeof(std::complex<Real>)) + cuda::aligned(count * sizeof(Real)) +
         static_cast<std::size_t>(frames) * sizeof(Quality);
}

template <class Real>
HostRing<Real>::HostRing(std::int64_t k) : k_(k) {}

template <class Real>
void HostRing<Real>::fit(std::size_t frame_bytes, std::size_t host_bytes, int frames) {
  // Slots of a few frames are enough to overlap. Dense transforms are efficient in larger rounds.
  constexpr int kMaxFrames = 64;
  const int wanted = std::clamp(frames, 1, kMaxFrames);
  std::size_t bytes = frame_bytes * static_cast<std::size_t>(wanted);
  host_bytes *= static_cast<std::size_t>(wanted);
  const Slot& last = slots_.back();
  if (wanted <= capacity_ && bytes <= last.device.bytes() && host_bytes <= last.host.bytes()) return;
  deliver_all();
  capacity_ = 0;  // until everything is allocated
  const int capacity = std::max(wanted, slots_[0].capacity);
  bytes = std::max(bytes, last.device.bytes());
  host_bytes = std::max(host_bytes, last.host.bytes());
  for (Slot& slot : slots_) {
    slot.k = k_;
    slot.host = cuda::PinnedBuffer(host_bytes);
    slot.device = cuda::DeviceBuffer(bytes);
    slot.results = cuda::PinnedBuffer(result_bytes(capacity));
    slot.capacity = capacity;
    slot.sent = {};
  }
  capacity_ = capacity;
}

template <class Real>
typename HostRing<Real>::Slot& HostRing<Real>::next() {
  Slot& slot = by_age(0);
  at_ = (at_ + 1) % kSlots;
  deliver(slot);
  slot.sent = {};
  slot.gather_us = 0;
  slot.copied = false;
  return slot;
}

template <class Real>
void HostRing<Real>::copy(Slot& slot, std::byte* device, const void* host, std::size_t bytes) {
  if (!slot.copied) begin_copies(slot);
  cuda::copy_to_device(device, host, bytes, copies());
  end_copies(slot);
}

template <class Real>
void HostRing<Real>::begin_copies(Slot& slot) {
  copying().record(slot.copy_begins);
}

template <class Real>
void HostRing<Real>::end_copies(Slot& slot) {
  copying().record(slot.copy_ends);
  slot.copied = true;
}

template <class Real>
void HostRing<Real>::await_copies(Slot& slot) {
  if (overlap_ && slot.copied) stream_.wait(slot.copy_ends);
}

template <class Real>
void HostRing<Real>::finish(Slot& slot, std::span<Spectrum<Real>> spectra, std::int64_t transferred_bytes) {
  stream_.record(slot.done);
  slot.spectra_out = spectra;
  slot.transferred = transferred_bytes;
}

template <class Real>
void HostRing<Real>::deliver(Slot& slot) {
  if (slot.spectra_out.empty()) return;
  const std::span<Spectrum<Real>> out = std::exchange(slot.spectra_out, {});
  slot.done.wait();
  const typename Plan<Real>::DeviceSpectra from = slot.spectra(static_cast<int>(out.size()));
  const double transfer_us = slot.gather_us + (slot.copied ? slot.copy_begins.us_until(slot.copy_ends) : 0);
  // If only some frames of a part were transformed again, the transfer was still that of the whole part.
  const double frames = static_cast<double>(std::max(out.size(), slot.sent.spectra.size()));
  const auto k = static_cast<std::size_t>(k_);
  for (std::size_t i = 0; i < out.size(); ++i) {
    Spectrum<Real>& spectrum = out[i];
    std::copy_n(from.values + i * k, k, spectrum.values.begin());
    std::copy_n(from.standard_error + i * k, k, spectrum.standard_error.begin());
    const Quality& errors = from.errors[i];
    spectrum.quality.error_l2 = errors.error_l2;
    spectrum.quality.relative_error = errors.relative_error;
    spectrum.quality.tail_energy = errors.tail_energy;
    spectrum.quality.residual = errors.residual;
    spectrum.quality.finite = errors.finite != 0;
    spectrum.transferred_bytes = slot.transferred;
    spectrum.transfer_us = transfer_us / frames;
  }
  delivered_ += out.size();
}

template <class Real>
std::size_t HostRing<Real>::await_some() {
  for (int i = 0; i < kSlots && delivered_ == 0; ++i) deliver(by_age(i));
  return std::exchange(delivered_, 0);
}

template <class Real>
bool HostRing<Real>::ready() const {
  for (int i = 0; i < kSlots && delivered_ == 0; ++i) {
    const Slot& slot = slots_[static_cast<std::size_t>((at_ + i) % kSlots)];
    if (!slot.spectra_out.empty()) return slot.done.query();
  }
  return delivered_ > 0;
}

template <class Real>
void HostRing<Real>::deliver_all() {
  for (int i = 0; i < kSlots; ++i) deliver(by_age(i));
}

template <class Real>
void HostRing<Real>::drain() {
  deliver_all();
  delivered_ = 0;
}

template <class Real>
void HostRing<Real>::abandon() noexcept {
  for (Queue* const queue : {&copies_, &stream_}) {
    try {
      queue->wait();
    } catch (...) {  // the failure that led here is the one to report
    }
  }
  for (Slot& slot : slots_) {
    slot.spectra_out = {};
    slot.sent = {};
  }
  delivered_ = 0;
}

template <class Real>
std::size_t HostRing<Real>::bytes() const noexcept {
  std::size_t total = 0;
  for (const Slot& slot : slots_) total += slot.host.bytes() + slot.device.bytes() + slot.results.bytes();
  return total;
}

template class HostRing<float>;
template class HostRing<double>;

}  // namespace sfft::detail
