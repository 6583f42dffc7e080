// SPDX-License-Identifier: Apache-2.0
// What a transform in slabs needs from the devices that share it: GPUs, or in tests an emulation that runs
// queues in any order that events allow.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <span>

namespace sfft::detail {

/// The queues of a device: `work` is the caller's stream, the others carry the exchange.
enum class Lane { work, send, receive };
inline constexpr int kLanes = 3;

/// Rows of `width` values, `from_pitch` and `to_pitch` values apart.
template <class Real>
struct SlabPiece {
  const std::complex<Real>* from = nullptr;
  std::complex<Real>* to = nullptr;
  std::int64_t from_pitch = 0, to_pitch = 0, width = 0, rows = 0;
};

/// The queues of one call. What is asked of a lane happens in order, and beside the other lanes unless events
/// hold it back. Devices are counted from 0. Functions throw Error(device).
template <class Real>
class DeviceQueues {
 public:
  virtual ~DeviceQueues() = default;

  /// Event `event` of `device` is where its lane is now; recording it again replaces that. Later calls find
  /// SlabFft::lasting_event() so.
  virtual void record(int device, Lane lane, int event) = 0;
  /// The lane waits for an event of a device, this one or another. One that was never recorded holds nothing.
  virtual void wait(int device, Lane lane, int of, int event) = 0;

  /// What a device does before it waits for others, on its lanes work and send: `queue` asks for it. Queues
  /// may keep that, and repeat it in a call with the same arrays.
  virtual void by_itself(int device, const std::function<void()>& queue) = 0;
  /// Lane work: FFTs of the device's planes first … first + count − 1, of which the slab grid has `chunk`s,
  /// from signals to `spectra`, which begins with the first of them. Their rows that stay on the device,
  /// times `scale`, go where `own` says, and those in `spectra` are not needed.
  virtual void planes_forward(int device, std::int64_t first, std::int64_t count, std::complex<Real>* spectra,
                              const SlabPiece<Real>& own, double scale) = 0;
  /// The reverse: `own` is stored among the spectra first, which it makes whole. Complex `spectra` may lie in
  /// the signals.
  virtual void planes_inverse(int device, std::int64_t first, std::int64_t count, std::complex<Real>* spectra,
                              const SlabPiece<Real>& own, double scale) = 0;
  /// Lane work: FFTs across the planes, of the device's rows first … first + count − 1; in place where the
  /// arrays are the same.
  virtual void columns(int device, std::int64_t first, std::int64_t count, const std::complex<Real>* from,
                       std::complex<Real>* to, bool inverse) = 0;
  /// Lane send: stores pieces, times `scale`, into memory of devices that this one reaches, or of the host.
  /// Queues may apply the scale earlier, to rows for others as they are transformed.
  virtual void send(int device, std::span<const SlabPiece<Real>> pieces, double scale) = 0;
  /// Lane receive: copies from staging memory of the host.
  virtual void receive(int device, const SlabPiece<Real>& piece) = 0;
};

}  // namespace sfft::detail
