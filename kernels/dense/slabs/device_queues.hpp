// SPDX-License-Identifier: Apache-2.0
// What a transform in slabs needs from the devices that share it. These are GPUs or, in tests, an emulation
// that runs queues in any order that events allow.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <span>

namespace sfft::detail {

/// The queues of a device: `work` is the caller's stream; the others carry the exchange.
enum class Lane { work, send, receive };
inline constexpr int kLanes = 3;

/// Rows of `width` values. Their starts are `from_pitch` values apart in `from`, and `to_pitch` in `to`.
template <class Real>
struct SlabPiece {
  const std::complex<Real>* from = nullptr;
  std::complex<Real>* to = nullptr;
  std::int64_t from_pitch = 0, to_pitch = 0, width = 0, rows = 0;
};

/// The queues of one call. The work of one queue runs in order, and concurrently with other queues unless an
/// event makes it wait. Devices are counted from 0. Functions throw Error(device).
template <class Real>
class DeviceQueues {
 public:
  virtual ~DeviceQueues() = default;

  /// Records `event` of `device` after all work enqueued in this queue so far; recording it again replaces
  /// the earlier record. SlabFft::lasting_event() keeps its record for later calls.
  virtual void record(int device, Lane lane, int event) = 0;
  /// Makes the queue wait for an event of this or another device. If the event was never recorded, the queue
  /// does not wait.
  virtual void wait(int device, Lane lane, int of, int event) = 0;

  /// Enqueues, by calling `queue`, the work that a device does in its queues `work` and `send` before it
  /// waits for other devices. Implementations may capture that work and repeat it in later calls with the
  /// same arrays.
  virtual void by_itself(int device, const std::function<void()>& queue) = 0;
  /// In queue `work`: transforms the device's planes first … first + count − 1, one chunk of the slab grid,
  /// from signals to `spectra`, which begins with plane `first`. Multiplies rows that stay on the device by
  /// `scale` and stores them where `own` says; their values in `spectra` are not needed.
  virtual void planes_forward(int device, std::int64_t first, std::int64_t count, std::complex<Real>* spectra,
                              const SlabPiece<Real>& own, double scale) = 0;
  /// The inverse. First stores `own` among the spectra, which completes them. Complex `spectra` may lie in
  /// the signals.
  virtual void planes_inverse(int device, std::int64_t first, std::int64_t count, std::complex<Real>* spectra,
                              const SlabPiece<Real>& own, double scale) = 0;
  /// In queue `work`: transforms lines across the planes, for the device's rows first … first + count − 1. In
  /// place if the arrays are the same.
  virtual void columns(int device, std::int64_t first, std::int64_t count, const std::complex<Real>* from,
                       std::complex<Real>* to, bool inverse) = 0;
  /// In queue `send`: stores pieces, times `scale`, in the memory of devices that this one can access
  /// directly, or in host memory. Implementations may apply the scale earlier, when they transform the rows
  /// for other devices.
  virtual void send(int device, std::span<const SlabPiece<Real>> pieces, double scale) = 0;
  /// In queue `receive`: copies from staging memory of the host.
  virtual void receive(int device, const SlabPiece<Real>& piece) = 0;
};

}  // namespace sfft::detail
