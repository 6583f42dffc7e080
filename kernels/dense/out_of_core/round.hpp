// SPDX-License-Identifier: Apache-2.0
// A round of an out-of-core transform: one pass over the array. The first units go through the device piece
// by piece, on several streams. At the same time the host transforms the remaining units directly in the
// arrays.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/dense/out_of_core/load_model.hpp"
#include "kernels/dense/out_of_core/pieces.hpp"

namespace sfft::detail {

/// An array of `slabs` contiguous slabs, each stored in the shape `slab`.
struct DeviceArray {
  std::int64_t slabs = 1;
  Shape slab{1};
  std::int64_t row_points = 0;  ///< transforms this many values at the start of each row of a slab; 0: all
  Twiddles twiddles;            ///< applied after FFTs across the slabs
  /// Rows are half spectra of `real_points` real samples; rows of samples begin `real_pitch` samples apart. 0
  /// for complex arrays.
  std::int64_t real_points = 0, real_pitch = 0;
  /// The array is a real line: pairs of samples, or a half spectrum with one value more.
  bool real_line = false;
  std::int64_t slab_points() const noexcept { return slab.points(); }
  std::int64_t points() const noexcept { return slabs * slab.points(); }
};

/// Values that stay on a device between two rounds, as the first round leaves them: a range of columns of a
/// range of slabs. On the first device both ranges begin at 0.
struct Residency {
  std::byte* memory = nullptr;
  std::int64_t slabs = 0, columns = 0;
  std::int64_t first_slab = 0, first_column = 0;
};

/// The arrays that a round reads and writes; they may be the same.
struct RoundCall {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  bool inverse = false;
  double scale = 1;  ///< rounded to the type of the values
  /// What the round leaves on the device, and what it finds there.
  Residency left{}, found{};
  std::byte* kept = nullptr;  ///< kept_bytes() of device memory
  /// Whether the device can access the arrays directly. The caller's thread queries this once per call,
  /// because a thread that has not used a GPU yet may get a different answer.
  bool reads_from = false, writes_to = false;
};

/// Units first … first + count − 1 on a device, with the memory of their values and of their workspace.
struct DevicePiece {
  std::int64_t first = 0, count = 0;
  std::byte *memory = nullptr, *work = nullptr;
};

/// The work of one round, divided into units. Pieces of several units go through a device; the host does the
/// rest. A round moves bytes: what it knows of the type of its complex values is their size. What transforms
/// them on the host has the type.
class Round {
 public:
  Round(const DeviceArray& array, std::int64_t value_bytes) : array_(array), value_bytes_(value_bytes) {}
  virtual ~Round() = default;

  std::int64_t bytes(std::int64_t values) const noexcept { return values * value_bytes_; }
  virtual const char* name() const noexcept = 0;
  virtual std::int64_t units() const noexcept = 0;
  /// Pieces begin at multiples of this number of units.
  virtual std::int64_t grain() const noexcept { return std::min(line_values(), units()); }
  virtual std::int64_t unit_points() const noexcept = 0;
  /// Results overwrite what earlier pieces have read, so pieces run in order and the host has no share.
  virtual bool ordered() const noexcept { return false; }
  /// Bytes that one unit adds to each row of a piece; 0: pieces are contiguous.
  virtual std::int64_t row_bytes() const noexcept { return value_bytes_; }
  virtual std::unique_ptr<const DeviceKernel> kernel(OutOfCoreDevice& device, std::int64_t units) const = 0;
  /// Whether the device transposes a piece into separate memory, which is the workspace of its FFTs.
  virtual bool transposes() const noexcept { return false; }
  /// Bytes that compute() uses in addition to a piece of this many units.
  std::int64_t work_bytes(const DeviceKernel& kernel, std::int64_t units) const {
    return std::max(kernel.workspace_bytes(), transposes() ? bytes(units * unit_points()) : 0);
  }
  /// Bytes of device memory, in addition to pieces of this many units, for values that the round finds on the
  /// device and for results that cannot leave with their piece.
  virtual std::int64_t kept_bytes(std::int64_t, const Residency& found) const {
    return bytes(found.slabs * found.columns);
  }
  /// Transforms a piece and returns the address of the results, which is its memory or its workspace.
  virtual std::byte* compute(const OutOfCoreDevice& device, const DeviceKernel& kernel, const RoundCall& call,
                             const DevicePiece& piece, Queue& queue) const {
    kernel.run(piece.memory, call.inverse, piece.work, queue);
    return multiply(device, factors(call, piece.first, piece.count), piece, queue);
  }
  /// Locates units first … first + count − 1 in the array that the round reads, in one or several segments,
  /// and in a piece at `memory` on the device.
  virtual std::vector<PieceSegment> segments_in(const RoundCall& call, std::int64_t first, std::int64_t count,
                                                std::byte* memory) const = 0;
  /// The same for results in `memory` and the array that the round writes.
  virtual std::vector<PieceSegment> segments_out(const RoundCall& call, std::int64_t first,
                                                 std::int64_t count, std::byte* memory) const = 0;

