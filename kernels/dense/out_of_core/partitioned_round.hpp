// SPDX-License-Identifier: Apache-2.0
// A round whose work is partitioned between devices and host, and its concurrent execution on all of them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/dense/out_of_core/load_model.hpp"
#include "kernels/dense/out_of_core/out_of_core_plan.hpp"
#include "kernels/dense/out_of_core/pieces.hpp"
#include "kernels/dense/out_of_core/round.hpp"

namespace sfft::detail {

/// The part of a call on one device. `kept` is the memory of `left`, `found` and RoundCall::kept.
struct DeviceShare {
  DeviceSlots* slots = nullptr;
  std::byte* kept = nullptr;
  Residency left{}, found{};
};

class PartitionedRound {
 public:
  /// `slot_bytes` is the device memory for each of `streams` streams. Throws Error(out_of_memory), which says
  /// how many bytes are needed, if even the smallest piece does not fit. Without a device the host does
  /// everything. An ordered round uses only the first device.
  PartitionedRound(std::unique_ptr<Round> round, const OutOfCoreDevices& devices, std::int64_t slot_bytes,
                   int streams, const OutOfCoreOptions& options);

  /// The minimum device memory per stream with which the round works.
  static std::int64_t min_bytes(const Round& round, OutOfCoreDevice& device, bool packed);

  void set_host_share(double host_share);
  /// Whether the rows of pieces are long enough for the full speed of the bus.
  bool copies_fast() const noexcept;
  const Round& round() const noexcept { return *round_; }
  const PieceLimits& limits() const noexcept { return limits_; }
  const Partition& partition() const noexcept { return partition_; }
  double host_share() const noexcept {
    return 1 - static_cast<double>(partition_.device_units) / static_cast<double>(limits_.units);
  }
  /// Device memory that one stream needs with the current partition, and the bytes of one piece.
  std::int64_t slot_bytes() const noexcept;
  std::int64_t piece_bytes() const noexcept { return data_bytes(partition_.piece_units); }
  /// Host memory that stages a piece if the device cannot access the arrays directly, or if pieces are
  /// packed.
  std::int64_t staging_bytes() const noexcept { return (round_->ordered() ? 2 : 1) * piece_bytes(); }
  /// Bytes of device memory that a call needs in addition to its streams, given what the round finds on the
  /// device.
  std::int64_t kept_bytes(const Residency& found = {}) const {
    return partition_.pieces == 0 ? 0 : round_->kept_bytes(partition_.piece_units, found);
  }

  /// Blocks until the round is done. `scratch` has round().host_bytes() for each host thread. Rethrows the
  /// first failure; arrays are then partly transformed. `shares` may be empty if the devices get no work.
  RoundTimes run(const RoundCall& call, const std::vector<DeviceShare>& shares, cpu::ThreadPool* pool,
                 std::byte* scratch) const;
  /// The time per unit of each step, measured with one piece in one slot of the first device. Zeros if the
  /// devices get no work.
  RoundProfile profile_device(const RoundCall& call, DeviceSlots& slots) const;

 private:
  using Slot = DeviceSlots::Slot;

  /// The data and workspace of a piece begin at multiples of 256 bytes.
  static std::int64_t aligned(std::int64_t bytes) noexcept { return (bytes + 255) / 256 * 256; }
  std::int64_t data_bytes(std::int64_t units) const noexcept {
    return round_->bytes(units * round_->unit_points());
  }
  std::int64_t needed_bytes(const DeviceKernel& kernel, std::int64_t units) const;
  /// Bytes at the end of a slot for the packed values of a piece. They allow for values that packing does not
  /// shrink.
  std::int64_t packed_bytes(std::int64_t units) const noexcept;
  std::byte* packed_in(const Slot& slot) const noexcept {
    return slot.memory.get() + slot_bytes() - packed_bytes(partition_.piece_units);
  }
  bool within_budget(std::int64_t slot_bytes, std::int64_t units) const {
    return limits_.streams * slot_bytes + round_->kept_bytes(units, {}) <= limits_.streams * slot_budget_;
  }
  /// A device, with its kernels for full pieces and for the shorter last piece.
  struct OnDevice {
    OutOfCoreDevice* device;
    std::unique_ptr<const DeviceKernel> full, rest;
  };
  /// Units first … first + count − 1 of a call, and the slot through which they pass.
  struct Work {
    std::int64_t first, count;
    const OnDevice& on;
    const RoundCall& call;
    Slot& slot;
  };
  /// A device's work in a call, and the piece whose turn it is to be enqueued.
  struct Turns {
    const OnDevice& on;
    RoundCall call;
    DeviceSlots& slots;
    std::int64_t first, end;            ///< range of pieces
    std::atomic<std::int64_t> to_take;  ///< next piece for a thread to take
    std::mutex mutex;
    std::condition_variable taken;
    std::int64_t next;  ///< next piece to be enqueued
    bool failed = false;

    Turns(const OnDevice& device, const RoundCall& whole, const DeviceShare& share,
          std::pair<std::int64_t, std::int64_t> pieces)
        : on(device),
          call(whole),
          slots(*share.slots),
          first(pieces.first),
          end(pieces.second),
          to_take(first),
          next(first) {
      call.left = share.left;
      call.found = share.found;
      call.left.memory = call.found.memory = call.kept = share.kept;
    }
    void fail();
  };
  /// Enqueues the work of a piece on its device. If the arrays are staged, it blocks until the results are in
  /// them.
  void device_piece(std::int64_t piece, Turns& turns, Slot& slot, HostCopies& copies) const;
  /// Waits for the piece's turn, calls ask(), and gives the turn to the next piece. Returns false if another
  /// piece has failed.
  template <class Enqueue>
  static bool in_turn(std::int64_t piece, Turns& turns, const Enqueue& ask);
  void enqueue_in(std::vector<PieceSegment> segments, Copier copier, DeviceSlots& slots, Slot& slot) const;
  void enqueue_out(std::vector<PieceSegment> segments, Copier copier, DeviceSlots& slots, Slot& slot) const;
  /// Enqueues all work of a piece whose floats cross the bus in block16. Returns the segments of the results.
  std::vector<PieceSegment> enqueue_packed(const Work& work, const std::vector<PieceSegment>& in,
                                           const BufferedPiece& from, DeviceSlots& slots) const;
  std::vector<PieceSegment> compute_packed(const Work& work, const BufferedPiece& from, Queue& queue) const;
  /// Returns the address of a piece's results on the device.
  std::byte* compute(const Work& work, Queue& queue) const;
  std::byte* enqueue_kernels(const Work& work, DeviceSlots& slots) const;
  const std::byte* part_end(const Slot& slot, int part) const noexcept {
    return slot.memory.get() + piece_bytes() * (part + 1) / DeviceSlots::kParts;
  }

  std::unique_ptr<Round> round_;
  std::vector<OnDevice> on_;  ///< empty without a device
  std::int64_t slot_budget_;
  bool packed_;
  PieceLimits limits_;
  Partition partition_;
};

}  // namespace sfft::detail
