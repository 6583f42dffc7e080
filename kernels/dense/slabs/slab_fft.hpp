// SPDX-License-Identifier: Apache-2.0
// One transform over several devices: FFTs of planes on the device that has them, an exchange, and FFTs of
// lines across the planes.
#pragma once

#include <vector>

#include "kernels/dense/slabs/device_queues.hpp"
#include "kernels/dense/slabs/slab_grid.hpp"

namespace sfft::detail {

/// The arrays of one call, with one entry per device.
template <class Real>
struct SlabArrays {
  /// Complex signals that an inverse transform writes; null for real ones.
  std::vector<std::complex<Real>*> signals;
  std::vector<std::complex<Real>*> spectra;  ///< an inverse transform reads these and does not write them
  /// Scratch of planes_values() and rows_values() values. `planes` holds transformed planes before the
  /// exchange or, in real inverse transforms, the planes after it. `rows` holds the rows that an inverse
  /// transform has transformed.
  std::vector<std::complex<Real>*> planes, rows;
};

/// Host memory for pairs of devices without peer access; null for other pairs.
template <class Real>
struct SlabStaging {
  static constexpr int kSlots = 2;
  std::vector<std::complex<Real>*> slots;  ///< index: (from · devices + to) · kSlots + slot
};

/// Into how many chunks and parts a transform is cut.
struct SlabCuts {
  int chunks = 1;                  ///< per device, of its planes
  int parts = 1;                   ///< per device, of its rows
  double first_part = 1;           ///< fraction of the rows in the first part
  std::int64_t rows_together = 1;  ///< parts are whole blocks of this many rows
};

/// The schedule: what each device does, and what waits for what. Immutable.
///
/// Forward: while planes are transformed chunk by chunk, the first part of their rows is exchanged. The other
/// parts follow, each from all chunks; at the same time, lines across the planes are transformed in the parts
/// that have arrived. The links are therefore busy from the end of the first chunk until only the lines of
/// one small part are left.
/// Inverse: the same in reverse order.
template <class Real>
class SlabFft {
 public:
  /// `reaches[from · devices + to]`: whether a kernel of `from` may store into memory of `to`.
  SlabFft(const SlabGrid& grid, bool real, const SlabCuts& cuts, std::vector<bool> reaches);

  const SlabGrid& grid() const noexcept { return grid_; }
  int chunks() const noexcept { return chunks_; }
  int parts() const noexcept { return parts_; }
  /// Planes of the device in a chunk, counted from the device's first plane.
  Share chunk_of(int device, int chunk) const noexcept;
  /// Rows of the device in a part, counted from the device's first row.
  Share part_of(int device, int part) const noexcept;
  int events() const noexcept;  ///< per device
  /// The only event whose record a later call uses. It means that a device has emptied its slots.
  int lasting_event() const noexcept { return events() - 1; }

  /// The sizes of SlabArrays::planes and ::rows on a device, in values; 0 if the array is not used.
  std::int64_t planes_values(int device, bool inverse) const noexcept;
  std::int64_t rows_values(int device, bool inverse) const noexcept;
  /// Values in one slot of staging memory between two devices; 0 if no staging is needed.
  std::int64_t staging_values(int from, int to) const noexcept;
  bool has_peer_access(int from, int to) const noexcept;

  /// Enqueue a transform. It runs after all work that is in any device's queue `work`; later work in a
  /// device's queue `work` runs after that device's results are complete. `scale` multiplies the results.
  void forward(DeviceQueues<Real>& queues, const SlabArrays<Real>& arrays, const SlabStaging<Real>& staging,
               double scale) const;
  void inverse(DeviceQueues<Real>& queues, const SlabArrays<Real>& arrays, const SlabStaging<Real>& staging,
               double scale) const;

 private:
  /// The intersection of one device's planes and another device's rows.
  struct Block {
    int planes_of = 0, rows_of = 0;
    Share planes, rows;  ///< counted from the first plane or row of those devices
  };
  /// Addresses of a block in the planes or rows of its device.
  std::complex<Real>* in_planes(const std::vector<std::complex<Real>*>& planes, const Block& block) const;
  std::complex<Real>* in_rows(const std::vector<std::complex<Real>*>& rows, const Block& block) const;
  SlabPiece<Real> piece_of(const SlabArrays<Real>& arrays, const Block& block, bool inverse) const;

  void begin(DeviceQueues<Real>& queues) const;
  /// Planes that are exchanged together: one chunk for the first part, all planes for the others.
  Share planes_of(int device, int chunk, int part) const noexcept;
  /// Enqueues what a device sends to other devices in a chunk and a part.
  void send_others(DeviceQueues<Real>& queues, const SlabArrays<Real>& arrays,
                   const SlabStaging<Real>& staging, double scale, bool inverse, int from, int chunk,
                   int part) const;
  /// The piece of a chunk that stays on its device.
  SlabPiece<Real> own_piece(const SlabArrays<Real>& arrays, int device, int chunk, bool inverse) const;
  /// Makes the work of `device` wait for everything sent up to a chunk and a part.
  void arrive(DeviceQueues<Real>& queues, int device, int chunk, int part) const;
  std::size_t pair_of(int from, int to) const noexcept;
  /// Event numbers of a device.
  int ready(int step) const noexcept;
  int sent(int chunk, int part) const noexcept;
  int received(int chunk, int part) const noexcept;
  int emptied(int from, int slot) const noexcept;  ///< a slot that `from` has filled
  /// The number of times that a device has sent before this chunk and part.
  int turn_of(int chunk, int part, bool inverse) const noexcept;

  SlabGrid grid_;
  bool real_;
  int chunks_, parts_ = 1;
  SlabCuts cuts_;
  std::vector<bool> peer_access_;
};

}  // namespace sfft::detail