  virtual void partition(const Partition&) {}
  /// Prepares the host for the units from `first` on. host_bytes() is the scratch of one thread, a multiple
  /// of 64 bytes.
  virtual void give_host(std::int64_t first) = 0;
  virtual std::int64_t host_bytes() const noexcept = 0;
  virtual std::int64_t host_parts() const noexcept = 0;
  virtual void host_part(std::int64_t part, const RoundCall& call, std::byte* scratch) const = 0;

 protected:
  /// The factors that multiply a piece's values.
  virtual PieceFactors factors(const RoundCall& call, std::int64_t first, std::int64_t count) const = 0;
  /// Multiplies a piece by its factors. Returns the address of the results, like compute().
  std::byte* multiply(const OutOfCoreDevice& device, const PieceFactors& by, const DevicePiece& piece,
                      Queue& queue) const {
    if (transposes()) {
      device.multiply_transposed(piece.memory, by, piece.work, queue);
      return piece.work;
    }
    if (!by.all_one()) device.multiply(piece.memory, by, queue);
    return piece.memory;
  }
  /// Values of a cache line pair, the unit of transfers from memory.
  std::int64_t line_values() const noexcept { return 128 / value_bytes_; }
  /// Segments of slabs first … first + count − 1, which lie at `memory` on the device and belong to `array`.
  /// Some of their columns may stay on the device.
  std::vector<PieceSegment> segments_of_slabs(const std::byte* array, std::int64_t slab_points,
                                              const Residency& resident, std::int64_t first,
                                              std::int64_t count, std::byte* memory) const;

  DeviceArray array_;
  std::int64_t value_bytes_;
};

/// The memory of a value of an array, which an array that a round only reads shares with those that it
/// writes.
inline std::byte* writable(const std::byte* memory) noexcept {
  return const_cast<std::byte*>(memory);
}
template <class Real>
const std::complex<Real>* values_at(const std::byte* array, std::int64_t index) noexcept {
  return reinterpret_cast<const std::complex<Real>*>(array) + index;
}
template <class Real>
std::complex<Real>* values_at(std::byte* array, std::int64_t index) noexcept {
  return reinterpret_cast<std::complex<Real>*>(array) + index;
}

/// FFTs across the slabs; a unit is a column. If `transposes`, into another array, transposed; a unit becomes
/// a slab of the result.
std::unique_ptr<Round> make_column_round(const DeviceArray& array, std::int64_t value_bytes, bool transposes);
/// FFTs of the slabs, which are rows, with transposed results in the same array; a unit becomes a column.
std::unique_ptr<Round> make_exchanged_round(const DeviceArray& array, std::int64_t value_bytes);
/// The two rounds of a real line; the first one transposes. A unit is a column together with the column of
/// the opposite frequencies.
std::unique_ptr<Round> make_mirrored_round(const DeviceArray& array, std::int64_t value_bytes,
                                           bool transposes);
/// FFTs of the slabs; a unit is one slab. For real arrays, real FFTs, from samples to half spectra and back;
/// in place, rows of samples need room for half spectra.
std::unique_ptr<Round> make_slab_round(const DeviceArray& array, std::int64_t value_bytes);

}  // namespace sfft::detail
