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

/// The schedule: which device does what, and what waits for what. Planes go in chunks, so that a chunk is
/// exchanged while the next one is transformed, and the reverse. Immutable.
template <class Real>
class SlabFft {
 public:
  /// `reaches[from · devices + to]`: whether a kernel of `from` may store into memory of `to`.
  SlabFft(const SlabGrid& grid, bool real, int chunks, std::vector<bool> reaches);

  const SlabGrid& grid() const noexcept { return grid_; }
  int chunks() const noexcept { return chunks_; }
  /// Planes of the device in a chunk, counted from the device's first.
  Share chunk_of(int device, int chunk) const noexcept;
  int events() const noexcept;  ///< of each device

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
  void begin(DeviceQueues<Real>& queues) const;
  /// Queues one chunk's pieces from a device to all.
  void send_chunk(DeviceQueues<Real>& queues, const SlabStaging<Real>& staging, double scale, int from,
                  int chunk, const std::vector<SlabPiece<Real>>& pieces) const;
  /// The work of `device` waits for a chunk that others send to it.
  void arrive(DeviceQueues<Real>& queues, int device, int chunk) const;
  /// The event of a device that has emptied a slot which `from` had filled.
  int emptied(int from, int slot) const noexcept;

  SlabGrid grid_;
  bool real_;
  int chunks_;
  std::vector<bool> reaches_;
};

}  // namespace sfft::detail
