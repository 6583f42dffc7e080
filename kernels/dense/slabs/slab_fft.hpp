// SPDX-License-Identifier: Apache-2.0
// One transform over several devices: FFTs of planes on the device that has them, an exchange, and FFTs of
// lines across the planes.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/dense/slabs/slab_grid.hpp"
#include "kernels/runtime/queue.hpp"

namespace sfft::detail {

/// The queues of a device: `work` is the caller's stream; the others carry the exchange.
enum class Lane { work, send, receive };
inline constexpr int kLanes = 3;

/// Rows and where they go.
struct SlabPiece {
  Rows from, to;
};

/// What a transform in slabs needs from the devices that share it: GPUs or, in tests, an emulation. One call.
/// Devices are counted from 0. Functions throw Error(device).
class SlabDevices {
 public:
  virtual ~SlabDevices() = default;

  virtual Queue& queue(int device, Lane lane) = 0;
  /// Events of a device are counted from 0. SlabFft::lasting_event() keeps its record for later calls.
  virtual Event& event(int device, int number) = 0;

  /// Enqueues, by calling `enqueue`, the work that a device does in its queues `work` and `send` before it
  /// waits for other devices. Implementations may capture that work and repeat it in later calls with the
  /// same arrays.
  virtual void by_itself(int device, const std::function<void()>& enqueue) = 0;
  /// In queue `work`: transforms some of the device's planes, one chunk of the slab grid, from signals to
  /// `spectra`, which begins with the first of these planes. Multiplies rows that stay on the device by
  /// `scale` and stores them where `own` says; their values in `spectra` are not needed.
  virtual void planes_forward(int device, const Share& planes, std::byte* spectra, const SlabPiece& own,
                              double scale) = 0;
  /// The inverse. First stores `own` among the spectra, which completes them. Complex `spectra` may lie in
  /// the signals.
  virtual void planes_inverse(int device, const Share& planes, std::byte* spectra, const SlabPiece& own,
                              double scale) = 0;
  /// In queue `work`: transforms lines across the planes, for some of the device's rows. In place if the
  /// arrays are the same.
  virtual void columns(int device, const Share& rows, const std::byte* from, std::byte* to, bool inverse) = 0;
  /// In queue `send`: stores pieces, times `scale`, in the memory of devices that this one can access
  /// directly, or in host memory. Implementations may apply the scale earlier, when they transform the rows
  /// for other devices.
  virtual void send(int device, std::span<const SlabPiece> pieces, double scale) = 0;
  /// In queue `receive`: copies from staging memory of the host.
  virtual void receive(int device, const SlabPiece& piece) = 0;
};

/// The arrays of one call, with one entry per device.
struct SlabArrays {
  std::vector<std::byte*> signals;  ///< complex signals that an inverse transform writes; null for real ones
  std::vector<std::byte*> spectra;  ///< an inverse transform reads these and does not write them
  /// Scratch of planes_values() and rows_values() values. `planes` holds transformed planes before the
  /// exchange or, in real inverse transforms, the planes after it. `rows` holds the rows that an inverse
  /// transform has transformed.
  std::vector<std::byte*> planes, rows;
};

/// Host memory for pairs of devices without peer access; null for other pairs.
struct SlabStaging {
  static constexpr int kSlots = 2;
  std::vector<std::byte*> slots;  ///< index: (from · devices + to) · kSlots + slot
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
class SlabFft {
 public:
  /// `reaches[from · devices + to]`: whether a kernel of `from` may store into memory of `to`.
  /// `value_bytes`: of a complex value.
  SlabFft(const SlabGrid& grid, std::int64_t value_bytes, bool real, const SlabCuts& cuts,
          std::vector<bool> reaches);

  const SlabGrid& grid() const noexcept { return grid_; }
  std::int64_t value_bytes() const noexcept { return value_bytes_; }
  std::int64_t bytes(std::int64_t values) const noexcept { return values * value_bytes_; }
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
  void forward(SlabDevices& devices, const SlabArrays& arrays, const SlabStaging& staging,
               double scale) const;
  void inverse(SlabDevices& devices, const SlabArrays& arrays, const SlabStaging& staging,
               double scale) const;

 private:
  struct Call {
    SlabDevices& devices;
    const SlabArrays& arrays;
    const SlabStaging& staging;
    double scale;
    bool inverse;

    void record(int device, Lane lane, int event) const {
      devices.queue(device, lane).record(devices.event(device, event));
    }
    /// Waits for an event of this or another device.
    void wait(int device, Lane lane, int of, int event) const {
      devices.queue(device, lane).wait(devices.event(of, event));
    }
  };
  /// The intersection of one device's planes and another device's rows.
  struct Block {
    int planes_of = 0, rows_of = 0;
    Share planes, rows;  ///< counted from the first plane or row of those devices
  };
  /// The rows of a block in the planes or in the rows of its device.
  Rows in_planes(const std::vector<std::byte*>& planes, const Block& block) const;
  Rows in_rows(const std::vector<std::byte*>& rows, const Block& block) const;
  SlabPiece piece_of(const Call& call, const Block& block) const;

  void begin(const Call& call) const;
  /// Planes that are exchanged together: one chunk for the first part, all planes for the others.
  Share planes_of(int device, int chunk, int part) const noexcept;
  /// Enqueues what a device sends to other devices in a chunk and a part.
  void send_others(const Call& call, int from, int chunk, int part) const;
  /// The piece of a chunk that stays on its device.
  SlabPiece own_piece(const Call& call, int device, int chunk) const;
  /// Makes the work of `device` wait for everything sent up to a chunk and a part.
  void arrive(const Call& call, int device, int chunk, int part) const;
  std::size_t pair_of(int from, int to) const noexcept;
  /// Event numbers of a device.
  int ready(int step) const noexcept;
  int sent(int chunk, int part) const noexcept;
  int received(int chunk, int part) const noexcept;
  int emptied(int from, int slot) const noexcept;  ///< a slot that `from` has filled
  /// The number of times that a device has sent before this chunk and part.
  int turn_of(int chunk, int part, bool inverse) const noexcept;

  SlabGrid grid_;
  std::int64_t value_bytes_;
  bool real_;
  int chunks_, parts_ = 1;
  SlabCuts cuts_;
  std::vector<bool> peer_access_;
};

}  // namespace sfft::detail
