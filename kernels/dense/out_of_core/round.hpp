// SPDX-License-Identifier: Apache-2.0
// A round of an out-of-core transform: one pass over the array. The first units go through the device piece
// by piece, on several streams. At the same time the host transforms the remaining units directly in the
// arrays.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/dense/out_of_core/device_slots.hpp"
#include "kernels/dense/out_of_core/load_model.hpp"

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

template <class Real>
std::size_t array_bytes(std::int64_t values) noexcept {
  return static_cast<std::size_t>(values) * sizeof(std::complex<Real>);
}

/// Values that stay on a device between two rounds, as the first round leaves them: a range of columns of a
/// range of slabs. On the first device both ranges begin at 0.
struct Residency {
  std::byte* memory = nullptr;
  std::int64_t slabs = 0, columns = 0;
  std::int64_t first_slab = 0, first_column = 0;
};

/// The arrays that a round reads and writes; they may be the same. Samples of real signals have the type
/// Real.
template <class Real>
struct RoundCall {
  const std::complex<Real>* from = nullptr;
  std::complex<Real>* to = nullptr;
  bool inverse = false;
  Real scale = 1;
  /// What the round leaves on the device, and what it finds there.
  Residency left{}, found{};
  std::byte* kept = nullptr;  ///< kept_bytes() of device memory
  /// Whether the device can access the arrays directly. The caller's thread queries this once per call,
  /// because a thread that has not used a GPU yet may get a different answer.
  bool reads_from = false, writes_to = false;
};

/// The work of one round, divided into units. Pieces of several units go through a device; the host does the
/// rest.
template <class Real>
class Round {
 public:
  explicit Round(const DeviceArray& array) : array_(array) {}
  virtual ~Round() = default;

  virtual const char* name() const noexcept = 0;
  virtual std::int64_t units() const noexcept = 0;
  /// Pieces begin at multiples of this number of units.
  virtual std::int64_t grain() const noexcept = 0;
  virtual std::int64_t unit_points() const noexcept = 0;
  /// Results overwrite what earlier pieces have read, so pieces run in order and the host has no share.
  virtual bool ordered() const noexcept { return false; }
  /// Bytes that one unit adds to each row of a piece; 0: pieces are contiguous.
  virtual std::size_t row_bytes() const noexcept { return 0; }
  virtual std::unique_ptr<const DeviceKernel<Real>> kernel(OutOfCoreDevice<Real>& device,
                                                           std::int64_t units) const = 0;
  /// Bytes that compute() uses in addition to a piece of this many units.
  virtual std::size_t work_bytes(const DeviceKernel<Real>& kernel, std::int64_t) const {
    return kernel.workspace_bytes();
  }
  /// Bytes of device memory, in addition to pieces of this many units, for values that the round finds on the
  /// device and for results that cannot leave with their piece.
  virtual std::size_t kept_bytes(std::int64_t, const Residency& found) const {
    return array_bytes<Real>(found.slabs * found.columns);
  }
  /// Transforms a piece and returns the address of the results, which is `memory` or `work`.
  virtual std::byte* compute(const OutOfCoreDevice<Real>& device, const DeviceKernel<Real>& kernel,
                             const RoundCall<Real>& call, std::int64_t first, std::int64_t count,
                             std::byte* memory, std::byte* work, OutOfCoreStream& stream) const {
    auto* const values = reinterpret_cast<std::complex<Real>*>(memory);
    kernel.run(values, call.inverse, work, stream);
    const PieceFactors by = factors(call, first, count);
    if (!by.all_one()) device.multiply(values, by, stream);
    return memory;
  }
  /// Locates units first … first + count − 1 in the array that the round reads, in one or several segments,
  /// and in a piece at `memory` on the device.
  virtual std::vector<PieceSegment> segments_in(const RoundCall<Real>& call, std::int64_t first,
                                                std::int64_t count, std::byte* memory) const = 0;
  /// The same for results in `memory` and the array that the round writes.
  virtual std::vector<PieceSegment> segments_out(const RoundCall<Real>& call, std::int64_t first,
                                                 std::int64_t count, std::byte* memory) const = 0;

  virtual void partition(const Partition&) {}
  /// Prepares the host for the units from `first` on. host_bytes() is the scratch of one thread, a multiple
  /// of 64 bytes.
  virtual void give_host(std::int64_t first) = 0;
  virtual std::size_t host_bytes() const noexcept = 0;
  virtual std::int64_t host_parts() const noexcept = 0;
  virtual void host_part(std::int64_t part, const RoundCall<Real>& call, std::byte* scratch) const = 0;

 protected:
  /// The factors that multiply a piece's values.
  virtual PieceFactors factors(const RoundCall<Real>& call, std::int64_t first, std::int64_t count) const = 0;

  DeviceArray array_;
};

/// FFTs across the slabs; a unit is a column.
template <class Real>
std::unique_ptr<Round<Real>> make_column_round(const DeviceArray& array);
/// FFTs across the slabs into another array, transposed; a unit becomes a slab of the result.
template <class Real>
std::unique_ptr<Round<Real>> make_transposed_round(const DeviceArray& array);
/// FFTs of the slabs, which are rows, with transposed results in the same array; a unit becomes a column.
template <class Real>
std::unique_ptr<Round<Real>> make_exchanged_round(const DeviceArray& array);
/// The two rounds of a real line; the first one transposes. A unit is a column together with the column of
/// the opposite frequencies.
template <class Real>
std::unique_ptr<Round<Real>> make_mirrored_round(const DeviceArray& array, bool transposes);
/// FFTs of the slabs; a unit is one slab.
template <class Real>
std::unique_ptr<Round<Real>> make_slab_round(const DeviceArray& array);
/// Real FFTs of the slabs, from samples to half spectra and back. In place, rows of samples need room for
/// half spectra.
template <class Real>
std::unique_ptr<Round<Real>> make_real_slab_round(const DeviceArray& array);

/// Segments of slabs first … first + count − 1, which lie at `memory` on the device and belong to `array`.
/// Some of their columns may stay on the device.
template <class Real>
std::vector<PieceSegment> segments_of_slabs(const std::complex<Real>* array, std::int64_t slab_points,
                                            std::int64_t first, std::int64_t count, const Residency& resident,
                                            std::byte* memory) {
  const std::size_t slab = array_bytes<Real>(slab_points), rows = static_cast<std::size_t>(count);
  auto* const begin = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(array + first * slab_points));
  const std::int64_t before = first - resident.first_slab;
  if (before < 0 || before >= resident.slabs) {
    const DeviceRows all{begin, slab * rows, slab * rows, 1};
    return {{all.packed_at(memory), all}};
  }
  const std::size_t from = array_bytes<Real>(resident.first_column),
                    columns = array_bytes<Real>(resident.columns), end = from + columns;
  const DeviceRows piece{memory, slab, slab, rows}, whole{begin, slab, slab, rows};
  const DeviceRows kept{resident.memory + static_cast<std::size_t>(before) * columns, columns, columns, rows};
  std::vector<PieceSegment> segments{{piece.with_columns(from, columns), kept, true}};
  const auto add = [&](std::size_t at, std::size_t bytes) {
    if (bytes > 0) segments.push_back({piece.with_columns(at, bytes), whole.with_columns(at, bytes)});
  };
  add(0, from);
  add(end, slab - end);
  return segments;
}

}  // namespace sfft::detail
