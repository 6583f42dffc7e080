// SPDX-License-Identifier: Apache-2.0
// The interface of a device that transforms pieces of an out-of-core array: a GPU or, in tests, an emulation
// with a memory budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/runtime/queue.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

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

/// FFTs of one piece in device memory. Immutable; several threads may use it if each has its own queue and
/// workspace.
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;

  virtual std::int64_t workspace_bytes() const noexcept = 0;
  /// Transforms in place.
  virtual void run(std::byte* piece, bool inverse, std::byte* workspace, Queue& queue) const = 0;
};

/// Transforms complex values of one type. Thread-safe. Functions throw Error: out_of_memory, device, or
/// backend_unavailable for a transform that the device cannot do.
class OutOfCoreDevice {
 public:
  virtual ~OutOfCoreDevice() = default;

  virtual std::string name() const = 0;
  /// Total device memory, and the bytes of it that can be allocated now.
  virtual std::int64_t memory_bytes() const = 0;
  virtual std::int64_t free_bytes() const = 0;
  virtual std::shared_ptr<std::byte> allocate(std::int64_t bytes) = 0;
  /// Host memory that the device can access directly.
  virtual std::shared_ptr<std::byte> allocate_on_host(std::int64_t bytes) = 0;
  /// Whether the device can access all of this host memory directly; other memory is staged through
  /// allocate_on_host().
  virtual bool reads(const void* host, std::int64_t bytes) const noexcept = 0;
  virtual std::unique_ptr<Queue> make_queue() = 0;
  virtual std::unique_ptr<Event> make_event() = 0;

  /// FFTs of `count` adjacent columns of `points` values, in a piece of points × count values.
  virtual std::unique_ptr<const DeviceKernel> columns(std::int64_t points, std::int64_t count) = 0;
  /// FFTs of `count` contiguous slabs of the shape `stored`. The first `row_points` values of each row are
  /// transformed; the others may end up with any value.
  virtual std::unique_ptr<const DeviceKernel> slabs(const Shape& stored, std::int64_t row_points,
                                                    std::int64_t count) = 0;
  /// In-place real FFTs of `count` slabs: samples at the beginnings of rows become half spectra of the shape
  /// `stored`, and back. Values in the gaps between samples may be overwritten.
  virtual std::unique_ptr<const DeviceKernel> real_slabs(const Shape& stored, std::int64_t row_points,
                                                         std::int64_t count) = 0;
  /// Without twiddles the real and imaginary parts are scaled independently, because they may be two samples.
  virtual void multiply(std::byte* piece, const PieceFactors& factors, Queue& queue) const = 0;
  /// Like multiply(), and transposes: columns of the piece become rows of `to`, which must not overlap it.
  virtual void multiply_transposed(const std::byte* piece, const PieceFactors& factors, std::byte* to,
                                   Queue& queue) const = 0;
  /// Convert the transform of sample pairs to half spectra, times `scale`, and back, like RealPasses.
  virtual void unpack_real(std::byte* piece, const MirroredPiece& columns, double scale,
                           Queue& queue) const = 0;
  virtual void pack_real(std::byte* piece, const MirroredPiece& columns, Queue& queue) const = 0;
  /// Convert rows of floats from block16 and back. The packed rows are contiguous in device memory at
  /// `packed`; each is followed by its exponents.
  virtual void unpack(const std::byte* packed, const Rows& floats, Queue& queue) const = 0;
  virtual void pack(const Rows& floats, std::byte* packed, Queue& queue) const = 0;
};

/// The devices that share an array. Each uses at most the memory of the smallest. If the list is empty, the
/// host does everything.
using OutOfCoreDevices = std::vector<std::shared_ptr<OutOfCoreDevice>>;

/// Whether this GPU exists and the build has code for it.
bool gpu_usable(int device);
/// Wraps the GPU as a device for complex values of 8 or 16 bytes. Throws Error(backend_unavailable) if there
/// is none.
std::unique_ptr<OutOfCoreDevice> make_gpu_device(int device, std::int64_t value_bytes);

}  // namespace sfft::detail
