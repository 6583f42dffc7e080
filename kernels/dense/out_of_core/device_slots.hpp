// SPDX-License-Identifier: Apache-2.0
// Resources of a device for the pieces of an array: three queues, and memory for a few pieces.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/dense/out_of_core/out_of_core_device.hpp"

namespace sfft::detail {

/// A part of a piece, and its source or destination: host memory, or memory that stays on the device.
struct PieceSegment {
  Rows piece, array;
  bool resident = false;
};

/// Copies in, kernels and copies out each have a queue, which handles pieces in order. Each slot holds one
/// piece. While results are still leaving a slot, the next piece is copied into the parts that have left.
class DeviceSlots {
 public:
  static constexpr int kParts = 4;

  struct Slot {
    std::shared_ptr<std::byte> memory;
    std::shared_ptr<std::byte> staging;  ///< null if no piece has to be staged
    std::unique_ptr<Event> filled, computed;
    std::array<std::unique_ptr<Event>, kParts> left;  ///< recorded after each part of the results has left
    bool in_place = false;                            ///< results are in the piece's memory
  };

  /// Allocates everything, or throws Error(out_of_memory) and keeps nothing.
  DeviceSlots(OutOfCoreDevice& device, int count, std::int64_t bytes, std::int64_t staging_bytes);
  /// Host memory that the device can access directly, or pageable memory if the system has no more of it.
  static std::shared_ptr<std::byte> host_memory(OutOfCoreDevice& device, std::int64_t bytes,
                                                bool* pageable = nullptr);

  std::vector<Slot>& all() noexcept { return slots_; }
  Queue& in() noexcept { return *in_; }
  Queue& kernels() noexcept { return *kernels_; }
  Queue& out() noexcept { return *out_; }
  /// Waits for all queues and ignores failures. No slot is in use afterwards.
  void settle() noexcept;
  bool fits(std::int64_t bytes, std::int64_t staging_bytes) const noexcept {
    return bytes <= bytes_ && staging_bytes <= staging_bytes_;
  }
  /// Whether a staging buffer could not be page-locked.
  bool pageable() const noexcept { return pageable_; }

 private:
  std::unique_ptr<Queue> in_, kernels_, out_;
  std::vector<Slot> slots_;
  std::int64_t bytes_, staging_bytes_;
  bool pageable_ = false;
};

/// Iterates over the rows of segments in device memory order, from one end address to the next.
class PieceParts {
 public:
  explicit PieceParts(std::vector<PieceSegment> segments)
      : segments_(std::move(segments)), passed_(segments_.size(), 0) {}

  /// Calls copy(segment) for rows that were not passed yet: if `whole`, those that end at or before `end`,
  /// otherwise all that begin before it. Segments of a single row are cut at `end`.
  template <class Copy>
  void pass(const std::byte* end, bool whole, const Copy& copy) {
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      const PieceSegment& all = segments_[i];
      const std::int64_t next = passed(all.piece, end, whole), count = next - passed_[i];
      if (count <= 0) continue;
      PieceSegment part = all;
      if (all.piece.rows == 1) {
        part.piece = all.piece.with_columns(passed_[i], count);
        part.array = all.array.with_columns(passed_[i], count);
      } else {
        part.piece = all.piece.with_rows(passed_[i], count);
        part.array = all.array.with_rows(passed_[i], count);
      }
      copy(part);
      passed_[i] = next;
    }
  }

 private:
  /// Counts rows, or bytes for a single row.
  static std::int64_t passed(const Rows& piece, const std::byte* end, bool whole) {
    if (end <= piece.data) return 0;
    const std::int64_t before = end - piece.data;
    if (piece.rows == 1) return std::min(before, piece.width);
    const std::int64_t rows = whole ? before < piece.width ? 0 : (before - piece.width) / piece.pitch + 1
                                    : (before + piece.pitch - 1) / piece.pitch;
    return std::min(rows, piece.rows);
  }

  std::vector<PieceSegment> segments_;
  std::vector<std::int64_t> passed_;
};

}  // namespace sfft::detail
