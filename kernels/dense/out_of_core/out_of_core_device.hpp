// SPDX-License-Identifier: Apache-2.0
// What an out-of-core transform needs from the device that it sends pieces of an array to: a GPU, or in tests
// an emulation with a budget of memory.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/types.hpp"

namespace sfft::detail {

/// Rows of `width` bytes that begin `pitch` bytes apart.
struct DeviceRows {
  std::byte* data = nullptr;
  std::size_t pitch = 0, width = 0, rows = 0;

  DeviceRows packed_at(std::byte* memory) const noexcept { return {memory, width, width, rows}; }
  DeviceRows with_rows(std::size_t first, std::size_t count) const noexcept {
    return {data + first * pitch, pitch, width, count};
  }
  DeviceRows with_columns(std::size_t first_byte, std::size_t bytes) const noexcept {
    return {data + first_byte, pitch, bytes, rows};
  }
  std::size_t bytes() const noexcept { return width * rows; }
};

/// Who copies between the host's memory and the device's: engines beside the processors, or a kernel, which
/// is faster where rows are short and the other direction is not a kernel's, too.
enum class Copier { engine, kernel };

/// A place in a stream. One host thread at a time.
class OutOfCoreEvent {
 public:
  virtual ~OutOfCoreEvent() = default;

  /// Blocks until what was asked of the stream before has happened; throws what failed on the way. Returns at
  /// once if nothing was marked yet.
  virtual void wait() = 0;
};

/// A queue: what is asked of it happens in order and beside the other queues. One host thread at a time.
class OutOfCoreStream {
 public:
  virtual ~OutOfCoreStream() = default;

  /// Between host memory that the device reads itself, and the device's own. `to` and `from` have the same
  /// width and number of rows.
  virtual void copy_in(const DeviceRows& to, const DeviceRows& from, Copier copier) = 0;
  virtual void copy_out(const DeviceRows& to, const DeviceRows& from, Copier copier) = 0;
  /// Within the device's memory.
  virtual void copy_within(const DeviceRows& to, const DeviceRows& from) = 0;
  /// Puts a mark, of this or an earlier call, after all that was asked of this stream so far.
  virtual void record(OutOfCoreEvent& event) = 0;
  /// What is asked from now on happens after what lies before the mark as it was put last; where it never
  /// was, at once.
  virtual void wait(const OutOfCoreEvent& event) = 0;
  /// Blocks until all of it has happened; throws what failed on the way.
  virtual void wait() = 0;
};

/// Between the two transforms of a line of `length` points: value k of column c is multiplied by
/// exp(∓2πi·k·(c/element)/length). No length: by 1.
struct Twiddles {
  std::int64_t length = 0, element = 1;
};

/// Columns of an array of rows × width values in a piece of rows × columns: those from `first` on, and, as
/// the second half, those of the opposite frequencies, width − first − columns/2 + 1 … width − first. The
/// value at row r and column c of the array has frequency r·width + c of rows·width.
struct MirroredPiece {
  std::int64_t rows = 1, columns = 2, first = 1, width = 3;
};

/// What the values of a piece of rows × columns are multiplied by after its FFTs.
struct PieceFactors {
  std::int64_t rows = 1, columns = 1;
  std::int64_t first_column = 0;  ///< of the piece within the array
  Twiddles twiddles;
  bool inverse = false;
  double scale = 1;
  std::int64_t mirrored_width = 0;  ///< of a mirrored piece, or 0

  bool all_one() const noexcept { return twiddles.length == 0 && scale == 1; }
};

/// FFTs of one piece in device memory. Immutable, safe from several threads with a stream and workspace each.
template <class Real>
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;

  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Transforms in place.
  virtual void run(std::complex<Real>* piece, bool inverse, std::byte* workspace,
                   OutOfCoreStream& stream) const = 0;
};

/// Thread-safe. Functions throw Error: out_of_memory, device, backend_unavailable for a transform that the
/// device cannot do.
template <class Real>
class OutOfCoreDevice {
 public:
  virtual ~OutOfCoreDevice() = default;

  virtual std::string name() const = 0;
  /// All of its memory, and what can be allocated now.
  virtual std::size_t memory_bytes() const = 0;
  virtual std::size_t free_bytes() const = 0;
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;
  /// Host memory that the device reads itself.
  virtual std::shared_ptr<std::byte> allocate_on_host(std::size_t bytes) = 0;
  /// Whether it reads all of this host memory itself; other memory passes through allocate_on_host().
  virtual bool reads(const void* host, std::size_t bytes) const noexcept = 0;
  virtual std::unique_ptr<OutOfCoreStream> make_stream() = 0;
  virtual std::unique_ptr<OutOfCoreEvent> make_event() = 0;

  /// FFTs of `points` across `count` columns, side by side in a piece of points × count values.
  virtual std::unique_ptr<const DeviceKernel<Real>> columns(std::int64_t points, std::int64_t count) = 0;
  /// FFTs of `count` slabs, one behind the other, stored in a shape of which the first `row_points` of each
  /// row are transformed. What happens to the others does not matter.
  virtual std::unique_ptr<const DeviceKernel<Real>> slabs(const Shape& stored, std::int64_t row_points,
                                                          std::int64_t count) = 0;
  /// Real FFTs of `count` slabs in place, from samples in the beginnings of rows to half spectra, stored in a
  /// shape, and back. What lies between samples does not matter.
  virtual std::unique_ptr<const DeviceKernel<Real>> real_slabs(const Shape& stored, std::int64_t row_points,
                                                               std::int64_t count) = 0;
  /// Without twiddles both parts of a value are multiplied by the scale, each by itself: they may be samples.
  virtual void multiply(std::complex<Real>* piece, const PieceFactors& factors,
                        OutOfCoreStream& stream) const = 0;
  /// The same, and transposed: columns of the piece become rows of `to`, which is other memory.
  virtual void multiply_transposed(const std::complex<Real>* piece, const PieceFactors& factors,
                                   std::complex<Real>* to, OutOfCoreStream& stream) const = 0;
  /// From the transform of pairs of samples to half spectra, times `scale`, and back, as in RealPasses.
  virtual void unpack_real(std::complex<Real>* piece, const MirroredPiece& columns, double scale,
                           OutOfCoreStream& stream) const = 0;
  virtual void pack_real(std::complex<Real>* piece, const MirroredPiece& columns,
                         OutOfCoreStream& stream) const = 0;
  /// Rows of floats from block16, and back: in device memory at `packed` they follow each other, each with
  /// its exponents behind it.
  virtual void unpack(const std::byte* packed, const DeviceRows& floats, OutOfCoreStream& stream) const = 0;
  virtual void pack(const DeviceRows& floats, std::byte* packed, OutOfCoreStream& stream) const = 0;
};

/// OutOfCoreDevices that share an array. All have the memory of the smallest; none: the host does everything.
template <class Real>
using OutOfCoreDevices = std::vector<std::shared_ptr<OutOfCoreDevice<Real>>>;

/// Whether there is such a GPU and this build has code for it.
bool gpu_usable(int device);
/// The GPU as a device. Throws Error(backend_unavailable) if there is none.
template <class Real>
std::unique_ptr<OutOfCoreDevice<Real>> make_gpu_device(int device);

}  // namespace sfft::detail
