// SPDX-License-Identifier: Apache-2.0
// The interface of a device that transforms pieces of an out-of-core array: a GPU or, in tests, an emulation
// with a memory budget.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::detail {

/// Rows of `width` bytes; consecutive rows begin `pitch` bytes apart.
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

/// What copies between host and device memory: the copy engines, which run concurrently with kernels, or a
/// kernel. A kernel is faster for short rows, unless another kernel copies in the other direction.
enum class Copier { engine, kernel };

/// A point in a stream. For one host thread at a time.
class OutOfCoreEvent {
 public:
  virtual ~OutOfCoreEvent() = default;

  /// Blocks until all work enqueued before the last record() is done; throws the error if that work failed.
  /// Returns at once if the event was never recorded.
  virtual void wait() = 0;
};

/// A queue of work, which runs in order and concurrently with other queues. For one host thread at a time.
class OutOfCoreStream {
 public:
  virtual ~OutOfCoreStream() = default;

  /// Copies between device memory and host memory that the device can access directly. `to` and `from` have
  /// the same width and number of rows.
  virtual void copy_in(const DeviceRows& to, const DeviceRows& from, Copier copier) = 0;
  virtual void copy_out(const DeviceRows& to, const DeviceRows& from, Copier copier) = 0;
  /// Copies within device memory.
  virtual void copy_within(const DeviceRows& to, const DeviceRows& from) = 0;
  /// Records the event, which may have been recorded before, after all work enqueued in this stream so far.
  virtual void record(OutOfCoreEvent& event) = 0;
  /// Work enqueued from now on starts after the last record() of the event. If it was never recorded, there
  /// is no wait.
  virtual void wait(const OutOfCoreEvent& event) = 0;
  /// Blocks until the stream is idle; throws the error if its work failed.
  virtual void wait() = 0;
};

/// Twiddle factors between the two transforms of a line of `length` points: value k of column c is multiplied
/// by exp(∓2πi·k·(c/element)/length). If length is 0, all factors are 1.
struct Twiddles {
  std::int64_t length = 0, element = 1;
};

/// A piece of rows × columns values from an array of rows × width values. Its first half holds the columns
/// from `first` on. Its second half holds the columns of the opposite frequencies, which are width − first −
/// columns/2 + 1 … width − first. The value at row r and column c of the array has frequency r·width + c of
/// rows·width.
struct MirroredPiece {
  std::int64_t rows = 1, columns = 2, first = 1, width = 3;
};

/// Factors that multiply the values of a rows × columns piece after its FFTs.
struct PieceFactors {
  std::int64_t rows = 1, columns = 1;
  std::int64_t first_column = 0;  ///< first column of the piece within the array
  Twiddles twiddles;
  bool inverse = false;
  double scale = 1;
  std::int64_t mirrored_width = 0;  ///< array width for a mirrored piece, otherwise 0

  bool all_one() const noexcept { return twiddles.length == 0 && scale == 1; }
};

/// FFTs of one piece in device memory. Immutable; several threads may use it if each has its own stream and
/// workspace.
template <class Real>
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;

  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Transforms in place.
  virtual void run(std::complex<Real>* piece, bool inverse, std::byte* workspace,
                   OutOfCoreStream& stream) const = 0;
};

/// Thread-safe. Functions throw Error: out_of_memory, device, or backend_unavailable for a transform that the
/// device cannot do.
template <class Real>
class OutOfCoreDevice {
 public:
  virtual ~OutOfCoreDevice() = default;

  virtual std::string name() const = 0;
  /// Total device memory, and the bytes of it that can be allocated now.
  virtual std::size_t memory_bytes() const = 0;
  virtual std::size_t free_bytes() const = 0;
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;
  /// Host memory that the device can access directly.
  virtual std::shared_ptr<std::byte> allocate_on_host(std::size_t bytes) = 0;
  /// Whether the device can access all of this host memory directly; other memory is staged through
  /// allocate_on_host().
  virtual bool reads(const void* host, std::size_t bytes) const noexcept = 0;
  virtual std::unique_ptr<OutOfCoreStream> make_stream() = 0;
  virtual std::unique_ptr<OutOfCoreEvent> make_event() = 0;

  /// FFTs of `count` adjacent columns of `points` values, in a piece of points × count values.
  virtual std::unique_ptr<const DeviceKernel<Real>> columns(std::int64_t points, std::int64_t count) = 0;
  /// FFTs of `count` contiguous slabs of the shape `stored`. The first `row_points` values of each row are
  /// transformed; the others may end up with any value.
  virtual std::unique_ptr<const DeviceKernel<Real>> slabs(const Shape& stored, std::int64_t row_points,
                                                          std::int64_t count) = 0;
  /// In-place real FFTs of `count` slabs: samples at the beginnings of rows become half spectra of the shape
  /// `stored`, and back. Values in the gaps between samples may be overwritten.
  virtual std::unique_ptr<const DeviceKernel<Real>> real_slabs(const Shape& stored, std::int64_t row_points,
                                                               std::int64_t count) = 0;
  /// Without twiddles the real and imaginary parts are scaled independently, because they may be two samples.
  virtual void multiply(std::complex<Real>* piece, const PieceFactors& factors,
                        OutOfCoreStream& stream) const = 0;
  /// Like multiply(), and transposes: columns of the piece become rows of `to`, which must not overlap it.
  virtual void multiply_transposed(const std::complex<Real>* piece, const PieceFactors& factors,
                                   std::complex<Real>* to, OutOfCoreStream& stream) const = 0;
  /// Convert the transform of sample pairs to half spectra, times `scale`, and back, like RealPasses.
  virtual void unpack_real(std::complex<Real>* piece, const MirroredPiece& columns, double scale,
                           OutOfCoreStream& stream) const = 0;
  virtual void pack_real(std::complex<Real>* piece, const MirroredPiece& columns,
                         OutOfCoreStream& stream) const = 0;
  /// Convert rows of floats from block16 and back. The packed rows are contiguous in device memory at
  /// `packed`; each is followed by its exponents.
  virtual void unpack(const std::byte* packed, const DeviceRows& floats, OutOfCoreStream& stream) const = 0;
  virtual void pack(const DeviceRows& floats, std::byte* packed, OutOfCoreStream& stream) const = 0;
};

/// The devices that share an array. Each uses at most the memory of the smallest. If the list is empty, the
/// host does everything.
template <class Real>
using OutOfCoreDevices = std::vector<std::shared_ptr<OutOfCoreDevice<Real>>>;

/// Whether this GPU exists and the build has code for it.
bool gpu_usable(int device);
/// Wraps the GPU as a device. Throws Error(backend_unavailable) if there is none.
template <class Real>
std::unique_ptr<OutOfCoreDevice<Real>> make_gpu_device(int device);

}  // namespace sfft::detail
