// SPDX-License-Identifier: Apache-2.0
// A round of an out-of-core transform: one trip of the array past the processors. Its first units go through
// the device piece by piece, over several streams; the host transforms the others where they lie, at the same
// time.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/dense/out_of_core/device_slots.hpp"
#include "kernels/dense/out_of_core/load_model.hpp"

namespace sfft::detail {

/// An array of `slabs` slabs, each stored in the shape `slab`, contiguous.
struct DeviceArray {
  std::int64_t slabs = 1;
  Shape slab{1};
  std::int64_t row_points = 0;  ///< of a slab's rows that are transformed, the first ones; 0: all
  Twiddles twiddles;            ///< after FFTs across the slabs
  /// Rows are half spectra of so many real samples; rows of samples begin `real_pitch` apart. 0: complex.
  std::int64_t real_points = 0, real_pitch = 0;
  /// The array is a real line: pairs of samples, or a half spectrum with a value more.
  bool real_line = false;
  std::int64_t slab_points() const noexcept { return slab.points(); }
  std::int64_t points() const noexcept { return slabs * slab.points(); }
};

template <class Real>
std::size_t array_bytes(std::int64_t values) noexcept {
  return static_cast<std::size_t>(values) * sizeof(std::complex<Real>);
}

/// What stays on a device between two rounds: columns of slabs, as the first round leaves them. On the first
/// device these are the first ones.
struct Residency {
  std::byte* memory = nullptr;
  std::int64_t slabs = 0, columns = 0;
  std::int64_t first_slab = 0, first_column = 0;
};

/// The array that a round reads and the one that it writes, which may be the same. Where they hold samples of
/// real signals, they are of Real.
template <class Real>
struct RoundCall {
  const std::complex<Real>* from = nullptr;
  std::complex<Real>* to = nullptr;
  bool inverse = false;
  Real scale = 1;
  /// What the round leaves on the device, and what it finds there.
  Residency left{}, found{};
  std::byte* kept = nullptr;  ///< kept_bytes() of the device's memory
  /// Whether the device reads and writes the arrays itself. Asked once per call, by the caller's thread: a
  /// thread that has not used a GPU yet may be told otherwise.
  bool reads_from = false, writes_to = false;
};

/// What the two processors of a round do: a number of units, of which pieces of several go through the
/// device.
template <class Real>
class Round {
 public:
  explicit Round(const DeviceArray& array) : array_(array) {}
  virtual ~Round() = default;

  virtual const char* name() const noexcept = 0;
  virtual std::int64_t units() const noexcept = 0;
  /// Pieces begin at multiples of it.
  virtual std::int64_t grain() const noexcept = 0;
  virtual std::int64_t unit_points() const noexcept = 0;
  /// Results go where earlier pieces were read: pieces follow each other, and the host has no share.
  virtual bool ordered() const noexcept { return false; }
  /// Bytes that a unit adds to each of the rows of a piece; 0: pieces are contiguous.
  virtual std::size_t row_bytes() const noexcept { return 0; }
  virtual std::unique_ptr<const DeviceKernel<Real>> kernel(OutOfCoreDevice<Real>& device,
                                                           std::int64_t units) const = 0;
  /// Bytes beside a piece of so many units that compute() uses.
  virtual std::size_t work_bytes(const DeviceKernel<Real>& kernel, std::int64_t) const {
    return kernel.workspace_bytes();
  }
  /// Bytes of the device's memory, beside the pieces of so many units, for what the round finds there and for
  /// results that cannot leave with their piece.
  virtual std::size_t kept_bytes(std::int64_t, const Residency& found) const {
    return array_bytes<Real>(found.slabs * found.columns);
  }
  /// Transforms a piece. The results are in `memory`, too, or in `work`, as returned.
  virtual std::byte* compute(const OutOfCoreDevice<Real>& device, const DeviceKernel<Real>& kernel,
                             const RoundCall<Real>& call, std::int64_t first, std::int64_t count,
                             std::byte* memory, std::byte* work, OutOfCoreStream& stream) const {
    auto* const values = reinterpret_cast<std::complex<Real>*>(memory);
    kernel.run(values, call.inverse, work, stream);
    const PieceFactors by = factors(call, first, count);
    if (!by.all_one()) device.multiply(values, by, stream);
    return memory;
  }
  /// Where units first … first + count − 1 lie in the array that the round reads, in one part or several, and
  /// where in a piece at `memory` on the device.
  virtual std::vector<PieceSegment> segments_in(const RoundCall<Real>& call, std::int64_t first,
                                                std::int64_t count, std::byte* memory) const = 0;
  /// The same of results in `memory` and the array that the round writes.
  virtual std::vector<PieceSegment> segments_out(const RoundCall<Real>& call, std::int64_t first,
                                                 std::int64_t count, std::byte* memory) const = 0;

  virtual void partition(const Partition&) {}
  /// Prepares the host for the units from `first` on. Scratch of one thread, a multiple of 64 bytes.
  virtual void give_host(std::int64_t first) = 0;
  virtual std::size_t host_bytes() const noexcept = 0;
  virtual std::int64_t host_parts() const noexcept = 0;
  virtual void host_part(std::int64_t part, const RoundCall<Real>& call, std::byte* scratch) const = 0;

 protected:
  /// What a piece's values are multiplied by.
  virtual PieceFactors factors(const RoundCall<Real>& call, std::int64_t first, std::int64_t count) const = 0;

  DeviceArray array_;
};

/// FFTs across the slabs: a unit is a column.
template <class Real>
std::unique_ptr<Round<Real>> make_column_round(const DeviceArray& array);
/// The same into another array, transposed: a unit becomes a slab of the result.
template <class Real>
std::unique_ptr<Round<Real>> make_transposed_round(const DeviceArray& array);
/// FFTs of the slabs, which are rows, into the array that is read, transposed: a unit becomes a column.
template <class Real>
std::unique_ptr<Round<Real>> make_exchanged_round(const DeviceArray& array);
/// The two rounds of a real line, of which the first transposes: a unit is a column and that of the opposite
/// frequencies.
template <class Real>
std::unique_ptr<Round<Real>> make_mirrored_round(const DeviceArray& array, bool transposes);
/// FFTs of the slabs: a unit is one of them.
template <class Real>
std::unique_ptr<Round<Real>> make_slab_round(const DeviceArray& array);
/// Real FFTs of the slabs: from samples to half spectra and, inverse, back. In place samples need the room of
/// half spectra.
template <class Real>
std::unique_ptr<Round<Real>> make_real_slab_round(const DeviceArray& array);

/// Parts of slabs first … first + count − 1, which lie at `memory` on the device and belong to `array`: some
/// columns of them may stay on the device.
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
