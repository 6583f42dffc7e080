// SPDX-License-Identifier: Apache-2.0
// Resources of a device for the pieces of an array: three queues, and memory for a few pieces.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
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

/// Rows of a segment that is staged through a buffer, and their offset in the buffer. Rows in the buffer are
/// contiguous. They are plain copies or, for floats, in block16 (sfft/storage.hpp), each row followed by its
/// exponents.
struct BufferedRows {
  Rows piece, array;
  std::int64_t offset = 0, row_bytes = 0;

  std::int64_t end() const noexcept { return offset + piece.rows * row_bytes; }
};
struct BufferedPiece {
  std::vector<BufferedRows> rows;
  bool packed = false;  ///< in block16

  std::int64_t bytes() const noexcept { return rows.empty() ? 0 : rows.back().end(); }
};
/// The rows of all segments that are not resident. They need no more room than the segments.
BufferedPiece buffered(const std::vector<PieceSegment>& segments, bool packed);

class HostCopies {
 public:
  /// Copy to or from a buffer, with the help of other threads. Both block until the copy is done.
  void to_buffer(const BufferedPiece& piece, std::byte* buffer);
  void from_buffer(const BufferedPiece& piece, const std::byte* buffer);
  /// Takes part in other threads' copies until finish().
  void help();
  void finish() noexcept;

 private:
  struct Job {
    std::int64_t parts, next = 0, left;
    const std::function<void(std::int64_t)>& part;
  };
  void share(std::int64_t parts, const std::function<void(std::int64_t)>& part);
  /// Calls copy(rows, row in the array, offset in the buffer) for every row.
  template <class Copy>
  void over_rows(const std::vector<BufferedRows>& all, const Copy& copy);
  /// Runs one part of a job with the lock released.
  void run_part(Job& job, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Job*> open_;  ///< jobs with parts that no thread has taken yet
  bool finished_ = false;
};

}  // namespace sfft::detail
