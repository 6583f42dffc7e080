// SPDX-License-Identifier: Apache-2.0
// Copies between arrays and page-locked staging buffers, with all threads that would otherwise be idle.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <vector>

#include "kernels/dense/out_of_core/device_slots.hpp"

namespace sfft::detail {

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
