// SPDX-License-Identifier: Apache-2.0
// One transform over several devices: planes where the signal lies, an exchange, lines across the planes.
#pragma once

#include <vector>

#include "kernels/dense/slabs/device_queues.hpp"
#include "kernels/dense/slabs/slab_grid.hpp"

namespace sfft::detail {

/// Where the arrays of one call lie, an entry for each device.
template <class Real>
struct SlabArrays {
  /// Complex signals that an inverse transform writes; null for real ones.
  std::vector<std::complex<Real>*> signals;
  std::vector<std::complex<Real>*> spectra;  ///< read, not written, by an inverse transform
  /// Scratch of planes_values() and rows_values(): transformed planes before the exchange, and of real
  /// inverse transforms those after it; rows that an inverse transform has transformed.
  std::vector<std::complex<Real>*> planes, rows;
};

/// Host memory between devices that do not reach each other; null for pairs that do.
template <class Real>
struct SlabStaging {
  static constexpr int kSlots = 2;
  std::vector<std::complex<Real>*> slots;  ///< [(from · devices + to) · kSlots + slot]
};

/// How finely a transform is cut.
struct SlabCuts {
  int chunks = 1;                  ///< of the planes of a device
  int parts = 1;                   ///< of the rows of a device
  double first_part = 1;           ///< share of the rows in the first part
  std::int64_t rows_together = 1;  ///< parts consist of whole blocks of so many rows
};

/// The schedule: which device does what, and what waits for what. Immutable.
///
/// Forward: while planes are transformed, chunk by chunk, the first part of their rows is exchanged. Then the
/// other parts follow, each from all chunks, while lines across the planes are transformed in the parts that
/// have arrived. What the links carry begins after one chunk and ends one small part of lines before the end.
/// Inverse: the reverse.
template <class Real>
class SlabFft {
 public:
  /// `reaches[from · devices + to]`: whether a kernel of `from` may store into memory of `to`.
  SlabFft(const SlabGrid& grid, bool real, const SlabCuts& cuts, std::vector<bool> reaches);

  const SlabGrid& grid() const noexcept { return grid_; }
  int chunks() const noexcept { return chunks_; }
  int parts() const noexcept { return parts_; }
  /// Planes of the device in a chunk, counted from the device's first.
  Share chunk_of(int device, int chunk) const noexcept;
  /// Rows of the device in a part, counted from the device's first.
  Share part_of(int device, int part) const noexcept;
  int events() const noexcept;  ///< of each device
  /// The only one that calls find as an earlier call has left it: where a device has emptied its slots.
  int lasting_event() const noexcept { return events() - 1; }

  /// Values of SlabArrays::planes and ::rows on a device; 0: it is not used.
  std::int64_t planes_values(int device, bool inverse) const noexcept;
  std::int64_t rows_values(int device, bool inverse) const noexcept;
  /// Values of one slot of staging memory between two devices; 0: none is needed.
  std::int64_t staging_values(int from, int to) const noexcept;
  bool reaches(int from, int to) const noexcept;

  /// Queue a transform. What is in the lanes `work` before happens before it, on all devices; what comes
  /// after in the lane `work` of a device finds its results there. `scale` multiplies the results.
  void forward(DeviceQueues<Real>& queues, const SlabArrays<Real>& arrays, const SlabStaging<Real>& staging,
               double scale) const;
  void inverse(DeviceQueues<Real>& queues, const SlabArrays<Real>& arrays, const SlabStaging<Real>& staging,
               double scale) const;

 private:
  /// Planes of one device and rows of another one.
  struct Block {
    int planes_of = 0, rows_of = 0;
    Share planes, rows;  ///< counted from the first of those devices
  };
  /// A block where planes lie, or where rows do, in the memory of its device.
  std::complex<Real>* in_planes(const std::vector<std::complex<Real>*>& planes, const Block& block) const;
  std::complex<Real>* in_rows(const std::vector<std::complex<Real>*>& rows, const Block& block) const;
  SlabPiece<Real> piece_of(const SlabArrays<Real>& arrays, const Block& block, bool inverse) const;

  void begin(DeviceQueues<Real>& queues) const;
  /// Planes that are exchanged together: a chunk of the first part, all of the others.
  Share planes_of(int device, int chunk, int part) const noexcept;
  /// Queues what a device sends of a chunk and a part to the others.
  void send_others(DeviceQueues<Real>& queues, const SlabArrays<Real>& arrays,
                   const SlabStaging<Real>& staging, double scale, bool inverse, int from, int chunk,
                   int part) const;
  /// The piece of a chunk that stays on its device.
  SlabPiece<Real> own_piece(const SlabArrays<Real>& arrays, int device, int chunk, bool inverse) const;
  /// The work of `device` waits for all that was sent up to a chunk and a part.
  void arrive(DeviceQueues<Real>& queues, int device, int chunk, int part) const;
  std::size_t pair_of(int from, int to) const noexcept;
  /// Events of a device.
  int ready(int step) const noexcept;
  int sent(int chunk, int part) const noexcept;
  int received(int chunk, int part) const noexcept;
  int emptied(int from, int slot) const noexcept;  ///< a slot which `from` had filled
  /// How many times a device has sent before this chunk and part.
  int turn_of(int chunk, int part, bool inverse) const noexcept;

  SlabGrid grid_;
  bool real_;
  int chunks_, parts_ = 1;
  SlabCuts cuts_;
  std::vector<bool> reaches_;
};

}  // namespace sfft::detail
